import {
  Box,
  Button,
  Group,
  NumberInput,
  Paper,
  Select,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { IconMessageQuestion, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import type { ExplainedHit, ExplainedSearch } from '../../../../knowledge/search/explain.ts'
import { pathOf, unwrap } from '../../api.ts'
import { CopyButton } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { asPercent } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { KeepButton } from '../questions/questions.tsx'
import { type AskRequest, toCurl } from './request.ts'
import { timeSegments } from './time-segments.ts'

const queryCharsMax = 2_000
const modes = [
  { value: 'hybrid', label: 'Hybrid' },
  { value: 'keyword', label: 'Keyword only' },
  { value: 'vector', label: 'Vector only' },
]

/** The width of a small field among the options. */
export const optionSize = { flex: '1 1 100px', maw: 160 }

interface AskFormProps {
  /** The initial request, such as that in the address. */
  initial: AskRequest
  /** Searches only these items; without it, the caller may offer a choice. */
  itemIds?: string[]
  /** Extra options, shown before the others. */
  options?: ReactNode
  /** Called with each request. */
  onAsk?: (request: AskRequest) => void
}

/** A form that asks a question as an agent would, and the answer. */
export function AskForm({ initial, itemIds, options, onAsk }: AskFormProps) {
  const { knowledge } = useProject().of
  const [draft, setDraft] = useState<AskRequest>(initial)
  const [sent, setSent] = useState<AskRequest>(initial)
  // On an item's page the focus stays on the tab.
  const question = useFocus<HTMLInputElement>(onAsk !== undefined && initial.query === '')
  // Going back and forward changes the request in the address.
  const address = JSON.stringify(initial)
  useEffect(() => {
    const fromAddress: AskRequest = JSON.parse(address)
    setDraft(fromAddress)
    setSent(fromAddress)
  }, [address])

  const request = { ...sent, ...(itemIds ? { itemIds } : {}) }
  const answer = useQuery({
    queryKey: [...pathOf(knowledge.search), request],
    queryFn: () => unwrap(knowledge.search.post(request)),
    enabled: request.query.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  })
  const ask = (next: AskRequest) => {
    if (next.query.trim() === '') return
    setSent(next)
    onAsk?.(next)
    if (JSON.stringify(next) === JSON.stringify(sent)) void answer.refetch()
  }

  const isSent = request.query.trim() !== ''
  return (
    <Stack gap="md">
      <form
        onSubmit={(event) => {
          // React passes it what the form of a dialog submits.
          if (event.target !== event.currentTarget) return
          event.preventDefault()
          ask(draft)
        }}
      >
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            ref={question}
            label="Question"
            placeholder="How long do I have to send something back?"
            maxLength={queryCharsMax}
            value={draft.query}
            onChange={({ currentTarget: { value } }) => setDraft({ ...draft, query: value })}
            leftSection={<IconSearch size={16} />}
            style={{ flex: 1 }}
          />
          <Button type="submit" loading={answer.isFetching} disabled={draft.query.trim() === ''}>
            Ask
          </Button>
        </Group>
        <Group gap="xs" align="flex-end" mt="xs">
          {options}
          <AskOptions draft={draft} onDraft={setDraft} onAsk={ask} />
          {isSent && <CopyButton value={toCurl(location.origin, request)} label="Copy as curl" withText />}
          {isSent && (
            <KeepButton question={{ query: sent.query, item: bestItem(answer.data) }} size="xs">
              Save as golden
            </KeepButton>
          )}
        </Group>
      </form>
      {!isSent && (
        <Empty icon={<IconMessageQuestion size={24} />} title="Ask what a caller would ask">
          See the passages an agent would receive, which search found each one, and how long each step took.
        </Empty>
      )}
      {answer.error && <Problem error={answer.error} onRetry={() => void answer.refetch()} />}
      {answer.isFetching && !answer.data && <Skeleton height={160} />}
      {answer.data && <Passages request={request} answer={answer.data} />}
    </Stack>
  )
}

/** The item of the first passage. */
function bestItem(answer: ExplainedSearch | undefined): { id: string; name: string } | null {
  const best = answer?.data[0]
  return best ? { id: best.itemId, name: best.name } : null
}

interface AskOptionsProps {
  draft: AskRequest
  onDraft: (draft: AskRequest) => void
  onAsk: (request: AskRequest) => void
}

/** How the question is searched for, and how long that may take. */
function AskOptions({ draft, onDraft, onAsk }: AskOptionsProps) {
  return (
    <>
      <Select
        label="Mode"
        size="xs"
        {...optionSize}
        data={modes}
        value={draft.mode ?? 'hybrid'}
        allowDeselect={false}
        onChange={(value) => {
          const mode = value === 'keyword' || value === 'vector' ? value : undefined
          onDraft({ ...draft, mode })
          onAsk({ ...draft, mode })
        }}
      />
      <NumberInput
        label="Passages"
        size="xs"
        {...optionSize}
        min={1}
        max={50}
        clampBehavior="strict"
        allowDecimal={false}
        value={draft.limit ?? 5}
        onChange={(value) => onDraft({ ...draft, limit: Number(value) || undefined })}
      />
      <NumberInput
        label="Time budget"
        suffix=" ms"
        size="xs"
        {...optionSize}
        min={10}
        max={10_000}
        step={50}
        allowDecimal={false}
        value={draft.timeoutMs ?? 300}
        onChange={(value) => onDraft({ ...draft, timeoutMs: Number(value) || undefined })}
      />
    </>
  )
}

/** What an agent would receive, how much of the question it covers, and how long each step took. */
function Passages({ request, answer }: { request: AskRequest; answer: ExplainedSearch }) {
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

/** When the parts of a search ran: what ran side by side is on two lines, one below the other. */
function TimeBar({ timed }: { timed: Pick<ExplainedSearch, 'shares' | 'starts' | 'tookMs'> }) {
  const { shares, tookMs } = timed
  return (
    <div>
      <Box aria-hidden pos="relative" h={2 * lineHeight + gap} mb={6} style={{ overflow: 'hidden' }}>
        {timeSegments(timed).map(({ name, line, from, width }) => (
          <div
            key={name}
            style={{
              position: 'absolute',
              forcedColorAdjust: 'none',
              minWidth: 1,
              left: `${100 * from}%`,
              width: `${100 * width}%`,
              top: line === 1 ? lineHeight + gap : 0,
              height: line === null ? 2 * lineHeight + gap : lineHeight,
              background: parts.find((part) => part.name === name)?.color,
            }}
          />
        ))}
      </Box>
      <Group gap="md">
        <Text size="xs" fw={600} className="cb-figure">
          {tookMs.toFixed(1)} ms
        </Text>
        {parts.map(({ name, label, color }) => (
          <Group key={name} gap={6}>
            <span
              aria-hidden
              style={{ width: 8, height: 8, borderRadius: 2, background: color, forcedColorAdjust: 'none' }}
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
