import { Group, Text } from '@mantine/core'
import { IconKey, IconServer, IconTerminal2, IconUser, IconUserQuestion } from '@tabler/icons-react'
import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ActorKind, AuditRow, AuditRun } from '../../../../audit/audit-trail.ts'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { to } from '../../components/to.ts'
import { actorWords, settingWords } from './action-words.ts'
import { roleLabels } from './people.ts'

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
