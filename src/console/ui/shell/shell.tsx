import { ActionIcon, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconMenu2, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { useChangeFeed } from '../change-feed.ts'
import { Dates } from '../components/dates.ts'
import { Dialogs, useShow } from '../components/dialogs.tsx'
import { loadLater } from '../components/load-later.ts'
import { ButtonWithPopup } from '../components/popup.tsx'
import { StatusBadge } from '../components/status-badge.tsx'
import { DatesContext, useDates } from '../components/use-dates.ts'
import { focusedOrMenu, useDialog } from '../components/use-focus.ts'
import { sessionEndedQuery, useProject, useProjects } from '../session.ts'
import { CommandPalette, loadCommands } from './command-palette.tsx'
import { Navigation } from './navigation.tsx'
import { NotFound } from './page-problem.tsx'
import classes from './shell.module.css'
import { ShellActionsContext, useShellActions, useShortcuts } from './shell-actions.ts'
import { useKeptFocus } from './use-kept-focus.ts'

// The page that a person waits for goes first.
const commandsAfterMs = 1_000
const loadDrawer = () => import('./navigation-drawer.tsx')
const NavigationDrawer = lazy(loadDrawer)
const SignInAgain = lazy(() => import('./sign-in-again.tsx'))

/** The frame around every page of a project. */
export function Shell() {
  const { project } = useParams({ from: '/p/$project' })
  const own = useProjects().find(({ id }) => id === project)
  const timeZone = own?.timeZone ?? null
  const dates = useMemo(() => new Dates(timeZone), [timeZone])
  if (!own) return <NotFound />
  // Remounts the pages for another project, so that no state of the previous one is left.
  return (
    <DatesContext value={dates}>
      <Dialogs key={project}>
        <Frame />
      </Dialogs>
    </DatesContext>
  )
}

function Frame() {
  const isNarrow = useMediaQuery('(max-width: 1024px)', undefined, { getInitialValueInEffect: false })
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const [isPaletteOpen, palette] = useDialog()
  const show = useShow()
  const { data: hasEnded } = useQuery(sessionEndedQuery)
  const actions = useMemo(
    () => ({
      // At once, so that the next key already meets the field.
      openPalette: () => flushSync(palette.open),
      openShortcuts: async () => {
        focusedOrMenu()?.focus()
        const { Shortcuts } = await loadLater(() => import('./shortcuts-dialog.tsx'), 0)
        show({ title: 'Keyboard shortcuts', size: 400, content: () => <Shortcuts /> })
      },
      openNewProject: async () => {
        focusedOrMenu()?.focus()
        const { NewProjectForm } = await loadLater(() => import('./new-project-form.tsx'), 0)
        show({ title: 'New project', content: (close) => <NewProjectForm onMade={close} onCancel={close} /> })
      },
    }),
    [palette.open, show],
  )
  useShortcuts(actions)
  useKeptFocus()
  useEffect(() => void loadLater(loadCommands, commandsAfterMs), [])
  return (
    <ShellActionsContext value={actions}>
      <div className={classes.shell}>
        <button
          type="button"
          className={classes.skip}
          onClick={() => document.getElementById('content')?.focus()}
        >
          Skip to content
        </button>
        {isPhone ? (
          <TopBar />
        ) : (
          <div className={`cb-screen ${classes.side}`}>
            <Navigation isNarrow={isNarrow} />
          </div>
        )}
        <main id="content" tabIndex={-1} className={classes.main}>
          <Outlet />
        </main>
        <TitleAnnouncer />
        <LostService />
      </div>
      {isPaletteOpen && <CommandPalette onClose={palette.close} />}
      <Suspense>{hasEnded && <SignInAgain />}</Suspense>
    </ShellActionsContext>
  )
}

function TopBar() {
  const { name } = useProject()
  const { openPalette } = useShellActions()
  return (
    <nav aria-label="Bar" className={`cb-screen ${classes.topbar}`}>
      <ButtonWithPopup
        kind="dialog"
        load={loadDrawer}
        button={
          <ActionIcon variant="subtle" color="gray" size={36} aria-label="Open navigation">
            <IconMenu2 size={18} />
          </ActionIcon>
        }
      >
        {(popup) => <NavigationDrawer {...popup} />}
      </ButtonWithPopup>
      <Text span inherit truncate flex={1} dir="auto">
        {name}
      </Text>
      <ActionIcon variant="subtle" color="gray" size={36} aria-label="Search" onClick={openPalette}>
        <IconSearch size={18} />
      </ActionIcon>
    </nav>
  )
}

/** Announces the title after navigation to screen readers, since no document is loaded. */
function TitleAnnouncer() {
  const [title, setTitle] = useState('')
  useEffect(() => {
    const element = document.querySelector('title')
    if (!element) return
    const observer = new MutationObserver(() => setTitle(document.title))
    observer.observe(element, { childList: true })
    return () => observer.disconnect()
  }, [])
  return (
    <div role="status" className="cb-hidden">
      {title}
    </div>
  )
}

/** Shows that the service cannot be reached, and since when. Its hook also keeps the page up to date. */
function LostService() {
  const { id } = useProject()
  const dates = useDates()
  const lostSince = useChangeFeed(id)
  return (
    <div role="status" className={classes.lost}>
      {lostSince && (
        <StatusBadge
          tone="warning"
          label={`No connection. Last updated at ${dates.second(lostSince.getTime())}`}
        />
      )}
    </div>
  )
}
