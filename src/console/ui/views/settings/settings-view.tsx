import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useProject } from '../../session.ts'
import { settingsPages } from '../../shell/settings-pages.ts'

/** Tabs for the settings pages that the person may open. */
export function SettingsView() {
  const { id, role } = useProject()
  const open = settingsPages.filter(({ ownersOnly }) => role === 'owner' || !ownersOnly)
  const tabs = useRef<HTMLElement>(null)
  const path = useLocation({ select: ({ pathname }) => pathname })
  useEffect(() => {
    const current = path && tabs.current?.querySelector('[aria-current]')
    if (current) current.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <div className="cb-settings">
      <nav ref={tabs} aria-label="Settings" className="cb-tabs">
        {open.map(({ to, label }) => (
          <Link key={to} to={to} params={{ project: id }} className="cb-tab">
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </div>
  )
}
