import { Button, Checkbox, Group, NativeSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { setUpOf } from '../../../../sources/catalog.ts'
import type { ImportPreview, ImportReport } from '../../../../sources/history/imports.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { asCount, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { Facts } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'

const watchMs = 1_000
const days = [7, 14, 30, 90, 365]
const states = {
  running: ['accent', 'Importing'],
  waiting: ['warning', 'Waiting'],
  done: ['success', 'Imported'],
  stopped: ['neutral', 'Stopped'],
  failed: ['danger', 'Failed'],
} as const
const requestsPerMinute = 300

interface HistoryProps {
  source: SourceRecord
}

/** What the platform has from before the source, to look at and to import. */
export function SourceHistory({ source }: HistoryProps) {
  const history = useProject().of.sources({ id: source.id }).import
  const { data } = useQuery({
    ...read(history),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data.state) ? watchMs : false),
  })
  const stop = useAct({ send: () => history.delete(), changes: history, says: 'Import stopped.' })
  if (!data) return null
  const { state } = data
  const [tone, word] = state ? states[state] : []
  return (
    <Panel title="Import history" aside={tone && <StatusBadge tone={tone}>{word}</StatusBadge>}>
      <Stack gap="md">
        {state && <Report report={data} />}
        {isOpen(state) ? (
          <Group justify="flex-end">
            <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
              Stop
            </Button>
          </Group>
        ) : (
          <NewImport source={source} />
        )}
        {stop.error && <Problem error={stop.error} />}
      </Stack>
    </Panel>
  )
}

function isOpen(state: ImportReport['state'] | null): boolean {
  return state === 'running' || state === 'waiting'
}

/** How far an import came, and what it found. */
function Report({ report }: { report: ImportReport }) {
  const { reason, at, found, samples, recordings, skipped } = report
  const numbers = {
    New: report.created,
    Changed: report.changed,
    'Known already': report.unchanged,
    'Still live': report.live,
    'Deleted here': report.erased,
    'No phone calls': skipped.notVoice + skipped.test + skipped.unmatched,
    'Deleted there': skipped.deletedThere,
    'Not readable': report.failed,
    'Recordings to fetch': recordings.queued,
    'Recordings fetched': recordings.kept,
    'Recordings failed': recordings.failed,
  }
  const told = Object.entries(numbers).filter(([, count]) => count > 0)
  return (
    <>
      {reason && <p>{reason}</p>}
      <p role="status">
        {counted(found, 'call')} found
        {at && (
          <>
            , up to <Instant at={at} as="day" />
          </>
        )}
        .
      </p>
      {told.length > 0 && (
        <Facts isWide of={Object.fromEntries(told.map(([name, count]) => [name, asCount(count)]))} />
      )}
      {samples.map(({ field, message, count }) => (
        <p key={`${field} ${message}`}>
          <Mono>{field}</Mono> {message} ({counted(count, 'call')})
        </p>
      ))}
    </>
  )
}

/** Looks first, since an import may take hours. */
function NewImport({ source: { id, platform, hasApiKey } }: HistoryProps) {
  const { of } = useProject()
  const { label } = setUpOf(platform)
  const history = of.sources({ id }).import
  const keeps = useQuery(read(of.settings)).data?.recordings === 'keep'
  const [since, setSince] = useState('90d')
  const [recordings, setRecordings] = useState(false)
  const look = useAct({ send: () => history.post({ since, dryRun: true }) })
  const start = useAct({ send: () => history.post({ since, recordings }), changes: history })
  const preview = look.data && 'ok' in look.data ? look.data : null
  if (!hasApiKey)
    return <p className="cb-dimmed">Add {label}’s API key to import the calls from before this source.</p>
  return (
    <>
      <p className="cb-dimmed">
        Asks {label} for past calls, and dates them as they were. No webhook is sent, and nothing is analyzed.
        {platform === 'vapi' && ' Vapi deletes calls after 14 days on its smallest plan.'}
      </p>
      <Group align="flex-end">
        <NativeSelect
          label="Calls from"
          data={days.map((count) => ({ value: `${count}d`, label: `Last ${count} days` }))}
          value={since}
          onChange={(event) => {
            setSince(event.currentTarget.value)
            look.reset()
          }}
        />
        <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
          See what there is
        </Button>
      </Group>
      {preview && <Preview preview={preview} label={label} />}
      {preview?.ok && (
        <Group justify="space-between">
          <Checkbox
            label="Fetch recordings"
            description={
              keeps ? 'Those that are deleted soonest come first.' : 'This project does not keep recordings.'
            }
            disabled={!keeps}
            checked={recordings}
            onChange={(event) => setRecordings(event.currentTarget.checked)}
          />
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            Import
          </Button>
        </Group>
      )}
      {(look.error ?? start.error) && <Problem error={look.error ?? start.error} />}
    </>
  )
}

/** What a dry run has seen, in sentences. */
function Preview({ preview, label }: { preview: ImportPreview; label: string }) {
  if (!preview.ok)
    return (
      <p role="alert">
        <StatusBadge tone="danger">Not possible</StatusBadge> {preview.reason}
      </p>
    )
  const { total, reachable, perCall, seen, recordings, goneAt } = preview
  const minutes = total === null ? 0 : Math.ceil((total * perCall) / requestsPerMinute)
  return (
    <p role="status">
      {total === null
        ? `${label} shows ${counted(seen, 'call')} on its first page.`
        : `${label} has ${counted(total, 'call')}.`}
      {reachable && (
        <>
          {' '}
          The oldest that it shows began on <Instant at={reachable} as="day" />.
        </>
      )}
      {recordings !== null && ` ${counted(recordings, 'recording')} among ${counted(seen, 'call')}.`}
      {goneAt && (
        <>
          {' '}
          A recording is deleted there on <Instant at={goneAt} as="day" />.
        </>
      )}
      {minutes > 1 && ` The import takes about ${counted(minutes, 'minute')}.`}
    </p>
  )
}
