import { ActionIcon, Drawer } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconMenu2 } from '@tabler/icons-react'
import { Outlet, useParams } from '@tanstack/react-router'
import { useProject, useProjects } from '../session.ts'
import { Navigation } from './navigation.tsx'
import { NotFound } from './not-found.tsx'

/** What stands around every page of a project. */
export function Shell() {
  const { project } = useParams({ from: '/p/$project' })
  const isMember = useProjects().some(({ id }) => id === project)
  // Another project's pages start anew: nothing of the one before is left in them.
  return isMember ? <Frame key={project} /> : <NotFound />
}

function Frame() {
  const isNarrow = useMediaQuery('(max-width: 1024px)', undefined, { getInitialValueInEffect: false })
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const [isOpen, { open, close }] = useDisclosure(false)
  const { name } = useProject()
  return (
    <div className="cb-shell">
      <button type="button" className="cb-skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to content
      </button>
      {isPhone ? (
        <header className="cb-topbar">
          <ActionIcon variant="subtle" color="gray" size={32} aria-label="Open navigation" onClick={open}>
            <IconMenu2 size={18} />
          </ActionIcon>
          <span className="cb-truncate">{name}</span>
          <Drawer opened={isOpen} onClose={close} size={264} withCloseButton={false} title={null} padding={0}>
            <Navigation isNarrow={false} onFollow={close} />
          </Drawer>
        </header>
      ) : (
        <div className="cb-side">
          <Navigation isNarrow={isNarrow} />
        </div>
      )}
      <main id="content" tabIndex={-1} className="cb-main">
        <Outlet />
      </main>
    </div>
  )
}
