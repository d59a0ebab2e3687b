import type { Role } from '../../../identity.ts'

/** The pages of Settings, and whom they are for. */
export const settingsPages = [
  { to: '/p/$project/settings/keys', label: 'API Keys', for: 'owners' },
  { to: '/p/$project/settings/integrations', label: 'Integrations', for: 'owners' },
  { to: '/p/$project/settings/webhooks', label: 'Webhooks', for: 'owners' },
  { to: '/p/$project/settings/people', label: 'People', for: 'owners' },
  { to: '/p/$project/settings/privacy', label: 'Privacy', for: 'owners' },
  { to: '/p/$project/settings/audit', label: 'Audit trail', for: 'owners' },
  { to: '/p/$project/settings/general', label: 'General', for: 'everyone' },
] as const

/** The pages of Settings that a person may open. */
export function settingsPagesFor(role: Role) {
  return settingsPages.filter((page) => page.for === 'everyone' || role === 'owner')
}

/** The pages in the person's menu. Service is for the console's owner. */
export const accountPage = { to: '/p/$project/settings/account', label: 'Account' } as const
export const servicePage = { to: '/p/$project/settings/service', label: 'Service' } as const
