import { Button, Group, NumberInput, Paper, Select, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { IconMessageQuestion, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { Problem } from '../../components/problem.tsx'
import { HitCard } from './hit-card.tsx'
import { type AskRequest, toCurl } from './request.ts'
import { TimeBar } from './time-bar.tsx'

const queryCharsMax = 2_000
const modes = [
  { value: 'hybrid', label: 'Hybrid' },
  { value: 'keyword', label: 'Keyword only' },
  { value: 'vector', label: 'Vector only' },
]

interface AskFormProps {
  project: string
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
export function AskForm({ project, initial, itemIds, options, onAsk }: AskFormProps) {
  const [draft, setDraft] = useState<AskRequest>(initial)
  const [asked, setAsked] = useState<AskRequest>(initial)
  // Going back and forward changes the request in the address.
  const address = JSON.stringify(initial)
  useEffect(() => {
    const fromAddress: AskRequest = JSON.parse(address)
    setDraft(fromAddress)
    setAsked(fromAddress)
  }, [address])

  const request = { ...asked, ...(itemIds ? { itemIds } : {}) }
  const answer = useQuery({
    queryKey: ['knowledge', project, 'ask', request],
    queryFn: () => unwrap(api.projects({ project }).knowledge.search.post(request)),
    enabled: request.query.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  })
  const ask = (next: AskRequest) => {
    if (next.query.trim() === '') return
    setAsked(next)
    onAsk?.(next)
    if (JSON.stringify(next) === JSON.stringify(asked)) void answer.refetch()
  }

  return (
    <Stack gap="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          ask(draft)
        }}
      >
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label="Question"
            placeholder="How long do I have to send something back?"
            maxLength={queryCharsMax}
            value={draft.query}
            onChange={({ currentTarget: { value } }) => setDraft({ ...draft, query: value })}
            leftSection={<IconSearch size={16} />}
            style={{ flex: 1 }}
            data-autofocus
          />
          <Button type="submit" loading={answer.isFetching} disabled={draft.query.trim() === ''}>
            Ask
          </Button>
        </Group>
        <Group gap="xs" mt="xs" align="flex-end">
          {options}
          <Select
            label="Mode"
            size="xs"
            w={140}
            data={modes}
            value={draft.mode ?? 'hybrid'}
            allowDeselect={false}
            onChange={(value) => {
              const mode = value === 'keyword' || value === 'vector' ? value : undefined
              setDraft({ ...draft, mode })
              ask({ ...draft, mode })
            }}
          />
          <NumberInput
            label="Passages"
            size="xs"
            w={90}
            min={1}
            max={50}
            clampBehavior="strict"
            allowDecimal={false}
            value={draft.limit ?? 5}
            onChange={(value) => setDraft({ ...draft, limit: Number(value) || undefined })}
          />
          <NumberInput
            label="Time budget"
            suffix=" ms"
            size="xs"
            w={110}
            min={10}
            max={10_000}
            step={50}
            allowDecimal={false}
            value={draft.timeoutMs ?? 300}
            onChange={(value) => setDraft({ ...draft, timeoutMs: Number(value) || undefined })}
          />
          {request.query.trim() !== '' && (
            <CopyButton value={toCurl(location.origin, request)} label="Copy as curl" withText />
          )}
        </Group>
      </form>
      {request.query.trim() === '' && (
        <Empty icon={<IconMessageQuestion size={24} />} title="Ask what a caller would ask">
          See the passages an agent would receive, which search found each one, and how long each step took.
        </Empty>
      )}
      {answer.error && <Problem error={answer.error} onRetry={() => void answer.refetch()} />}
      {answer.isFetching && !answer.data && <Skeleton height={160} />}
      {answer.data && (
        <Stack gap="sm" aria-live="polite" component="section" aria-label="Passages">
          <Paper withBorder p="sm">
            <TimeBar timed={answer.data} />
            {answer.data.mode !== (request.mode ?? 'hybrid') && (
              <Text size="xs" mt={6}>
                Only {answer.data.mode} search answered: the question’s embedding did not arrive in time.
              </Text>
            )}
          </Paper>
          {answer.data.data.length === 0 && (
            <Empty title="No passage found">
              Nothing matches this question. Rephrase it or add the missing knowledge.
            </Empty>
          )}
          {answer.data.data.length > 0 && !answer.data.data.some(({ matched }) => matched.keyword) && (
            <Text size="sm">
              {answer.data.mode === 'vector'
                ? 'Keyword search did not run. These passages are the closest in meaning, even if they are far off.'
                : 'No passage contains these words. These passages are the closest in meaning, even if they are far off.'}
            </Text>
          )}
          {answer.data.data.map((hit, at) => (
            <HitCard key={`${hit.itemId} ${hit.position}`} project={project} rank={at + 1} hit={hit} />
          ))}
        </Stack>
      )}
    </Stack>
  )
}
