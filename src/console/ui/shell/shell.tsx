import { ActionIcon } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconMenu2, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { flushSync } from 'react-dom'
import { Dates } from '../components/dates.ts'
import { Dialogs } from '../components/dialogs.tsx'
import { ButtonWithPopup } from '../components/popup.tsx'
import { DatesContext } from '../components/use-dates.ts'
import { useDialog } from '../components/use-focus.ts'
import { sessionEndedQuery, useProject, useProjects } from '../session.ts'
import { CommandPalette } from './command-palette.tsx'
import { LostService } from './lost-service.tsx'
import { Navigation } from './navigation.tsx'
import { NotFound } from './not-found.tsx'
import classes from './shell.module.css'
import { ShellActionsContext, useShellActions } from './shell-actions.ts'
import { TitleAnnouncer } from './title-announcer.tsx'
import { useKeptFocus } from './use-kept-focus.ts'
import { useShortcuts } from './use-shortcuts.ts'

const loadDrawer = () => import('./navigation-drawer.tsx')
const NavigationDrawer = lazy(loadDrawer)
const NewProjectDialog = lazy(() => import('./new-project-dialog.tsx'))
const ShortcutsDialog = lazy(() => import('./shortcuts-dialog.tsx'))
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
      <Frame key={project} />
    </DatesContext>
  )
}

function Frame() {
  const isNarrow = useMediaQuery('(max-width: 1024px)', undefined, { getInitialValueInEffect: false })
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const [isPaletteOpen, palette] = useDialog()
  const [areShortcutsOpen, shortcuts] = useDialog()
  const [isNewProjectOpen, newProject] = useDialog()
  const { data: hasEnded } = useQuery(sessionEndedQuery)
  const actions = useMemo(
    () => ({
      // At once, so that the next key already meets the field.
      openPalette: () => flushSync(palette.open),
      openShortcuts: shortcuts.open,
      openNewProject: newProject.open,
    }),
    [palette.open, shortcuts.open, newProject.open],
  )
  useShortcuts(actions)
  useKeptFocus()
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
          <div className={classes.side}>
            <Navigation isNarrow={isNarrow} />
          </div>
        )}
        <main id="content" tabIndex={-1} className={classes.main}>
          <Dialogs>
            <Outlet />
          </Dialogs>
        </main>
        <TitleAnnouncer />
        <LostService />
      </div>
      {isPaletteOpen && <CommandPalette onClose={palette.close} />}
      <Suspense>
        {hasEnded && <SignInAgain />}
        {areShortcutsOpen && <ShortcutsDialog onClose={shortcuts.close} />}
        {isNewProjectOpen && <NewProjectDialog onClose={newProject.close} />}
      </Suspense>
    </ShellActionsContext>
  )
}

function TopBar() {
  const { name } = useProject()
  const { openPalette } = useShellActions()
  return (
    <nav aria-label="Bar" className={classes.topbar}>
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
      <span className={`cb-truncate ${classes.topbarName}`} dir="auto">
        {name}
      </span>
      <ActionIcon variant="subtle" color="gray" size={36} aria-label="Search" onClick={openPalette}>
        <IconSearch size={18} />
      </ActionIcon>
    </nav>
  )
}
