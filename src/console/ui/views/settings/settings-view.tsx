import { Link, Outlet } from '@tanstack/react-router'
import { useProject } from '../../session.ts'

const pages = [
  { to: '/p/$project/settings/keys', label: 'API Keys', ownersOnly: true },
  { to: '/p/$project/settings/people', label: 'People', ownersOnly: true },
  { to: '/p/$project/settings/audit', label: 'Audit trail', ownersOnly: true },
  { to: '/p/$project/settings/general', label: 'General', ownersOnly: false },
  { to: '/p/$project/settings/account', label: 'Account', ownersOnly: false },
] as const

/** The pages of Settings, those that a person may open, side by side. */
export function SettingsView() {
  const { id, role } = useProject()
  return (
    <div className="cb-settings">
      <nav aria-label="Settings" className="cb-tabs">
        {pages
          .filter(({ ownersOnly }) => role === 'owner' || !ownersOnly)
          .map(({ to, label }) => (
            <Link key={to} to={to} params={{ project: id }} className="cb-tab">
              {label}
            </Link>
          ))}
      </nav>
      <Outlet />
    </div>
  )
}
