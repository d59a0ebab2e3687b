import {
  type Icon,
  IconBook2,
  IconLayoutDashboard,
  IconPhone,
  IconSettings,
  IconTestPipe,
} from '@tabler/icons-react'

interface Page {
  to: string
  label: string
  icon: Icon
  key: string
  also?: readonly string[]
}

/** The pages of the navigation, with the key that follows `g`; `also` are pages elsewhere that belong to it. */
export const pages = [
  { to: '/p/$project/overview', label: 'Overview', icon: IconLayoutDashboard, key: 'o' },
  { to: '/p/$project/calls', label: 'Calls', icon: IconPhone, key: 'c' },
  {
    to: '/p/$project/knowledge',
    label: 'Knowledge',
    icon: IconBook2,
    key: 'k',
    also: ['new-item', 'questions'],
  },
  { to: '/p/$project/playground', label: 'Playground', icon: IconTestPipe, key: 'p' },
] as const satisfies readonly Page[]

/** At the bottom of the navigation. */
export const settingsPage = {
  to: '/p/$project/settings',
  label: 'Settings',
  icon: IconSettings,
  key: 's',
} as const
