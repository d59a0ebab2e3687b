import { Link, Outlet, useLocation, useMatchRoute } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useOwnsConsole, useProject } from '../../session.ts'
import { settingsPages, settingsPagesFor } from '../../shell/settings-pages.ts'
import { OwnersOnly } from './owners-only.tsx'
import classes from './settings.module.css'

/** Tabs for the settings pages that the person may open. */
export function SettingsView() {
  const { id, role } = useProject()
  const open = settingsPagesFor({ role, ownsConsole: useOwnsConsole() })
  const matchRoute = useMatchRoute()
  const shown = settingsPages.find(({ to }) => matchRoute({ to, fuzzy: true }))
  const tabs = useRef<HTMLElement>(null)
  const path = useLocation({ select: ({ pathname }) => pathname })
  useEffect(() => {
    const current = path && tabs.current?.querySelector('[aria-current]')
    if (current) current.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <>
      <nav ref={tabs} aria-label="Settings" className={classes.tabs}>
        {open.map(({ to, label }) => (
          <Link key={to} to={to} params={{ project: id }} className={classes.tab}>
            {label}
          </Link>
        ))}
      </nav>
      {shown?.for === 'owners' ? (
        <OwnersOnly title={shown.label}>
          <Outlet />
        </OwnersOnly>
      ) : (
        <Outlet />
      )}
    </>
  )
}
