import { Kbd, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconSearch, IconSelector } from '@tabler/icons-react'
import { Link, useMatchRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Avatar } from '../components/avatar.tsx'
import { loadLater } from '../components/load-later.ts'
import { ButtonWithPopup } from '../components/popup.tsx'
import { usePerson, useProject } from '../session.ts'
import classes from './navigation.module.css'
import { firstSearch, pages, settingsPage } from './pages.ts'
import { modifierKey, useShellActions } from './shell-actions.ts'

const loadMenus = () => import('./menus.tsx')
const PersonMenu = lazy(async () => ({ default: (await loadMenus()).PersonMenu }))
const ProjectMenu = lazy(async () => ({ default: (await loadMenus()).ProjectMenu }))
// The page that a person waits for goes first.
const Attention = lazy(() => loadLater(() => import('./attention.tsx'), attentionAfterMs))

const attentionAfterMs = 2_000
const iconSize = 18
const iconStroke = 1.6

interface NavigationProps {
  /** Shows only icons, with tooltips. */
  isNarrow: boolean
  /** Called when a link is followed. */
  onFollow?: () => void
}

/** The sidebar: the project, its pages, the settings and the person. */
export function Navigation({ isNarrow, onFollow }: NavigationProps) {
  return (
    <nav aria-label="Main" className={classes.nav} data-narrow={isNarrow || undefined}>
      <ProjectButton isNarrow={isNarrow} onFollow={onFollow} />
      <SearchButton isNarrow={isNarrow} onFollow={onFollow} />
      <Stack gap={2}>
        {pages.map((page) => (
          <PageLink key={page.to} page={page} isNarrow={isNarrow} onFollow={onFollow} />
        ))}
      </Stack>
      <Stack gap={2} mt="auto">
        <Suspense>
          <Attention isNarrow={isNarrow} onFollow={onFollow} />
        </Suspense>
        <PageLink page={settingsPage} isNarrow={isNarrow} onFollow={onFollow} />
        <PersonButton isNarrow={isNarrow} onFollow={onFollow} />
      </Stack>
    </nav>
  )
}

interface NavigationPart {
  isNarrow: boolean
  onFollow: (() => void) | undefined
}

/** The current project; a click lists the others. */
function ProjectButton({ isNarrow, onFollow }: NavigationPart) {
  const project = useProject()
  return (
    <ButtonWithPopup
      kind="menu"
      load={loadMenus}
      button={
        <UnstyledButton className={classes.switcher}>
          <Avatar name={project.name} />
          <span className="cb-hidden">Project </span>
          <Text span inherit flex={1} className={isNarrow ? 'cb-hidden' : 'cb-truncate'} dir="auto">
            {project.name}
          </Text>
          <span className="cb-hidden">, switch project</span>
          {!isNarrow && <IconSelector size={14} aria-hidden />}
        </UnstyledButton>
      }
    >
      {(popup) => <ProjectMenu {...popup} onFollow={onFollow} />}
    </ButtonWithPopup>
  )
}

/** The signed-in person, and their menu. */
function PersonButton({ isNarrow, onFollow }: NavigationPart) {
  const { name } = usePerson()
  return (
    <ButtonWithPopup
      kind="menu"
      load={loadMenus}
      button={
        <UnstyledButton className={classes.switcher}>
          <Avatar name={name} of="person" />
          <span className="cb-hidden">Signed in as </span>
          <span className={isNarrow ? 'cb-hidden' : 'cb-truncate'} dir="auto">
            {name}
          </span>
        </UnstyledButton>
      }
    >
      {(popup) => <PersonMenu {...popup} onFollow={onFollow} />}
    </ButtonWithPopup>
  )
}

function SearchButton({ isNarrow, onFollow }: NavigationPart) {
  const { openPalette } = useShellActions()
  const open = () => {
    onFollow?.()
    openPalette()
  }
  return (
    <UnstyledButton
      className={classes.search}
      onClick={open}
      {...(isNarrow && hintOf(`Search  ${modifierKey()} K`))}
    >
      <IconSearch size={isNarrow ? iconSize : 16} stroke={iconStroke} aria-hidden />
      <span className={isNarrow ? 'cb-hidden' : undefined}>Search</span>
      {!isNarrow && <Kbd size="xs">{modifierKey()} K</Kbd>}
    </UnstyledButton>
  )
}

function PageLink({
  page,
  isNarrow,
  onFollow,
}: NavigationPart & { page: (typeof pages)[number] | typeof settingsPage }) {
  const project = useProject()
  const matches = useMatchRoute()
  const { to, label, icon: Icon } = page
  const isElsewhere =
    'also' in page &&
    page.also.some((path) => matches({ to: path, params: { project: project.id }, fuzzy: true }))
  return (
    <Link
      to={to}
      params={{ project: project.id }}
      search={firstSearch(to, project)}
      // Alerts and analysis are below the settings, but not of them.
      activeOptions={{ includeSearch: false, exact: page === settingsPage }}
      className={classes.link}
      onClick={onFollow}
      {...(isElsewhere && { 'aria-current': 'page' })}
      {...(isNarrow && hintOf(label))}
    >
      <Icon size={iconSize} stroke={iconStroke} aria-hidden />
      <span className={isNarrow ? 'cb-hidden' : undefined}>{label}</span>
    </Link>
  )
}

/** The words of a part that shows only its icon. */
function hintOf(label: string) {
  return { 'data-hint': label, 'data-hint-side': 'right' }
}
