import { Menu, UnstyledButton } from '@mantine/core'
import { usePerson } from '../session.ts'

/** Who is signed in, and what belongs to them. */
export function PersonMenu({ isNarrow }: { isNarrow: boolean }) {
  const { name, email } = usePerson()
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton className="cb-switcher" aria-label={`Signed in as ${name}`}>
          <span className="cb-avatar cb-avatar-round" aria-hidden>
            {(Array.from(name.trim())[0] ?? '?').toUpperCase()}
          </span>
          {!isNarrow && <span className="cb-truncate">{name}</span>}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{email}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  )
}
