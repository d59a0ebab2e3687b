import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useOwnsConsole, useProject } from '../../session.ts'
import { settingsPagesFor } from '../../shell/settings-pages.ts'
import classes from './settings.module.css'

/** Tabs for the settings pages that the person may open. */
export function SettingsView() {
  const { id, role } = useProject()
  const open = settingsPagesFor({ role, ownsConsole: useOwnsConsole() })
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
      <Outlet />
    </>
  )
}
