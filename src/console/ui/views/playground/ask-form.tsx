import { Button, Group, NumberInput, Select, Skeleton, Stack, TextInput } from '@mantine/core'
import { IconMessageQuestion, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import type { ExplainedSearch } from '../../../../knowledge/search/explain.ts'
import { pathOf, unwrap } from '../../api.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { KeepButton } from '../questions/keep-button.tsx'
import { Passages } from './passages.tsx'
import classes from './playground.module.css'
import { type AskRequest, toCurl } from './request.ts'

const queryCharsMax = 2_000
const modes = [
  { value: 'hybrid', label: 'Hybrid' },
  { value: 'keyword', label: 'Keyword only' },
  { value: 'vector', label: 'Vector only' },
]

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
        <div className={classes.askOptions}>
          {options}
          <AskOptions draft={draft} onDraft={setDraft} onAsk={ask} />
          {isSent && <CopyButton value={toCurl(location.origin, request)} label="Copy as curl" withText />}
          {isSent && (
            <KeepButton question={{ query: sent.query, item: bestItem(answer.data) }} size="xs">
              Save as golden
            </KeepButton>
          )}
        </div>
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
