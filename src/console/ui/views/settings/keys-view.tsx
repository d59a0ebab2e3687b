import { ActionIcon, Button } from '@mantine/core'
import { IconCornerDownRight, IconKey, IconPlus, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { dayLabel } from '../../components/dates.ts'
import { Empty } from '../../components/empty.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useNow } from '../../components/use-now.ts'
import { useProject } from '../../session.ts'
import { lastDayOf } from './expiry.ts'
import { accesses, accessOf, inPairs, keysQuery, type ListedKey, stateOf } from './key-queries.ts'
import { KeyState } from './key-state.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import classes from './settings.module.css'

/** The project's keys: list, create and revoke. */
export function KeysView() {
  return (
    <OwnersOnly title="API Keys">
      <Keys />
    </OwnersOnly>
  )
}

function Keys() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(keysQuery(project))
  const { create } = useSearch({ from: '/p/$project/settings/keys' })
  const navigate = useNavigate({ from: '/p/$project/settings/keys' })
  const [revoking, setRevoking] = useState<KeyRecord | null>(null)
  const now = useNow()
  const setOpen = (isOpen: boolean) =>
    // Ignores the blocker: the dialog of a new key blocks all other navigation until the key is stored.
    void navigate({ to: '.', search: isOpen ? { create: 'key' } : {}, replace: true, ignoreBlocker: true })
  const createButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen(true)}>
      Create API Key
    </Button>
  )
  const empty = (
    <Empty icon={<IconKey size={24} />} title="No keys yet" action={createButton}>
      A key gives a program access to this project: an agent that searches the knowledge, or a platform that
      sends calls in. Give each program its own key, so that you can revoke one without affecting the others.
    </Empty>
  )
  return (
    <>
      <PageHeader
        title="API Keys"
        description="For programs that read this project’s calls and knowledge, or send calls in."
        action={createButton}
      />
      {error && !data ? (
        <Problem error={error} title="The keys could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="API keys"
          columns={columnsOf(now, setRevoking)}
          rows={data && inPairs(data.data, now)}
          rowKey={({ row }) => row.id}
          onOpen={({ row }) =>
            void navigate({ to: '/p/$project/settings/keys/$key', params: { project, key: row.id } })
          }
          expectedRows={4}
          empty={empty}
        />
      )}
      <NewKeyDialog opened={create === 'key'} onClose={() => setOpen(false)} />
      <RevokeKeyDialog revoking={revoking} onClose={() => setRevoking(null)} />
    </>
  )
}

function columnsOf(now: number, revoke: (key: KeyRecord) => void): Column<ListedKey>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      render: (listed) => (
        <>
          <KeyName listed={listed} now={now} />
          <span className="cb-narrow-line">
            {accesses[accessOf(listed.row)].label} · <Mono>{listed.row.hint}</Mono>
          </span>
        </>
      ),
    },
    {
      key: 'key',
      header: 'Key',
      width: '144px',
      from: 640,
      render: ({ row: { hint } }) => <Mono>{hint}</Mono>,
    },
    {
      key: 'access',
      header: 'Access',
      width: '72px',
      from: 640,
      render: ({ row }) => accesses[accessOf(row)].label,
    },
    {
      key: 'addresses',
      header: 'Allowed from',
      width: '152px',
      from: 960,
      render: ({ row }) => <AllowedFrom row={row} />,
    },
    {
      key: 'expires',
      header: 'Expires',
      width: '112px',
      from: 800,
      render: ({ row: { expiresAt } }) =>
        expiresAt ? <LastDay expiresAt={expiresAt} /> : <span className="cb-dimmed">Never</span>,
    },
    {
      key: 'created',
      header: 'Created',
      width: 'clamp(144px, 30cqi - 136px, 216px)',
      from: 960,
      render: ({ row }) => <Created row={row} />,
    },
    { key: 'used', header: 'Last used', width: '104px', render: ({ row }) => <LastUsed row={row} /> },
    {
      key: 'revoke',
      header: <span className="cb-hidden">Revoke</span>,
      width: '48px',
      align: 'right',
      render: ({ row }) =>
        row.revokedAt ? null : (
          <ActionIcon
            data-hint="Revoke"
            variant="subtle"
            color="gray"
            size={24}
            aria-label={`Revoke ${row.name}`}
            onClick={() => revoke(row)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        ),
    },
  ]
}

function KeyName({ listed: { row, isReplaced }, now }: { listed: ListedKey; now: number }) {
  const { id: project } = useProject()
  return (
    <span className={classes.keyName} data-state={stateOf(row, now)} data-replaced={isReplaced || undefined}>
      {isReplaced && <IconCornerDownRight size={16} aria-hidden />}
      <PageLink
        to="/p/$project/settings/keys/$key"
        params={{ project, key: row.id }}
        c="inherit"
        className="cb-truncate"
      >
        {row.name}
      </PageLink>
      <KeyState row={row} now={now} isReplaced={isReplaced} />
    </span>
  )
}

function LastDay({ expiresAt }: { expiresAt: string }) {
  const dates = useDates()
  const day = lastDayOf(expiresAt, dates)
  const isThisYear = day.slice(0, 4) === dates.dayOf(Date.now()).slice(0, 4)
  return (
    <time dateTime={expiresAt} title={dates.exact(expiresAt)} className="cb-figure">
      {dayLabel(day, isThisYear ? {} : { year: 'numeric' })}
    </time>
  )
}

function AllowedFrom({ row: { allowedIps, allowedOrigins } }: { row: KeyRecord }) {
  return (
    <>
      <Addresses entries={allowedIps} />
      {allowedOrigins.length > 0 && (
        <span className="cb-dimmed" title={allowedOrigins.join('\n')}>
          {' '}
          · web pages
        </span>
      )}
    </>
  )
}

function Addresses({ entries }: { entries: string[] }) {
  const [first, ...others] = entries
  if (first === undefined || entries.includes('*')) return <span className="cb-dimmed">Anywhere</span>
  return (
    <span title={entries.join('\n')}>
      <Mono>{first}</Mono>
      {others.length > 0 && <span className="cb-dimmed"> +{others.length}</span>}
    </span>
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
