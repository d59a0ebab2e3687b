import { Kbd, Tooltip, UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useProject } from '../session.ts'
import { modifierKey } from './modifier-key.ts'
import { pages, settingsPage } from './pages.ts'
import { PersonMenu } from './person-menu.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { useShellActions } from './shell-actions.ts'

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
    <nav aria-label="Main" className="cb-nav" data-narrow={isNarrow || undefined}>
      <ProjectSwitcher isNarrow={isNarrow} onFollow={onFollow} />
      <SearchButton isNarrow={isNarrow} onFollow={onFollow} />
      <div className="cb-nav-links">
        {pages.map((page) => (
          <PageLink key={page.to} page={page} isNarrow={isNarrow} onFollow={onFollow} />
        ))}
      </div>
      <div className="cb-nav-end">
        <PageLink page={settingsPage} isNarrow={isNarrow} onFollow={onFollow} />
        <PersonMenu isNarrow={isNarrow} onFollow={onFollow} />
      </div>
    </nav>
  )
}

interface NavigationPart {
  isNarrow: boolean
  onFollow: (() => void) | undefined
}

function SearchButton({ isNarrow, onFollow }: NavigationPart) {
  const { openPalette } = useShellActions()
  const open = () => {
    onFollow?.()
    openPalette()
  }
  return (
    <Hint label={`Search  ${modifierKey()} K`} isNarrow={isNarrow}>
      <UnstyledButton className="cb-nav-search" onClick={open}>
        <IconSearch size={isNarrow ? iconSize : 16} stroke={iconStroke} aria-hidden />
        <span className={isNarrow ? 'cb-hidden' : undefined}>Search</span>
        {!isNarrow && <Kbd size="xs">{modifierKey()} K</Kbd>}
      </UnstyledButton>
    </Hint>
  )
}

function PageLink({
  page: { to, label, icon: Icon },
  isNarrow,
  onFollow,
}: NavigationPart & { page: (typeof pages)[number] | typeof settingsPage }) {
  const { id } = useProject()
  return (
    <Hint label={label} isNarrow={isNarrow}>
      <Link to={to} params={{ project: id }} className="cb-nav-link" onClick={onFollow}>
        <Icon size={iconSize} stroke={iconStroke} aria-hidden />
        <span className={isNarrow ? 'cb-hidden' : undefined}>{label}</span>
      </Link>
    </Hint>
  )
}

/** The words of a part that shows only its icon. */
function Hint({ label, isNarrow, children }: { label: string; isNarrow: boolean; children: ReactElement }) {
  if (!isNarrow) return children
  return (
    <Tooltip label={label} position="right">
      {children}
    </Tooltip>
  )
}
