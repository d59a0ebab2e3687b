import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { FailureRecord } from '../../../../sources/source-failures.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { api, unwrap } from '../../api.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import classes from './settings.module.css'
import { failuresQuery, sourceQuery } from './source-queries.ts'

/** The events of the last week that could not be read, each with the field at fault; nothing while there are none. */
export function SourceFailures({ source, project }: { source: SourceRecord; project: string }) {
  const { id } = source
  const queryClient = useQueryClient()
  const { data } = useQuery(failuresQuery(project, id))
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).sources({ id })['read-again'].post({})),
    onSuccess: async ({ read, failed }) => {
      notifications.show({
        message: sentenceOf(read, failed),
      })
      await queryClient.invalidateQueries({ queryKey: sourceQuery(project, id).queryKey })
    },
  })
  if (!data || data.data.length === 0) return null
  return (
    <Panel
      title="Events that could not be read"
      aside={
        <Button
          variant="default"
          size="xs"
          leftSection={<IconRefresh size={14} />}
          loading={isPending}
          disabled={!data.data.some(({ isKept }) => isKept)}
          onClick={() => mutate()}
        >
          Read again
        </Button>
      }
    >
      <div className="cb-stack">
        <p className="cb-dimmed">
          The platform sent events that this version does not understand. Callbook keeps the parts it uses for
          seven days, or until the call is deleted. Update Callbook, then read the events again.
        </p>
        {error && <Problem error={error} />}
        <ListTable
          label="Events that could not be read"
          columns={columns}
          rows={data.data}
          rowKey={(row) => String(data.data.indexOf(row))}
        />
      </div>
    </Panel>
  )
}

function sentenceOf(read: number, failed: number): string {
  if (failed === 0) return read === 1 ? '1 event read.' : `All ${read} events read.`
  const some = read === 0 ? 'No event' : `${read} of ${read + failed} events`
  return `${some} could be read. Update Callbook, then try again.`
}

const columns: Column<FailureRecord>[] = [
  { key: 'at', header: 'Received', width: '104px', render: ({ at }) => <Instant at={at} /> },
  {
    key: 'why',
    header: 'Field',
    render: ({ field, message }) => (
      <span className={classes.failure} title={`${field} ${message}`}>
        <Mono>{field}</Mono> {message}
      </span>
    ),
  },
  {
    key: 'call',
    header: 'Call',
    width: '184px',
    from: 640,
    render: ({ callId }) =>
      callId === null ? <span className="cb-dimmed">Unknown</span> : <Mono truncate>{callId}</Mono>,
  },
]
