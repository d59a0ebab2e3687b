import { ActionIcon } from '@mantine/core'
import { IconUserX } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account } from '../../../../access/people/people.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Problem } from '../../components/problem.tsx'
import { usePerson, useProject } from '../../session.ts'
import { accountsQuery, peopleQuery } from './people.ts'
import classes from './settings.module.css'

/** Everybody who can sign in, in any project or none. For the console's owner. */
export function Accounts() {
  const { data, error, refetch } = useQuery(accountsQuery)
  const [leaving, setLeaving] = useState<Account | null>(null)
  const { id: self } = usePerson()
  return (
    <section className={classes.section}>
      <h2>All accounts</h2>
      <p className="cb-dimmed">
        Everyone who can sign in to this console. Only you, as its owner, can see this list.
      </p>
      {error && !data ? (
        <Problem error={error} title="The accounts could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="All accounts"
          columns={columns(self, setLeaving)}
          rows={data?.data}
          rowKey={({ id }) => id}
          expectedRows={3}
        />
      )}
      <DeleteDialog leaving={leaving} onClose={() => setLeaving(null)} />
    </section>
  )
}

function columns(self: string, remove: (account: Account) => void): Column<Account>[] {
  return [
    { key: 'name', header: 'Name', render: ({ name }) => name },
    {
      key: 'email',
      header: 'Email address',
      render: ({ email }) => <span className="cb-dimmed cb-truncate">{email}</span>,
    },
    {
      key: 'delete',
      header: <span className="cb-hidden">Delete</span>,
      width: '48px',
      align: 'right',
      render: (row) =>
        row.id === self ? null : (
          <ActionIcon
            data-hint="Delete the account"
            variant="subtle"
            color="gray"
            aria-label={`Delete the account of ${row.name}`}
            onClick={() => remove(row)}
          >
            <IconUserX size={16} />
          </ActionIcon>
        ),
    },
  ]
}

function DeleteDialog({ leaving, onClose }: { leaving: Account | null; onClose: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const remove = async ({ id }: Account) => {
    await unwrap(api.people({ id }).delete())
    await Promise.all([
      queryClient.invalidateQueries(accountsQuery),
      queryClient.invalidateQueries(peopleQuery(project)),
    ])
  }
  return (
    <ConfirmDialog
      opened={leaving !== null}
      onClose={onClose}
      title={`Delete the account of ${leaving?.name ?? ''}?`}
      confirmLabel="Delete account"
      onConfirm={async () => leaving && remove(leaving)}
    >
      <p>
        This signs them out at once and removes them from every project. Keys that they created keep working.
        Revoke any that they may still have. This cannot be undone.
      </p>
    </ConfirmDialog>
  )
}
