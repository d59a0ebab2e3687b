import {
  IconBell,
  IconBook2,
  IconLayoutDashboard,
  IconListCheck,
  IconPhone,
  IconSettings,
  IconTestPipe,
} from '@tabler/icons-react'
import type { ProjectOfPerson } from '../../../access/people/session-answer.ts'
import type { Role } from '../../../identity.ts'
import { parseSearch } from '../search-params.ts'

/** The pages of the navigation, with the key that follows `g`. */
export const pages = [
  { to: '/p/$project/overview', label: 'Overview', icon: IconLayoutDashboard, key: 'o' },
  {
    to: '/p/$project/calls',
    label: 'Calls',
    icon: IconPhone,
    key: 'c',
    /** Pages of its own that are not below it. */
    also: ['/p/$project/callers/$caller', '/p/$project/tests'],
  },
  {
    to: '/p/$project/knowledge',
    label: 'Knowledge',
    icon: IconBook2,
    key: 'k',
    also: ['/p/$project/questions', '/p/$project/new-item'],
  },
  { to: '/p/$project/playground', label: 'Playground', icon: IconTestPipe, key: 'p' },
  { to: '/p/$project/settings/alerts', label: 'Alerts', icon: IconBell, key: 'a' },
  { to: '/p/$project/settings/analysis', label: 'Analysis', icon: IconListCheck, key: 'n' },
] as const

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

/** Beside the knowledge. */
export const questionsPage = { to: '/p/$project/questions', label: 'Questions' } as const

/** Below the overview. */
export const comparePage = { to: '/p/$project/overview/compare', label: 'Compare' } as const

/** The pages in the person's menu. Service is for the console's owner. */
export const accountPage = { to: '/p/$project/settings/account', label: 'Account' } as const
export const servicePage = { to: '/p/$project/settings/service', label: 'Service' } as const

/** At the bottom of the navigation. */
export const settingsPage = {
  to: '/p/$project/settings',
  label: 'Settings',
  icon: IconSettings,
  key: 's',
  also: settingsPages.map(({ to }) => to),
} as const

/** What a page begins with: the list of calls with the view that the person has chosen. */
export function firstSearch(to: string, { firstView }: ProjectOfPerson): Record<string, string | string[]> {
  return to === '/p/$project/calls' && firstView !== null ? parseSearch(firstView) : {}
}
