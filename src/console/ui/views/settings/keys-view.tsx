import { Button } from '@mantine/core'
import {
  IconBan,
  IconClock,
  IconClockX,
  IconCornerDownRight,
  IconKey,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { read } from '../../api.ts'
import { dayLabel } from '../../components/dates.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { Page } from '../../components/page.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useNow } from '../../components/use-now.ts'
import { useProject } from '../../session.ts'
import { TagChips } from '../knowledge/tags-field.tsx'
import { lastDayOf } from './expiry.ts'
import { accesses, accessOf, inPairs, type ListedKey, stateOf } from './keys.ts'
import { useNewKey } from './new-key.tsx'
import classes from './settings.module.css'
import { useLinkToCreate } from './use-link-to-create.ts'

/** The project's keys: list, create and revoke. */
export function KeysView() {
  const { of } = useProject()
  const keys = useQuery(read(of.keys))
  const navigate = useNavigate({ from: '/p/$project/settings/keys' })
  const create = useNewKey()
  const revoke = useRevokeKey()
  const now = useNow()
  useLinkToCreate('key', create)
  const createButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => create()}>
      Create API Key
    </Button>
  )
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
  revoked: { tone: 'neutral', icon: <IconBan size={12} />, children: 'Revoked' },
  expired: { tone: 'warning', icon: <IconClockX size={12} />, children: 'Expired' },
} as const

/** Whether a key is revoked, expired or being replaced; nothing for a key that simply works. */
export function KeyState({ row, now, isReplaced }: ListedKey & { now: number }) {
  const state = stateOf(row, now)
  if (state !== 'active') return <StatusBadge {...endStates[state]} />
  if (!isReplaced || row.expiresAt === null) return null
  return (
    <StatusBadge tone="warning" icon={<IconClock size={12} />}>
      <span>
        Expires <Instant at={row.expiresAt} as="coming" />
      </span>
    </StatusBadge>
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
