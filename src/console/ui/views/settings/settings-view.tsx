import { Link, Outlet } from '@tanstack/react-router'
import { useProject } from '../../session.ts'
import { settingsPages } from '../../shell/settings-pages.ts'

/** The pages of Settings, those that a person may open, side by side. */
export function SettingsView() {
  const { id, role } = useProject()
  const open = settingsPages.filter(({ ownersOnly }) => role === 'owner' || !ownersOnly)
  return (
    <div className="cb-settings">
      <nav aria-label="Settings" className="cb-tabs">
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
