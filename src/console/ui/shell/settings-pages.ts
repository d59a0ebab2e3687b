import type { Role } from '../../../identity.ts'

/** The pages of Settings, and whom they are for. */
export const settingsPages = [
  { to: '/p/$project/settings/keys', label: 'API Keys', for: 'owners' },
  { to: '/p/$project/settings/integrations', label: 'Integrations', for: 'owners' },
  { to: '/p/$project/settings/webhooks', label: 'Webhooks', for: 'owners' },
  { to: '/p/$project/settings/alerts', label: 'Alerts', for: 'everyone' },
  { to: '/p/$project/settings/analysis', label: 'Analysis', for: 'everyone' },
  { to: '/p/$project/settings/people', label: 'People', for: 'owners' },
  { to: '/p/$project/settings/privacy', label: 'Privacy', for: 'owners' },
  { to: '/p/$project/settings/audit', label: 'Audit trail', for: 'owners' },
  { to: '/p/$project/settings/general', label: 'General', for: 'everyone' },
  { to: '/p/$project/settings/account', label: 'Account', for: 'everyone' },
  { to: '/p/$project/settings/service', label: 'Service', for: 'consoleOwner' },
] as const

/** The pages of Settings that a person may open. */
export function settingsPagesFor({ role, ownsConsole }: { role: Role; ownsConsole: boolean }) {
  const may = { everyone: true, owners: role === 'owner', consoleOwner: ownsConsole }
  return settingsPages.filter((page) => may[page.for])
}
