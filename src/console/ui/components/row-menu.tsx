import { ActionIcon, Menu } from '@mantine/core'
import { type Icon, IconDots } from '@tabler/icons-react'
import { focusedOrMenu } from './use-focus.ts'

interface RowMenuProps {
  /** What the row is about. */
  name: string
  items: readonly {
    icon: Icon
    label: string
    act: () => void
    isDanger?: boolean
    isDisabled?: boolean
  }[]
}

/** What can be done with a row of a table. */
export function RowMenu({ name, items }: RowMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ icon: Drawn, label, act, isDanger, isDisabled = false }) => (
          <Menu.Item
            key={label}
            leftSection={<Drawn size={16} />}
            {...(isDanger && { color: 'var(--cb-danger-text)' })}
            disabled={isDisabled}
            onClick={() => {
              // A dialog gives the focus back to what had it.
              focusedOrMenu()?.focus()
              act()
            }}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
