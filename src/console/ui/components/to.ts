const from = '/p/$project'

/** Addresses within the project that is open, for links: `<PageLink {...to.key(id)}>`. */
export const to = {
  chart: { from, to: '/p/$project/overview/chart' },
  calls: { from, to: '/p/$project/calls' },
  call: (call: string) => ({ from, to: '/p/$project/calls/$call', params: { call } }) as const,
  caller: (caller: string) => ({ from, to: '/p/$project/callers/$caller', params: { caller } }) as const,
  tests: { from, to: '/p/$project/tests' },
  questions: { from, to: '/p/$project/questions' },
  playground: { from, to: '/p/$project/playground' },
  newItem: { from, to: '/p/$project/new-item' },
  knowledge: { from, to: '/p/$project/knowledge' },
  item: (item: string) => ({ from, to: '/p/$project/knowledge/$item', params: { item } }) as const,
  keys: { from, to: '/p/$project/settings/keys' },
  key: (key: string) => ({ from, to: '/p/$project/settings/keys/$key', params: { key } }) as const,
  integration: (integration: string) =>
    ({ from, to: '/p/$project/settings/integrations/$integration', params: { integration } }) as const,
  integrations: { from, to: '/p/$project/settings/integrations' },
  source: (source: string) =>
    ({ from, to: '/p/$project/settings/integrations/sources/$source', params: { source } }) as const,
  webhooks: { from, to: '/p/$project/settings/webhooks' },
  webhook: (webhook: string) =>
    ({ from, to: '/p/$project/settings/webhooks/$webhook', params: { webhook } }) as const,
  alerts: { from, to: '/p/$project/settings/alerts' },
  newAlert: { from, to: '/p/$project/settings/alerts/new' },
  alert: (alert: string) => ({ from, to: '/p/$project/settings/alerts/$alert', params: { alert } }) as const,
  receipt: (receipt: string) =>
    ({ from, to: '/p/$project/settings/privacy/receipts/$receipt', params: { receipt } }) as const,
  receipts: { from, to: '/p/$project/settings/privacy/receipts' },
  people: { from, to: '/p/$project/settings/people' },
  privacy: { from, to: '/p/$project/settings/privacy' },
  audit: { from, to: '/p/$project/settings/audit' },
} as const
