import { Group, Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ExplainedHit, ExplainedSearch } from '../../../../knowledge/search/explain.ts'
import { Empty } from '../../components/empty.tsx'
import { asPercent } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import classes from './playground.module.css'
import type { AskRequest } from './request.ts'
import { timeSegments } from './time-segments.ts'

interface PassagesProps {
  request: AskRequest
  answer: ExplainedSearch
}

/** What an agent would receive, how much of the question it covers, and how long each step took. */
export function Passages({ request, answer }: PassagesProps) {
  const { data, mode, coverage, told } = answer
  return (
    <Stack gap="sm" aria-live="polite" component="section" aria-label="Passages">
      <Paper withBorder p="sm">
        <TimeBar timed={answer} />
        {mode !== (request.mode ?? 'hybrid') && (
          <Text size="xs" mt={6}>
            Only {mode} search answered: the question’s embedding did not arrive in time.
          </Text>
        )}
      </Paper>
      {data.length === 0 && (
        <Empty title="No passage found">
          Nothing matches this question, and an agent is told so. Rephrase it or add the missing knowledge.
        </Empty>
      )}
      {data.length > 0 && coverage !== null && (
        <Text size="sm">
          <strong className="cb-figure">{asPercent(coverage)}</strong> of the question is covered.{' '}
          {told.length > 0 && <>An agent’s tool is told first: “{told.join(' ')}”</>}
        </Text>
      )}
      {data.length > 0 && !data.some(({ matched }) => matched.keyword) && (
        <Text size="sm">
          {mode === 'vector'
            ? 'Keyword search did not run. These passages are the closest in meaning, even if they are far off.'
            : 'No passage contains these words. These passages are the closest in meaning, even if they are far off.'}
        </Text>
      )}
      {data.map((hit, at) => (
        <HitCard key={`${hit.itemId} ${hit.position}`} rank={at + 1} hit={hit} />
      ))}
    </Stack>
  )
}

/** A passage as an agent receives it, with its rank in the keyword and the vector search. */
function HitCard({ rank, hit }: { rank: number; hit: ExplainedHit }) {
  const { itemId, name, heading, keywordRank, vectorRank, terms, text } = hit
  return (
    <Paper withBorder p="sm" component="article" aria-label={`Passage ${rank}`}>
      <Group justify="space-between" gap="xs" mb={6} align="flex-start">
        <div style={{ minWidth: 0, flex: '1 1 240px' }}>
          <Group gap={8} wrap="nowrap">
            <Text fw={600} className="cb-figure">
              {rank}
            </Text>
            <PageLink {...to.item(itemId)} fw={500} truncate dir="auto">
              {name}
            </PageLink>
          </Group>
          {heading && heading !== name && (
            <Text size="xs" c="dimmed" truncate dir="auto" title={heading}>
              {heading}
            </Text>
          )}
        </div>
        <Group gap={12}>
          {keywordRank !== null && <Faint>keyword #{keywordRank}</Faint>}
          {vectorRank !== null && <Faint>vector #{vectorRank}</Faint>}
        </Group>
      </Group>
      {terms.length > 0 && (
        <Text size="xs" c="dimmed" mb={4} style={{ overflowWrap: 'anywhere' }}>
          Matched words: <bdi>{terms.join(', ')}</bdi>
        </Text>
      )}
      <Text size="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    </Paper>
  )
}

function Faint({ children }: { children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed" className="cb-figure">
      {children}
    </Text>
  )
}

const parts = [
  { name: 'embedding', label: 'Embedding', color: 'var(--cb-accent)' },
  { name: 'vector', label: 'Vector', color: 'var(--cb-chart)' },
  { name: 'keyword', label: 'Keyword', color: 'var(--mantine-color-text)' },
  { name: 'fusion', label: 'Fusion', color: 'var(--cb-chart-faint)' },
] as const

const lineHeight = 5
const gap = 2

interface TimeBarProps {
  timed: Pick<ExplainedSearch, 'shares' | 'starts' | 'tookMs'>
}

/** When the parts of a search ran: what ran side by side is on two lines, one below the other. */
function TimeBar({ timed }: TimeBarProps) {
  const { shares, tookMs } = timed
  return (
    <div>
      <div aria-hidden className={classes.timeBar} style={{ height: 2 * lineHeight + gap }}>
        {timeSegments(timed).map(({ name, line, from, width }) => (
          <div
            key={name}
            style={{
              left: `${100 * from}%`,
              width: `${100 * width}%`,
              top: line === 1 ? lineHeight + gap : 0,
              height: line === null ? 2 * lineHeight + gap : lineHeight,
              background: parts.find((part) => part.name === name)?.color,
            }}
          />
        ))}
      </div>
      <Group gap="md">
        <Text size="xs" fw={600} className="cb-figure">
          {tookMs.toFixed(1)} ms
        </Text>
        {parts.map(({ name, label, color }) => (
          <Group key={name} gap={6}>
            <span
              aria-hidden
              className={classes.timePart}
              style={{ width: 8, height: 8, borderRadius: 2, background: color }}
            />
            <Faint>
              {label} {shares[name].toFixed(1)} ms
            </Faint>
          </Group>
        ))}
      </Group>
    </div>
  )
}
