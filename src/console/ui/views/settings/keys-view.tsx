import { Group, Input, SegmentedControl, Stack, TextInput } from '@mantine/core'
import {
  IconBan,
  IconClock,
  IconClockX,
  IconCornerDownRight,
  IconKey,
  IconPlus,
  IconRefresh,
  IconTrash,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { isTag } from '../../../../text/tags.ts'
import { read } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { Mono } from '../../components/code.tsx'
import { dayLabel } from '../../components/dates.ts'
import { useConfirm, useLinkToCreate, useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant, useNow } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts, Labelled, Loaded, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { TagChips } from '../knowledge/tags-field.tsx'
import {
  accesses,
  accessOf,
  expiresAtOf,
  expiryOf,
  inPairs,
  type ListedKey,
  lastDayOf,
  lastInstantOf,
  stateOf,
} from './keys.ts'
import {
  AllowedOrigins,
  AllowList,
  allowedIpsOf,
  ExpiryField,
  OnlyTagged,
  originsOf,
  useAddressCheck,
  useNewKey,
  useShowKey,
} from './new-key.tsx'
import classes from './settings.module.css'

/** The project's keys: list, create and revoke. */
export function KeysView() {
  const { of } = useProject()
  const keys = useQuery(read(of.keys))
  const navigate = useNavigate({ from: '/p/$project/settings/keys' })
  const create = useNewKey()
  const revoke = useRevokeKey()
  const now = useNow()
  useLinkToCreate('key', create)
  const createButton = <TextButton icon={IconPlus} label="Create API Key" onClick={() => create()} />
  return (
    <Page
      title="API Keys"
      description="For programs that read this project’s calls and knowledge, or send calls in."
      action={createButton}
    >
      <QueryTable
        label="API keys"
        of={keys}
        what="The keys"
        rows={keys.data && inPairs(keys.data.data, now)}
        rowKey={({ row }) => row.id}
        onOpen={({ row }) => void navigate(to.key(row.id))}
        expectedRows={4}
        columns={({ actions, cell, mono, text }) => [
          cell('Name', (listed) => <KeyName listed={listed} now={now} />),
          mono('Key', ({ row }) => row.hint, { width: '144px', from: 640 }),
          text('Access', ({ row }) => accesses[accessOf(row)].label, { width: '72px', from: 640 }),
          cell('Allowed from', ({ row }) => <AllowedFrom row={row} />, { width: '152px', from: 960 }),
          cell('Expires', ({ row }) => <LastDay row={row} />, { width: '112px', from: 800 }),
          cell('Created', ({ row }) => <Created row={row} />, {
            width: 'clamp(144px, 30cqi - 136px, 216px)',
            from: 960,
          }),
          cell('Last used', ({ row }) => <LastUsed row={row} />, { width: '104px' }),
          actions('Revoke', ({ row }) => [
            !row.revokedAt && { icon: IconTrash, label: `Revoke ${row.name}`, act: () => revoke(row) },
          ]),
        ]}
        empty={
          <Empty icon={<IconKey size={24} />} title="No keys yet" action={createButton}>
            A key gives a program access to this project: an agent that searches the knowledge, or a platform
            that sends calls in. Give each program its own key, so that you can revoke one without affecting
            the others.
          </Empty>
        }
      />
    </Page>
  )
}

/** Asks before a key stops working for good. */
export function useRevokeKey() {
  const { of } = useProject()
  const ask = useConfirm()
  return ({ id, name, hint }: KeyRecord) =>
    ask({
      title: `Revoke ${name}?`,
      verb: 'Revoke key',
      text: (
        <p>
          Requests with <Mono>{hint}</Mono> will be refused at once. A revoked key cannot be restored. If
          something still needs it, create a new key first.
        </p>
      ),
      send: () => of.keys({ id }).delete(),
      changes: of.keys,
      says: `${name} revoked.`,
    })
}

function KeyName({ listed: { row, isReplaced }, now }: { listed: ListedKey; now: number }) {
  return (
    <>
      <span
        className={classes.keyName}
        data-state={stateOf(row, now)}
        data-replaced={isReplaced || undefined}
      >
        {isReplaced && <IconCornerDownRight size={16} aria-hidden />}
        <PageLink {...to.key(row.id)} c="inherit" className="cb-truncate">
          {row.name}
        </PageLink>
        <KeyState row={row} now={now} isReplaced={isReplaced} />
      </span>
      <TagChips tags={row.tags} />
      <span className="cb-narrow-line">
        {accesses[accessOf(row)].label} · <Mono>{row.hint}</Mono>
      </span>
    </>
  )
}

const endStates = {
  revoked: { tone: 'neutral', icon: IconBan, label: 'Revoked' },
  expired: { tone: 'warning', icon: IconClockX, label: 'Expired' },
} as const

/** Whether a key is revoked, expired or being replaced; nothing for a key that simply works. */
export function KeyState({ row, now, isReplaced }: ListedKey & { now: number }) {
  const state = stateOf(row, now)
  if (state !== 'active') return <StatusBadge {...endStates[state]} />
  if (!isReplaced || row.expiresAt === null) return null
  return (
    <StatusBadge
      tone="warning"
      icon={IconClock}
      label={
        <>
          Expires <Instant at={row.expiresAt} as="coming" />
        </>
      }
    />
  )
}

function LastDay({ row: { expiresAt } }: { row: KeyRecord }) {
  const dates = useDates()
  if (!expiresAt) return <span className="cb-dimmed">Never</span>
  const day = lastDayOf(expiresAt, dates)
  const isThisYear = day.slice(0, 4) === dates.dayOf(Date.now()).slice(0, 4)
  return (
    <time dateTime={expiresAt} title={dates.exact(expiresAt)} className="cb-figure">
      {dayLabel(day, isThisYear ? {} : { year: 'numeric' })}
    </time>
  )
}

function AllowedFrom({ row: { allowedIps, allowedOrigins } }: { row: KeyRecord }) {
  const [first, ...others] = allowedIps
  const isAnywhere = first === undefined || allowedIps.includes('*')
  return (
    <>
      {isAnywhere ? (
        <span className="cb-dimmed">Anywhere</span>
      ) : (
        <span title={allowedIps.join('\n')}>
          <Mono>{first}</Mono>
          {others.length > 0 && <span className="cb-dimmed"> +{others.length}</span>}
        </span>
      )}
      {allowedOrigins.length > 0 && (
        <span className="cb-dimmed" title={allowedOrigins.join('\n')}>
          {' '}
          · web pages
        </span>
      )}
    </>
  )
}

function Created({ row: { createdAt, createdBy } }: { row: KeyRecord }) {
  return (
    <>
      <Instant at={createdAt} as="day" />
      <span className="cb-dimmed"> by {createdBy ?? 'the command line'}</span>
    </>
  )
}

function LastUsed({ row: { lastUsedAt, lastUsedIp } }: { row: KeyRecord }) {
  if (!lastUsedAt) return <span className="cb-dimmed">Never</span>
  return (
    <span title={lastUsedIp ? `From ${lastUsedIp}` : undefined}>
      <Instant at={lastUsedAt} />
    </span>
  )
}

const route = getRouteApi('/p/$project/settings/keys/$key')
const allKeys = <PageLink {...to.keys}>All keys</PageLink>

/** One key: what is known of it, its rules, and its rotation. */
export function KeyView() {
  const { of } = useProject()
  const { key: id } = route.useParams()
  return (
    <Loaded query={useQuery(read(of.keys))} what="The key">
      {({ data }) => {
        const record = data.find((key) => key.id === id)
        // Another key is another page, with nothing left of the form of the one before.
        return record ? (
          <Key key={id} record={record} all={data} />
        ) : (
          <Empty title="Key not found">{allKeys}</Empty>
        )
      }}
    </Loaded>
  )
}

function Key({ record, all }: { record: KeyRecord; all: readonly KeyRecord[] }) {
  const now = useNow()
  const revoke = useRevokeKey()
  const rotate = useRotateKey(record)
  const successor = all.find(({ replaces }) => replaces === record.id)
  const state = stateOf(record, now)
  return (
    <Page
      title={record.name}
      description={allKeys}
      action={
        state !== 'revoked' && (
          <Group gap="xs">
            <TextButton icon={IconTrash} label="Revoke" variant="default" onClick={() => revoke(record)} />
            {state === 'active' && !successor && (
              <TextButton icon={IconRefresh} label="Rotate" onClick={rotate} />
            )}
          </Group>
        )
      }
    >
      <Stack gap="lg" maw={720}>
        <Panel title="Key" aside={<KeyState row={record} now={now} isReplaced={successor !== undefined} />}>
          <KeyFacts
            record={record}
            successor={successor}
            predecessor={all.find(({ id }) => id === record.replaces)}
          />
        </Panel>
        {state !== 'revoked' && <KeyForm key={JSON.stringify(record.expiresAt)} record={record} />}
      </Stack>
    </Page>
  )
}

interface KeyFactsProps {
  record: KeyRecord
  successor: KeyRecord | undefined
  predecessor: KeyRecord | undefined
}

function KeyFacts({ record, successor, predecessor }: KeyFactsProps) {
  const { id, hint, createdAt, createdBy, expiresAt, lastUsedAt, lastUsedIp, revokedAt } = record
  const { label, opens } = accesses[accessOf(record)]
  return (
    <Facts
      of={{
        Key: <Mono>{hint}</Mono>,
        ID: <Mono>{id}</Mono>,
        Access: (
          <>
            {label}.{' '}
            <span className="cb-dimmed">
              {opens} A key’s access cannot be changed. Create another key for different access.
            </span>
          </>
        ),
        Created: (
          <>
            <Instant at={createdAt} as="absolute" /> by {createdBy ?? 'the command line'}
          </>
        ),
        'Last used': lastUsedAt ? (
          <>
            <Instant at={lastUsedAt} />
            {lastUsedIp && ' from '}
            {lastUsedIp && <Mono>{lastUsedIp}</Mono>}
          </>
        ) : (
          'Never'
        ),
        Expires: expiresAt ? <Instant at={lastInstantOf(expiresAt)} as="absolute" /> : 'Never',
        Revoked: revokedAt && <Instant at={revokedAt} as="absolute" />,
        Replaces: predecessor && <KeyLink record={predecessor} />,
        'Replaced by': successor && <KeyLink record={successor} />,
      }}
    />
  )
}

function KeyLink({ record: { id, name, hint } }: { record: KeyRecord }) {
  return (
    <PageLink {...to.key(id)}>
      {name} ({hint})
    </PageLink>
  )
}

/** What may be changed of a key in use. */
function KeyForm({ record }: { record: KeyRecord }) {
  const { of } = useProject()
  const dates = useDates()
  const was = expiryOf(record.expiresAt, dates)
  const form = useApiForm({
    first: {
      name: record.name,
      expiry: was,
      entries: record.allowedIps.length > 0 ? record.allowedIps : [''],
      origins: record.allowedOrigins.join(', '),
      tags: record.tags,
    },
    isEdit: true,
    needs: ['name'],
    isReady: ({ expiry, tags }) =>
      (isSame(expiry, was) || expiresAtOf(expiry, dates) !== undefined) && tags.every(isTag),
    body: ({ name, expiry, entries, origins, tags }) => ({
      name: name.trim(),
      allowedIps: allowedIpsOf(entries),
      allowedOrigins: originsOf(origins),
      tags,
      // The same day keeps its exact time.
      ...(!isSame(expiry, was) && { expiresAt: expiresAtOf(expiry, dates) ?? null }),
    }),
    send: (body) => of.keys({ id: record.id }).patch(body),
    changes: of.keys,
    says: ({ name }) => `${name} saved.`,
  })
  const { entries } = form.values
  const check = useAddressCheck(entries)
  return (
    <Panel title="Rules">
      <ApiForm form={form} label="Save" isReady={!check.hasFaults}>
        <TextInput label="Name" maxLength={200} {...form.field('name')} />
        {record.scope === 'search' && <OnlyTagged {...form.field('tags')} />}
        <ExpiryField {...form.field('expiry', 'expiresAt')} />
        <AllowList check={check} {...form.field('entries')} />
        {restricts(record.allowedIps) && !restricts(allowedIpsOf(entries)) && (
          <Input.Error role="status">
            Saving this lets anyone who has the key use it from any address.
          </Input.Error>
        )}
        {(record.scope === 'read' || record.scope === 'search') && (
          <AllowedOrigins {...form.field('origins')} />
        )}
      </ApiForm>
    </Panel>
  )
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function restricts(entries: readonly string[]): boolean {
  return entries.length > 0 && !entries.includes('*')
}

const overlaps = [
  { value: '0', label: 'None' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
]

/** Makes a key like this one and shows it once, then opens its page. */
function useRotateKey(record: KeyRecord) {
  const show = useShow()
  return () =>
    show({
      title: `Rotate ${record.name}?`,
      content: (close) => <RotateForm record={record} onCancel={close} />,
    })
}

function RotateForm({ record, onCancel }: { record: KeyRecord; onCancel: () => void }) {
  const { of } = useProject()
  const navigate = useNavigate()
  const showKey = useShowKey()
  const form = useApiForm({
    first: { overlap: '24' },
    body: ({ overlap }) => ({ overlapHours: Number(overlap) }),
    send: (body) => of.keys({ id: record.id }).rotate.post(body),
    changes: of.keys,
    done: (made) =>
      showKey(made, undefined, () => void navigate({ ...to.key(made.id), ignoreBlocker: true })),
  })
  const isAtOnce = form.values.overlap === '0'
  return (
    <ApiForm form={form} label="Rotate key" isDanger={isAtOnce} onCancel={onCancel}>
      <p>
        You get a new key with the same access and rules. The old key keeps working during the overlap, so
        that you have time to replace it.
      </p>
      <Labelled label="Overlap" id="overlap-label">
        <SegmentedControl
          size="xs"
          aria-labelledby="overlap-label"
          data={overlaps}
          {...form.input('overlap')}
        />
      </Labelled>
      {isAtOnce && <Input.Error>The old key stops working at once.</Input.Error>}
    </ApiForm>
  )
}
