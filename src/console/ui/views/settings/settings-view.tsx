import { IconLock } from '@tabler/icons-react'
import { Link, Outlet, useLocation, useMatchRoute } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { useProject } from '../../session.ts'
import { settingsPages, settingsPagesFor } from '../../shell/pages.ts'
import classes from './settings.module.css'

/** Tabs for the settings pages that the person may open. Pages of the navigation and the person's menu have none. */
export function SettingsView() {
  const { id, role } = useProject()
  const matchRoute = useMatchRoute()
  const shown = settingsPages.find(({ to }) => matchRoute({ to, fuzzy: true }))
  const tabs = useRef<HTMLElement>(null)
  const path = useLocation({ select: ({ pathname }) => pathname })
  useEffect(() => {
    const current = path && tabs.current?.querySelector('[aria-current]')
    if (current) current.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  if (!shown) return <Outlet />
  return (
    <>
      <nav ref={tabs} aria-label="Settings" className={`cb-screen ${classes.tabs}`}>
        {settingsPagesFor(role).map(({ to, label }) => (
          <Link key={to} to={to} params={{ project: id }} className={classes.tab}>
            {label}
          </Link>
        ))}
      </nav>
      {shown.for === 'owners' && role !== 'owner' ? <OwnersOnly title={shown.label} /> : <Outlet />}
    </>
  )
}

/** In place of a page for owners. A member sees whom to ask; the service refuses the requests anyway. */
function OwnersOnly({ title }: { title: string }) {
  const { role, name } = useProject()
  return (
    <Page title={title}>
      <Empty icon={<IconLock size={24} />} title="Only owners can see this">
        You are a {role} of {name}. Only owners can see its keys, people, settings and audit trail.
      </Empty>
    </Page>
  )
}
