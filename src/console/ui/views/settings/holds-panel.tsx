import { Button, Group, SegmentedControl, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { HoldRecord } from '../../../../calls/keeping/holds.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { settingsKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import { refreshHolds } from '../calls/call-queries.ts'

/** The project's legal holds. */
function holdsQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.holds(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).holds.get({ fetch: { signal } })),
  })
}

/** Calls and numbers that must not be deleted: list, set, lift. */
export function HoldsPanel() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(holdsQuery(project))
  const [lifting, setLifting] = useState<HoldRecord | null>(null)
  const queryClient = useQueryClient()
  const lift = async ({ id }: HoldRecord) => {
    await unwrap(api.projects({ project }).holds({ id }).delete())
    await refreshHolds(queryClient, project)
  }
  return (
    <Panel title="Legal holds">
      <div className="cb-stack">
        <p className="cb-dimmed">
          A call on hold cannot be deleted by a person, an erasure by number, or retention.
        </p>
        {error && !data ? (
          <Problem error={error} title="The holds could not be loaded" onRetry={() => void refetch()} />
        ) : (
          <ListTable
            label="Legal holds"
            columns={columnsOf(setLifting)}
            rows={data?.data}
            rowKey={({ id }) => id}
            expectedRows={1}
            empty={<p>No calls are on hold.</p>}
          />
        )}
        <NewHold />
      </div>
      <ConfirmDialog
        opened={lifting !== null}
        onClose={() => setLifting(null)}
        title="Lift this hold?"
        confirmLabel="Lift hold"
        onConfirm={async () => lifting && (await lift(lifting))}
      >
        Its calls can be deleted again, including by retention, unless another hold covers them.
      </ConfirmDialog>
    </Panel>
  )
}

function columnsOf(lift: (hold: HoldRecord) => void): Column<HoldRecord>[] {
  return [
    {
      key: 'what',
      header: 'On hold',
      render: ({ callId, number }) => <Mono truncate>{callId ?? number}</Mono>,
    },
    { key: 'reason', header: 'Reason', render: ({ reason }) => reason },
    {
      key: 'since',
      header: 'Since',
      width: '120px',
      from: 640,
      render: ({ createdAt }) => <Instant at={createdAt} />,
    },
    {
      key: 'lift',
      header: '',
      width: '80px',
      align: 'right',
      render: (row) => (
        <Button
          size="xs"
          variant="default"
          onClick={() => lift(row)}
          aria-label={`Lift the hold on ${row.callId ?? row.number}`}
        >
          Lift
        </Button>
      ),
    },
  ]
}

function NewHold() {
  const { id: project } = useProject()
  const [kind, setKind] = useState<'number' | 'callId'>('number')
  const [what, setWhat] = useState('')
  const [reason, setReason] = useState('')
  const queryClient = useQueryClient()
  const set = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).holds.post({ [kind]: what.trim(), reason })),
    onSuccess: async () => {
      setWhat('')
      setReason('')
      notifications.show({ message: 'Hold set.' })
      await refreshHolds(queryClient, project)
    },
  })
  const isReady = what.trim() !== '' && reason.trim() !== ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !set.isPending) set.mutate()
  }
  const errors = fieldErrors(set.error)
  return (
    <form onSubmit={submit} className="cb-stack" noValidate>
      <SegmentedControl
        size="xs"
        aria-label="What to put on hold"
        value={kind}
        onChange={(value) => setKind(value === 'callId' ? 'callId' : 'number')}
        data={[
          { value: 'number', label: 'A number' },
          { value: 'callId', label: 'A call' },
        ]}
      />
      <TextInput
        label={kind === 'number' ? 'Number on hold' : 'Call ID'}
        description={
          kind === 'number' ? 'The full number. Later calls from it or to it are on hold, too.' : undefined
        }
        value={what}
        onChange={(event) => setWhat(event.currentTarget.value)}
        autoComplete="off"
        error={errors[kind]}
      />
      <TextInput
        label="Reason"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={500}
        autoComplete="off"
        error={errors.reason}
      />
      {set.error && !isAboutFields(set.error, [kind, 'reason']) && <Problem error={set.error} />}
      <Group justify="flex-end">
        <Button type="submit" disabled={!isReady} loading={set.isPending}>
          Put on hold
        </Button>
      </Group>
    </form>
  )
}
