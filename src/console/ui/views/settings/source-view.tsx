import { Anchor, Button, Checkbox, Group, NativeSelect, PasswordInput, Select, Stack } from '@mantine/core'
import { type Icon, IconClock, IconKey, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { setUpOf } from '../../../../sources/catalog.ts'
import type { ImportPreview, ImportReport } from '../../../../sources/history/imports.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { pathOf, read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CodeBlock, Mono } from '../../components/code.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts, Labelled, Loaded, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { Table } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import {
  ApiFields,
  addressOf,
  answersLookUps,
  filled,
  sentBy,
  sourceSteps,
  sourceTemplates,
  useShowSecret,
  useSource,
  watchingMs,
} from './sources.tsx'

const route = getRouteApi('/p/$project/settings/integrations/sources/$source')

interface SourceProps {
  source: SourceRecord
}

/** One source: how to set up its platform, what has come from it, and what could not be read. */
export function SourceView() {
  const source = useSource(route.useParams().source)
  const remove = useRemoval()
  const { data } = source
  return (
    <Page
      title={data?.name ?? 'Source'}
      description={<PageLink {...to.integrations}>All integrations</PageLink>}
      action={
        <TextButton
          icon={IconTrash}
          label="Delete"
          variant="default"
          onClick={() => data && remove(data)}
          disabled={!data}
        />
      }
    >
      <Loaded query={source} what="The source">
        {(record) => (
          <Stack gap="lg" maw={720}>
            <Panel title="Events" aside={<SourceState source={record} />}>
              <Arrived source={record} />
            </Panel>
            <Failures source={record} />
            <SetUp source={record} />
            {setUpOf(record.platform).apiKeyName !== undefined && <ApiKey source={record} />}
            {setUpOf(record.platform).hasNoHistory || <SourceHistory source={record} />}
            {setUpOf(record.platform).hasNoHistory || <Polling source={record} />}
            <LookUps source={record} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function useRemoval() {
  const { of } = useProject()
  const ask = useConfirm()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return ({ id, name, platform }: SourceRecord) =>
    ask({
      title: `Delete ${name}?`,
      verb: 'Delete source',
      text: `Callbook will refuse what ${setUpOf(platform).label} sends to this source. The source, its secret and its failed events are deleted for good. Its calls stay.`,
      send: () => of.sources({ id }).delete(),
      says: `${name} deleted.`,
      done: async () => {
        await navigate(to.integrations)
        queryClient.removeQueries({ queryKey: pathOf(of.sources({ id })) })
        await queryClient.invalidateQueries({ queryKey: pathOf(of.sources) })
      },
    })
}

/** When the last event came, or what the source is waiting for. */
export function SourceState({ source: { platform, lastEventAt, hasSecret, poll } }: SourceProps) {
  if (lastEventAt) return <Instant at={lastEventAt} />
  if (poll)
    return (
      <StatusBadge
        tone={poll.reason ? 'warning' : 'neutral'}
        icon={IconClock}
        label={poll.reason ?? `Polled every ${poll.every}`}
      />
    )
  if (!hasSecret) return <StatusBadge tone="warning" icon={IconKey} label="Needs a secret" />
  return <StatusBadge tone="neutral" icon={IconClock} label={`Waiting for the first ${sentBy(platform)}`} />
}

function Arrived({ source: { platform, events, lastEventAt, hasSecret, poll } }: SourceProps) {
  const [{ label }, sent] = [setUpOf(platform), sentBy(platform)]
  if (!lastEventAt && !poll)
    return (
      <p className="cb-dimmed" role="status">
        {hasSecret
          ? `No ${sent} from ${label} yet. Make a test call. The first ${sent} appears here automatically.`
          : `Save the secret from ${label} first. Until then, the source refuses every ${sent}.`}
      </p>
    )
  return (
    <Group justify="space-between" role="status">
      <span>{counted(events, 'event')}</span>
      <PageLink {...to.calls} search={{ source: platform }}>
        Calls from {label}
      </PageLink>
    </Group>
  )
}

/** The events of the last week that could not be read, each with the field at fault; nothing while there are none. */
function Failures({ source: { id } }: SourceProps) {
  const { of } = useProject()
  const source = of.sources({ id })
  const { data } = useQuery({ ...read(source.failures), refetchInterval: watchingMs })
  const again = useAct({
    send: () => source['read-again'].post({}),
    changes: source,
    says: describeReading,
  })
  if (!data || data.data.length === 0) return null
  const button = (
    <TextButton
      icon={IconRefresh}
      label="Read again"
      variant="default"
      size="xs"
      loading={again.isPending}
      disabled={!data.data.some(({ isKept }) => isKept)}
      onClick={() => again.mutate()}
    />
  )
  return (
    <Panel title="Events that could not be read" aside={button}>
      <div className="cb-stack">
        <p className="cb-dimmed">
          The platform sent events that this version does not understand. Callbook keeps the parts it uses for
          seven days, or until the call is deleted. Update Callbook, then read the events again.
        </p>
        {again.error && <Problem error={again.error} />}
        <Table
          label="Events that could not be read"
          rows={data.data}
          rowKey={(row) => String(data.data.indexOf(row))}
          columns={({ cell, when }) => [
            when('Received', ({ at }) => at, { width: '104px' }),
            cell('Field', ({ field, message }) => (
              <span className="cb-wrap" title={`${field} ${message}`}>
                <Mono>{field}</Mono> {message}
              </span>
            )),
            cell(
              'Call',
              ({ callId }) =>
                callId === null ? <span className="cb-dimmed">Unknown</span> : <Mono truncate>{callId}</Mono>,
              { width: '184px', from: 640 },
            ),
          ]}
        />
      </div>
    </Panel>
  )
}

function describeReading({ read, failed }: { read: number; failed: number }): string {
  if (failed === 0) return read === 1 ? '1 event read.' : `All ${read} events read.`
  const some = read === 0 ? 'No event' : `${read} of ${read + failed} events`
  return `${some} could be read. Update Callbook, then try again.`
}

/** What the platform is told. */
function SetUp({ source }: SourceProps) {
  const { platform } = source
  const { label, variable } = setUpOf(platform)
  const template = sourceTemplates[platform]
  return (
    <Panel title={`Set up ${label}`}>
      <div className="cb-stack">
        <Labelled label={variable ? 'Variable' : 'Address'}>
          <CodeBlock code={addressOf(source)} label="Copy" />
        </Labelled>
        <Secret source={source} />
        <Stack component="ol" gap="xs" pl={20} style={{ listStyle: 'decimal' }}>
          {sourceSteps[platform].map((step) => (
            <li key={step}>{step}</li>
          ))}
        </Stack>
        {template !== undefined && <CodeBlock code={template} label="Copy template" />}
        <Anchor href={`/docs/guide/sources#${platform}`}>{label} in the guide</Anchor>
      </div>
    </Panel>
  )
}

/** The secret of a source: to be pasted where the platform makes it, else to be replaced by a new one. */
function Secret({ source }: SourceProps) {
  const { platform, hasSecret } = source
  const { secretFrom, secretName } = setUpOf(platform)
  const [isOpen, setOpen] = useState(false)
  if (secretFrom === 'us') return <NewSecret source={source} />
  if (!hasSecret || isOpen) return <PasteSecret source={source} onDone={() => setOpen(false)} />
  return (
    <Labelled label="Secret">
      <Kept says={`${secretName}: stored.`} verb="Replace" act={() => setOpen(true)} />
    </Labelled>
  )
}

interface KeptProps {
  says: string
  verb: string
  icon?: Icon
  isPending?: boolean
  act: () => void
}

/** Says that a secret is stored, without showing it, beside a button that replaces it. */
function Kept({ says, verb, icon, isPending = false, act }: KeptProps) {
  const drawn = icon && { icon }
  return (
    <Group justify="space-between">
      <span className="cb-dimmed">{says}</span>
      <TextButton label={verb} {...drawn} variant="default" size="xs" loading={isPending} onClick={act} />
    </Group>
  )
}

function PasteSecret({ source: { id, platform, hasSecret }, onDone }: SourceProps & { onDone: () => void }) {
  const source = useProject().of.sources({ id })
  const form = useApiForm({
    first: { secret: '' },
    needs: ['secret'],
    body: ({ secret }) => ({ secret: secret.trim() }),
    send: (body) => source.rotate.post(body),
    changes: source,
    says: 'Secret saved.',
    done: onDone,
  })
  return (
    <ApiForm form={form} label="Save secret" {...(hasSecret && { onCancel: onDone })}>
      <PasswordInput
        label="Secret"
        description={`${setUpOf(platform).secretName}.${hasSecret ? ' The previous one is accepted for another 24 hours.' : ''}`}
        autoComplete="off"
        maxLength={500}
        {...form.field('secret')}
      />
    </ApiForm>
  )
}

function NewSecret({ source }: SourceProps) {
  const { of } = useProject()
  const show = useShowSecret()
  const { mutate, isPending, error } = useAct({
    send: () => of.sources({ id: source.id }).rotate.post({}),
    done: (made) => show(made, 'Save the new secret'),
  })
  return (
    <Labelled label="Secret">
      <Kept
        says="Shown once, when it was created."
        icon={IconRefresh}
        verb="Create a new secret"
        isPending={isPending}
        act={() => mutate()}
      />
      {error && <Problem error={error} />}
    </Labelled>
  )
}

function ApiKey({ source }: SourceProps) {
  const [isOpen, setOpen] = useState(false)
  const { label } = setUpOf(source.platform)
  return (
    <Panel title="API key">
      {isOpen ? (
        <SaveApiKey source={source} onDone={() => setOpen(false)} />
      ) : (
        <Kept
          says={source.hasApiKey ? `${label}’s API key: stored.` : `No API key of ${label} yet.`}
          verb={source.hasApiKey ? 'Replace' : 'Add'}
          act={() => setOpen(true)}
        />
      )}
    </Panel>
  )
}

function SaveApiKey({ source: { id, platform, options }, onDone }: SourceProps & { onDone: () => void }) {
  const source = useProject().of.sources({ id })
  const form = useApiForm({
    first: { apiKey: '', host: String(options.host ?? '') },
    needs: ['apiKey'],
    body: (given) => ({ options: filled(given) }),
    send: (body) => source.patch(body),
    changes: source,
    says: 'API key saved.',
    done: onDone,
  })
  return (
    <ApiForm form={form} label="Save API key" onCancel={onDone}>
      <ApiFields platform={platform} apiKey={form.field('apiKey')} host={form.field('host')} />
    </ApiForm>
  )
}

const intervals = [
  { value: 'off', label: 'Never' },
  { value: '1m', label: 'Every minute' },
  { value: '5m', label: 'Every 5 minutes' },
  { value: '15m', label: 'Every 15 minutes' },
  { value: '1h', label: 'Every hour' },
  { value: '24h', label: 'Every day' },
]

/** How often the platform is asked for new calls. */
function Polling({ source: { id, platform, options, hasApiKey, poll } }: SourceProps) {
  const source = useProject().of.sources({ id })
  const { label } = setUpOf(platform)
  const { mutate, error } = useAct({
    send: (every: string) => source.patch({ options: { poll: every } }),
    changes: source,
    says: 'Polling changed.',
  })
  const every = String(options.poll ?? 'off')
  const isKnown = intervals.some(({ value }) => value === every)
  const reason = hasApiKey ? '' : ' It needs an API key.'
  return (
    <Panel title="Polling" aside={poll?.lastAt && <Instant at={poll.lastAt} />}>
      <Select
        label={`Ask ${label} for new calls`}
        description={`For what its events leave out, or if they cannot reach Callbook.${reason}`}
        w={280}
        data={isKnown ? intervals : [...intervals, { value: every, label: `Every ${every}` }]}
        value={every}
        allowDeselect={false}
        disabled={!hasApiKey}
        onChange={(value) => value && mutate(value)}
      />
      {error && <Problem error={error} />}
      {poll?.reason && <p className="cb-dimmed">{poll.reason}</p>}
    </Panel>
  )
}

/** How the agents of the platform search the knowledge during a call. */
function LookUps({ source: { platform } }: SourceProps) {
  const { label } = setUpOf(platform)
  return (
    <Panel title="Knowledge during a call">
      <p className="cb-dimmed">
        {answersLookUps.includes(platform) ? (
          `${label} can search at the same address. A tool with the parameter query gets passages from this project’s knowledge.`
        ) : (
          <>
            Give your {label} agents a tool that gets passages from this project’s knowledge:{' '}
            <PageLink {...to.integration('tools')}>Set up the tool</PageLink>
          </>
        )}
      </p>
    </Panel>
  )
}

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
    <Panel title="Import history" aside={tone && <StatusBadge tone={tone} label={word} />}>
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
          <TextButton label="Import" loading={start.isPending} onClick={() => start.mutate()} />
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
        <StatusBadge tone="danger" label="Not possible" /> {preview.reason}
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
