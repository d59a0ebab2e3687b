import { Button, Group, Text, TextInput } from '@mantine/core'
import {
  IconDownload,
  IconHistory,
  IconKey,
  IconServer,
  IconTerminal2,
  IconUser,
  IconUserQuestion,
} from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type LinkProps, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { ActorKind, AuditRow, AuditRun } from '../../../../audit/audit-trail.ts'
import { read, readPages } from '../../api.ts'
import { Mono } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Page } from '../../components/page.tsx'
import { PagedTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { dateRangeLabel, rangeToDays } from '../calls/date-ranges.ts'
import { DateFilter } from '../calls/filter-forms.tsx'
import { ChoicePill, FormPill } from '../calls/pill.tsx'
import { actionWords, actorWords, settingWords } from './action-words.ts'
import type { AuditSearch } from './audit-search.ts'
import { roleLabels } from './people-view.tsx'

const rowsPerPage = '50'

/** Who did what, when and from where. */
export function AuditView() {
  const { id: project, of } = useProject()
  const filters = useSearch({ from: '/p/$project/settings/audit' })
  const navigate = useNavigate({ from: '/p/$project/settings/audit' })
  const entries = useInfiniteQuery(readPages(of.audit, { ...filters, limit: rowsPerPage }))
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="Audit trail"
      description="Who did what in the last 400 days. Entries cannot be changed. Only a hash remains of a deleted call or item."
      action={
        <Button
          component="a"
          variant="default"
          leftSection={<IconDownload size={16} />}
          href={`/console/api/projects/${project}/audit/csv?${new URLSearchParams({ ...filters })}`}
          download
        >
          CSV
        </Button>
      }
    >
      <AuditFilters
        filters={filters}
        onChange={(search) => void navigate({ to: '.', search, replace: true })}
      />
      <PagedTable
        label="Audit trail"
        of={entries}
        what="The audit trail"
        more="Load older entries"
        rows={entries.data?.pages.flatMap((page) => page.data)}
        rowKey={({ id }) => id}
        expectedRows={16}
        columns={({ cell, mono, when }) => [
          when('When', ({ at }) => at, { as: 'second', width: '168px', from: 640 }),
          cell('Who', (row) => <AuditActor row={row} />, { width: '26%', from: 640 }),
          cell('Action', (row) => (
            <>
              {/* A newer process on the same database may record other actions. */}
              {actionWords[row.action] ?? row.action}
              <span className="cb-narrow-line">
                <AuditTarget row={row} />
              </span>
              <span className="cb-narrow-line">
                <AuditActor row={row} />
              </span>
              <span className="cb-narrow-line">
                <Instant at={row.at} as="second" />
                {row.ipAddress && ` · ${row.ipAddress}`}
              </span>
            </>
          )),
          cell('Target', (row) => <AuditTarget row={row} />, { width: '28%', from: 640 }),
          mono('From', ({ ipAddress }) => ipAddress, { width: '128px', from: 960 }),
        ]}
        empty={
          <Empty
            icon={<IconHistory size={24} />}
            title={isFiltered ? 'No matching entries' : 'No entries yet'}
          >
            {isFiltered
              ? 'Change or clear the filters.'
              : 'Sign-ins, keys, invitations and deletions appear here as they happen.'}
          </Empty>
        }
      />
    </Page>
  )
}

const icons: Record<ActorKind, typeof IconUser> = {
  person: IconUser,
  key: IconKey,
  commandLine: IconTerminal2,
  service: IconServer,
  stranger: IconUserQuestion,
}

/** Who acted, as a link to all that they did. */
export function AuditActor({ row: { actor, actorKind, actorId } }: { row: AuditRow }) {
  const Icon = icons[actorKind]
  const isNamed = actorKind === 'person' || actorKind === 'key'
  const [name, rest] = partsOf(actor ?? actorWords[actorKind])
  return (
    <Group
      component="span"
      gap={6}
      wrap="nowrap"
      title={[actor ?? actorWords[actorKind], actorId].filter(Boolean).join('\n')}
    >
      <Icon size={14} color="var(--mantine-color-dimmed)" aria-label={actorWords[actorKind]} />
      <PageLink
        {...to.audit}
        search={{ who: isNamed ? (actorId ?? actorKind) : actorKind }}
        c="inherit"
        className="cb-truncate"
        dir="auto"
      >
        {name}
      </PageLink>
      {rest && (
        <Text span c="dimmed" truncate flex={1}>
          {rest}
        </Text>
      )}
    </Group>
  )
}

/** `Ada Lovelace (ada@example.com)` as its two parts. */
function partsOf(label: string): [name: string, rest: string] {
  const [, name = label, rest = ''] = /^(.+) \((.+)\)$/.exec(label) ?? []
  return [name, rest]
}

/** A name, with what tells it from others dimmed; the id of a webhook stands in its link. */
function Label({ text }: { text: string }) {
  const [, name = text, rest = '', change = ''] = /^(.+?) \((.+?)\)(.*)$/s.exec(text) ?? []
  return (
    <>
      {name}
      {change}
      {rest && !isSaid(rest, name) && <span className="cb-dimmed"> {rest}</span>}
    </>
  )
}

/** Whether what tells it from others says nothing to people: an id in its link, or the name once more. */
function isSaid(rest: string, name: string): boolean {
  return /^(?:wh|alr)_/.test(rest) || rest.toLowerCase() === name.toLowerCase()
}

/** What it was done to: a link while that exists, and of a run how many calls and since when. */
export function AuditTarget({ row }: { row: AuditRun }) {
  const { target, link, entries, since } = row
  if (target === null) return null
  if (entries > 1)
    return (
      <span className="cb-truncate">
        {counted(entries, 'call')}{' '}
        <span className="cb-dimmed">
          since <Instant at={since} as="second" />
        </span>
      </span>
    )
  const { hash, label } = readTarget(target)
  if (!link)
    return hash ? (
      <span className="cb-dimmed cb-truncate" title={target}>
        {row.action.startsWith('item_') ? 'Deleted item' : 'Deleted record'} <Mono>{hash.slice(0, 8)}…</Mono>
        {label && !isHold(row) && ` · ${wordsOf(row, label)}`}
      </span>
    ) : (
      <span className="cb-truncate" dir="auto" title={target}>
        <Label text={wordsOf(row, label)} />
      </span>
    )
  const name = nameOf(row, label)
  return (
    <span className="cb-truncate" title={hash ? undefined : target}>
      <TargetLink link={link}>{name}</TargetLink>
      {hash && label && !isHold(row) && <span className="cb-dimmed"> · {wordsOf(row, label)}</span>}
    </span>
  )
}

function nameOf(row: AuditRow, label: string): ReactNode {
  const { link } = row
  if (link?.kind === 'call') return <Mono>{link.id}</Mono>
  if (link?.kind === 'item' || link?.kind === 'alert') return link.name
  // `era_…: 12 calls`
  if (link?.kind === 'erasure') return label.replace(/^era_\w+: /, '')
  return label ? <Label text={wordsOf(row, label)} /> : link?.id
}

/** The words of pages for what the trail stores as the API does. */
function wordsOf(row: AuditRow, label: string): string {
  if (isHold(row)) return 'Calls of a number'
  const { [label]: role }: Record<string, string> = roleLabels
  if (row.action === 'invitation_created') return role ?? label
  if (row.action === 'call_evaluated')
    return label.replace(/\b(?:success|fail|pass|other)\b(?!:)/g, (verdict) => verdicts[verdict] ?? verdict)
  if (row.action !== 'settings_changed') return label
  const words: Record<string, string> = settingWords
  return label
    .replace(/(^|; )(\w+):/g, (all, before, name) => (words[name] ? `${before}${words[name]}:` : all))
    .replaceAll(',', ', ')
}

/** The words of lists for verdicts, in the entries of `call_evaluated`. */
const verdicts: Record<string, string> = {
  success: 'Success',
  fail: 'Failed',
  pass: 'Passed',
  other: 'in own words',
}

function isHold({ action }: AuditRow): boolean {
  return action === 'hold_set' || action === 'hold_lifted'
}

/** A keyed hash at the start of a target, and what follows it; or all of it. */
function readTarget(target: string): { hash: string | null; label: string } {
  const [, hash, label = ''] = /^([0-9a-f]{64})(?:: (.*))?$/s.exec(target) ?? []
  return hash ? { hash, label } : { hash: null, label: target }
}

const targets = {
  call: to.call,
  case: () => to.tests,
  item: to.item,
  key: to.key,
  source: to.source,
  webhook: to.webhook,
  person: () => to.people,
  erasure: to.receipt,
  hold: () => to.privacy,
  alert: to.alert,
} satisfies Record<NonNullable<AuditRow['link']>['kind'], (id: string) => object>

interface TargetLinkProps {
  link: NonNullable<AuditRow['link']>
  children: ReactNode
}

function TargetLink({ link: { kind, id }, children }: TargetLinkProps) {
  const target: LinkProps = targets[kind](id)
  return (
    <PageLink {...target} dir="auto">
      {children}
    </PageLink>
  )
}

interface AuditFiltersProps {
  filters: AuditSearch
  onChange: (filters: AuditSearch) => void
}

const actions = Object.entries(actionWords).map(([value, label]) => ({ value, label }))

/** A pill for each filter of the audit trail: who, what, when, and which call. */
export function AuditFilters({ filters, onChange }: AuditFiltersProps) {
  const { action, from, to, call } = filters
  const dates = useDates()
  const clear =
    (...names: (keyof AuditSearch)[]) =>
    () =>
      onChange(without(filters, names))
  return (
    <Group component="search" gap="xs" mb="sm" aria-label="Filter the audit trail">
      <WhoPill filters={filters} onChange={onChange} />
      <ChoicePill
        label="Action"
        options={actions}
        values={action ? [action] : []}
        chosen={action && (actions.find(({ value }) => value === action)?.label ?? action)}
        onChoose={([value]) => onChange({ ...filters, action: value })}
        onClear={clear('action')}
      />
      <FormPill
        label="Date"
        chosen={dateRangeLabel({ from, to }, dates, Date.now()) || undefined}
        onClear={clear('from', 'to')}
      >
        {(close) => (
          <DateFilter
            days={rangeToDays({ from, to }, dates)}
            onChoose={(range) => {
              onChange({ ...filters, ...range })
              close()
            }}
          />
        )}
      </FormPill>
      <FormPill label="Call" chosen={call} onClear={clear('call')}>
        {(close) => (
          <CallForm
            onApply={(id) => {
              onChange({ ...filters, call: id })
              close()
            }}
          />
        )}
      </FormPill>
      {Object.keys(filters).length > 0 && (
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onChange({})}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

/** The members, the keys, and what has no name. */
function WhoPill({ filters, onChange }: AuditFiltersProps) {
  const { of } = useProject()
  const { data: people } = useQuery(read(of.people))
  const { data: keys } = useQuery(read(of.keys))
  const options = [
    ...(people?.members ?? []).map(({ personId, name }) => ({ value: personId, label: name })),
    ...(keys?.data ?? []).map(({ id, name, hint }) => ({ value: id, label: `${name} (${hint})` })),
    ...(['commandLine', 'service', 'stranger'] as const).map((kind) => ({
      value: kind,
      label: actorWords[kind],
    })),
  ]
  const { who } = filters
  return (
    <ChoicePill
      label="Who"
      options={options}
      values={who ? [who] : []}
      chosen={who && (options.find(({ value }) => value === who)?.label ?? who)}
      onChoose={([value]) => onChange({ ...filters, who: value })}
      onClear={() => onChange(without(filters, ['who']))}
    />
  )
}

function CallForm({ onApply }: { onApply: (id: string) => void }) {
  const [id, setId] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (id.trim() !== '') onApply(id.trim())
  }
  return (
    <form onSubmit={submit} className="cb-stack">
      <TextInput
        label="Call ID"
        description="Shows when the call was opened and deleted. The trail keeps only a hash of the ID."
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
        maxLength={128}
        autoComplete="off"
        data-autofocus
      />
      <TextButton label="Apply" type="submit" disabled={id.trim() === ''} />
    </form>
  )
}

function without(filters: AuditSearch, names: readonly string[]): AuditSearch {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name)))
}
