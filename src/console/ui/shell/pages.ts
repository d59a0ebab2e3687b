import { IconBook2, IconLayoutDashboard, IconPhone, IconSettings, IconTestPipe } from '@tabler/icons-react'

/** The pages of the navigation, with the key that follows `g`. */
export const pages = [
  { to: '/p/$project/overview', label: 'Overview', icon: IconLayoutDashboard, key: 'o' },
  { to: '/p/$project/calls', label: 'Calls', icon: IconPhone, key: 'c' },
  {
    to: '/p/$project/knowledge',
    label: 'Knowledge',
    icon: IconBook2,
    key: 'k',
    /** Pages of its own that are not below it. */
    also: ['/p/$project/questions', '/p/$project/new-item'],
  },
  { to: '/p/$project/playground', label: 'Playground', icon: IconTestPipe, key: 'p' },
] as const

/** At the bottom of the navigation. */
export const settingsPage = {
  to: '/p/$project/settings',
  label: 'Settings',
  icon: IconSettings,
  key: 's',
} as const
