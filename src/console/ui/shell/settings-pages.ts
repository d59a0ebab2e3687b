/** The pages of Settings; some are for owners only. */
export const settingsPages = [
  { to: '/p/$project/settings/keys', label: 'API Keys', ownersOnly: true },
  { to: '/p/$project/settings/integrations', label: 'Integrations', ownersOnly: true },
  { to: '/p/$project/settings/webhooks', label: 'Webhooks', ownersOnly: true },
  { to: '/p/$project/settings/alerts', label: 'Alerts', ownersOnly: false },
  { to: '/p/$project/settings/analysis', label: 'Analysis', ownersOnly: false },
  { to: '/p/$project/settings/people', label: 'People', ownersOnly: true },
  { to: '/p/$project/settings/privacy', label: 'Privacy', ownersOnly: true },
  { to: '/p/$project/settings/audit', label: 'Audit trail', ownersOnly: true },
  { to: '/p/$project/settings/general', label: 'General', ownersOnly: false },
  { to: '/p/$project/settings/account', label: 'Account', ownersOnly: false },
] as const
