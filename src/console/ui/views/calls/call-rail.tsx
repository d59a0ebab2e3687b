import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { CallDetails } from '../../../../calls/schemas.ts'
import type { QuestionOfCall } from '../../../../knowledge/questions/questions-of-call.ts'
import { read } from '../../api.ts'
import { CopyButton, Mono } from '../../components/code.tsx'
import {
  asBytes,
  asDecimal,
  asDollars,
  asDuration,
  asMilliseconds,
  counted,
} from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts } from '../../components/page.tsx'
import { asPhrase } from '../../components/phrase.ts'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { CallerLink, isWholeNumber } from '../callers/caller-link.tsx'
import classes from './call.module.css'
import { CallNotes, CallVerdict } from './call-head.tsx'
import { Duration, Evaluation, LiveBadge, RunningDuration, Unknown } from './call-line.tsx'
import { useCallPage } from './call-page.ts'
import { medianParts, partLabels, personsNumber } from './conversation.ts'
import { valueLabel } from './filter-labels.ts'
import { CallHolds } from './holds.tsx'
import { asRedacted, MarkedText } from './marked-text.tsx'
import { hasSoundLine, SoundLine } from './recording.tsx'
import steps from './transcript.module.css'
import { LatencyBar } from './turn-latency.tsx'

const RetrievalList = lazy(() => import('./retrieval-list.tsx'))

const othersShown = 6
const freshForMs = 30_000

/**
 * What is known of a call, and what people say of it. Beside the conversation all of it is shown; above it the verdict and
 * the summary, and the rest once it is opened.
 */
export function CallRail() {
  const { call, details, rail, search } = useCallPage()
  const { isBeside, isOpen, toggle } = rail
  const number = personsNumber(call, details?.direction)
  const isWhole = isOpen || search.summaryRanges.length > 0
  return (
    <aside id="call-facts" className={classes.rail} aria-label="Facts">
      <CallVerdict isOnOneLine={!isBeside}>
        {!isBeside && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            flex="none"
            className={classes.unfold}
            rightSection={<IconChevronRight size={14} aria-hidden />}
            aria-expanded={isOpen}
            onClick={toggle}
          >
            All details
          </Button>
        )}
      </CallVerdict>
      {details && <CallNotes />}
      <CallHolds id={call.id} />
      <SoundLine />
      {call.summary && (
        <Text
          component="p"
          inherit
          mt={4}
          mb={isWhole ? 'sm' : 0}
          // With the line of sound it has two lines while the details are folded.
          {...(!isWhole && { lineClamp: hasSoundLine(call, details) ? 1 : 2 })}
          dir="auto"
        >
          <MarkedText text={call.summary} ranges={search.summaryRanges} />
        </Text>
      )}
      {isOpen && (
        <>
          <Retrieval id={call.id} />
          <CallTests id={call.id} />
          <CallFacts />
          {details?.metadata && (
            <Box component="section" mt={16} aria-label="Metadata">
              <Group component="h3" justify="space-between" fz={12}>
                Metadata
                <CopyButton value={() => JSON.stringify(details.metadata, null, 2)} label="Copy metadata" />
              </Group>
              <JsonTree value={details.metadata} depth={2} />
            </Box>
          )}
          {number !== null && <OtherCalls id={call.id} number={number} />}
        </>
      )}
    </aside>
  )
}

const directions = { inbound: 'Inbound', outbound: 'Outbound', web: 'Web' }

/** All that is known about a call besides what was said. */
function CallFacts() {
  const { call, details } = useCallPage()
  const { agent, direction, source, redacted, recording, numbers = call } = details ?? {}
  const isLive = call.status === 'live'
  const facts = {
    Duration: isLive ? <RunningDuration since={call.createdAt} /> : <Duration seconds={call.duration} />,
    Started: <Instant at={call.createdAt} as="absolute" />,
    From: <PhoneNumber value={call.callerNumber} shown={numbers.callerNumber} label="Copy caller’s number" />,
    To: <PhoneNumber value={call.calledNumber} shown={numbers.calledNumber} label="Copy called number" />,
    Direction: direction && directions[direction],
    Agent: agent && (
      <Group component="span" gap={8} wrap="nowrap">
        <span className="cb-truncate" dir="auto" title={agent.id}>
          {agent.name || agent.id}
        </span>
        {agent.version && (
          <span className="cb-truncate cb-dimmed" title={agent.version}>
            {agent.version}
          </span>
        )}
      </Group>
    ),
    Source: source && valueLabel('source', source),
    'End reason': call.endedReason ? (
      asPhrase(call.endedReason)
    ) : (
      <span className="cb-dimmed">{isLive ? 'Not yet' : 'None'}</span>
    ),
    Engaged: isLive && !call.isEngaged ? <Unknown>Not known yet</Unknown> : call.isEngaged ? 'Yes' : 'No',
    Cost: details && costOf(details),
    Latency: details && latencyOf(details),
    Redacted: redacted && asRedacted(redacted),
    Recording: recording?.state === 'kept' && recordingWords(recording),
    Status: isLive ? 'Live' : 'Completed',
    'Last change': <Instant at={call.updatedAt} />,
    ID: (
      <Group component="span" gap={4} wrap="nowrap">
        <Mono truncate>{call.id}</Mono>
        <CopyButton value={call.id} label="Copy call id" />
      </Group>
    ),
  }
  return (
    <div className={classes.facts}>
      <Facts of={facts} />
    </div>
  )
}

interface PhoneNumberProps extends Record<'value' | 'shown', string | null> {
  label: string
}

function PhoneNumber({ value, shown, label }: PhoneNumberProps) {
  if (value === null || shown === null) return <span className="cb-dimmed">Unknown</span>
  return (
    <Group component="span" gap={4} wrap="nowrap">
      <span className="cb-figure cb-truncate">
        {isWholeNumber(value) ? <CallerLink number={value}>{shown}</CallerLink> : shown}
      </span>
      <CopyButton value={value} label={label} />
    </Group>
  )
}

/** The median of the call's turns, and of each part; null if neither is known. */
function latencyOf({ latencyMs, timeline }: CallDetails): ReactNode {
  const parts = medianParts(timeline)
  if (latencyMs === null && parts.length === 0) return null
  return (
    <Stack component="span" gap={0} py={4} title="Medians of this call's turns">
      {latencyMs !== null && <span className="cb-figure">{asMilliseconds(latencyMs)}</span>}
      <LatencyBar parts={parts} totalMs={latencyMs} isWide />
      {parts.map(({ part, ms }) => (
        <Group key={part} component="span" justify="space-between" fz={12}>
          <span className="cb-dimmed">{partLabels[part]}</span>
          <span className="cb-figure">{asMilliseconds(ms)}</span>
        </Group>
      ))}
    </Stack>
  )
}

function recordingWords({ durationSeconds, channels, bytes }: CallDetails['recording']): string {
  return [
    durationSeconds !== null && asDuration(durationSeconds),
    channels === 1 ? 'one channel' : channels && `${channels} channels`,
    bytes !== null && asBytes(bytes),
  ]
    .filter(Boolean)
    .join(', ')
}

const kindWords: Record<string, string> = { llm: 'model', stt: 'transcription', tts: 'voice' }

/** What a call cost and, folded below it, of what and for what; null if neither is known. */
function costOf({ costUsd, costParts, usage }: CallDetails): ReactNode {
  if (costUsd === null && !costParts && !usage) return null
  const cost = <span className="cb-figure">{costUsd === null ? 'Not known' : asDollars(costUsd)}</span>
  const lines = [partWords(costParts ?? []), ...(usage ?? []).map(usageWords)].filter((line) => line !== '')
  if (lines.length === 0) return cost
  return (
    <Box component="details" py={4}>
      <summary>{cost}</summary>
      {lines.map((line) => (
        <Box key={line} component="p" mt={4} fz={12} dir="auto" className="cb-dimmed">
          {line}
        </Box>
      ))}
    </Box>
  )
}

/** `model 0.021 · voice 0.014`: in dollars, the parts of a kind together. */
function partWords(parts: NonNullable<CallDetails['costParts']>): string {
  const sums = new Map<string, number>()
  for (const { kind = 'other', usd } of parts) sums.set(kind, (sums.get(kind) ?? 0) + usd)
  return [...sums]
    .filter(([, usd]) => usd > 0)
    .map(([kind, usd]) => `${kindWords[kind] ?? kind} ${asDecimal(usd, 4)}`)
    .join(' · ')
}

/** `gpt-4o: 4,200 tokens in, 3,000 of them cached, 310 out` */
function usageWords(used: NonNullable<CallDetails['usage']>[number]): string {
  const { inputTokens, cachedTokens, outputTokens, characters, seconds } = used
  const words = [
    inputTokens && `${counted(inputTokens, 'token')} in`,
    cachedTokens && `${asDecimal(cachedTokens)} of them cached`,
    outputTokens && `${counted(outputTokens, 'token')} out`,
    characters && counted(characters, 'character'),
    seconds && `${asDecimal(seconds)} s`,
  ].filter(Boolean)
  const name = used.model ?? used.provider ?? kindWords[used.kind]
  return words.length === 0 ? '' : `${name}: ${words.join(', ')}`
}

interface FoldProps {
  /** The line that is always shown. */
  title: string
  /** Rendered once it is open. */
  children: () => ReactNode
}

/** A part of the rail that begins folded. */
function Fold({ title, children }: FoldProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className={`cb-dimmed ${steps.stepsLine}`}>
        <IconChevronRight size={14} className={steps.stepsChevron} aria-hidden />
        {title}
      </summary>
      {isOpen && children()}
    </details>
  )
}

/** What the agent asked the project's knowledge during the call, folded: how much it lacked is seen at once. */
function Retrieval({ id }: { id: string }) {
  const { of } = useProject()
  const { data } = useQuery(read(of.questions.calls({ call: id })))
  if (!data || data.data.length === 0) return null
  const questions = data.data.map((question) => ({ ...question, isGap: leftGap(question, data.gapCoverage) }))
  const gaps = questions.filter(({ isGap }) => isGap).length
  const title = `Knowledge: ${counted(questions.length, 'question')}`
  return (
    <Fold title={gaps > 0 ? `${title}, ${counted(gaps, 'gap')}` : title}>
      {() => (
        <Suspense>
          <RetrievalList call={id} questions={questions} />
        </Suspense>
      )}
    </Fold>
  )
}

/** The tests that were made of the call, folded. */
function CallTests({ id }: { id: string }) {
  const { data } = useQuery(read(useProject().of.cases, { call: id }))
  if (!data || data.data.length === 0) return null
  return (
    <Fold title={counted(data.data.length, 'test')}>
      {() => (
        <ul className={classes.others}>
          {data.data.map(({ id, name, expect }) => (
            <li key={id} title={expect}>
              <PageLink {...to.tests} inherit>
                <bdi>{name}</bdi>
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </Fold>
  )
}

/** Whether what was found during the call left a gap, or a person says so. */
function leftGap({ mark, coverage, passages }: QuestionOfCall, gapCoverage: number): boolean {
  if (mark !== null) return mark === 'not_answered'
  return passages.length === 0 || (coverage !== null && coverage < gapCoverage)
}

/** The newest calls of the same number, folded: how many there are is seen at once. */
function OtherCalls({ id, number }: { id: string; number: string }) {
  const { of } = useProject()
  const dates = useDates()
  const { data } = useQuery({
    ...read(of.calls, { number, limit: String(othersShown) }),
    staleTime: freshForMs,
    // The filter takes no others, such as `anonymous`.
    enabled: /\d/.test(number),
  })
  const others = data?.data.filter((row) => row.id !== id) ?? []
  const count = data?.total ? Math.max(others.length, data.total - 1) : others.length
  if (others.length === 0) return null
  return (
    <Fold title={`${counted(count, 'other call')} of this number`}>
      {() => (
        <>
          <ul className={classes.others}>
            {others.slice(0, othersShown - 1).map((row) => (
              <li key={row.id}>
                <PageLink
                  {...to.call(row.id)}
                  // The moment and the queue are those of this call.
                  search={(search) => ({ ...search, tab: undefined, t: undefined, set: undefined })}
                  resetScroll={false}
                  inherit
                >
                  {dates.moment(row.createdAt)}
                </PageLink>
                <Duration seconds={row.duration} />
                {row.status === 'live' ? <LiveBadge /> : <Evaluation value={row.evaluation} />}
              </li>
            ))}
          </ul>
          <CallerLink number={number}>All calls and data of this person</CallerLink>
        </>
      )}
    </Fold>
  )
}
