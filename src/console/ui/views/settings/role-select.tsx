import { Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { MemberRow } from '../../../../access/people/members.ts'
import { mayDo, type Role } from '../../../../identity.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { sessionQuery, usePerson, useProject } from '../../session.ts'
import { describeRole, peopleQuery, roleChoices, roleLabels } from './people.ts'

/** A member's role. Another one is asked about before it applies. */
export function RoleSelect({ row: { personId, name, role } }: { row: MemberRow }) {
  const { id: project, membersMayDelete } = useProject()
  const queryClient = useQueryClient()
  const isSelf = usePerson().id === personId
  const [chosen, setChosen] = useState<Role | null>(null)
  const give = async (next: Role) => {
    await unwrap(api.projects({ project }).people({ id: personId }).patch({ role: next }))
    await Promise.all([
      queryClient.invalidateQueries(peopleQuery(project)),
      queryClient.invalidateQueries(sessionQuery),
    ])
  }
  const choose = (value: string | null) => {
    const next = roleChoices.find((candidate) => candidate === value)
    if (next && next !== role) setChosen(next)
  }
  const label = chosen && roleLabels[chosen].toLowerCase()
  const article = chosen === 'owner' ? 'an' : 'a'
  return (
    <>
      <Select
        size="xs"
        aria-label={`Role of ${name}`}
        value={role}
        onChange={choose}
        allowDeselect={false}
        data={roleChoices.map((value) => ({ value, label: roleLabels[value] }))}
        comboboxProps={{ width: 144 }}
      />
      <ConfirmDialog
        opened={chosen !== null}
        onClose={() => setChosen(null)}
        title={isSelf ? `Become ${article} ${label}?` : `Make ${name} ${article} ${label}?`}
        confirmLabel={`${isSelf ? 'Become' : 'Make'} ${label}`}
        isDanger={chosen !== null && !mayDo('manage', { role: chosen, membersMayDelete })}
        onConfirm={async () => chosen && give(chosen)}
      >
        <p>
          {chosen && `${roleLabels[chosen]}: ${describeRole(chosen, membersMayDelete)}`} This takes effect
          with the next request.
        </p>
        {isSelf && <p>Only an owner can make you an owner again.</p>}
      </ConfirmDialog>
    </>
  )
}
