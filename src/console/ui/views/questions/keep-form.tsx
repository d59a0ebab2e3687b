import { Select, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import type { TagFilter } from '../../../../text/tags.ts'
import { ApiProblem } from '../../api.ts'
import { ApiForm, type FieldProps, useApiForm } from '../../components/api-form.tsx'
import { Warning } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { rowsOf, useItems } from '../knowledge/queries.ts'

const queryCharsMax = 2_000
const typingPauseMs = 250
/** The service's answer where a question repeats what was said in a call. */
const refusal = 'words_of_a_call'

type ItemChoice = { id: string; name: string } | null

interface KeepFormProps {
  question: {
    query: string
    /** The tags within which it was asked. */
    tags?: TagFilter
    /** The call in which it was asked, if it is known. */
    callId?: string | null
    /** The item that probably answers it. */
    item?: ItemChoice
    /** The golden question whose place it takes. */
    replaces?: string
  }
  /** The button's. */
  label?: string
  onKept?: (itemId: string) => void
  onClose: () => void
}

/** Keeps a question as a golden one. Asks first when it repeats what was said in a call. */
export default function KeepForm({ question, label = 'Keep', onKept, onClose }: KeepFormProps) {
  const { of } = useProject()
  const { callId, replaces, tags = [] } = question
  // Only the service may know that these words were said in a call.
  const [wordsOfCall, setWordsOfCall] = useState(callId ? question.query.trim() : null)
  const form = useApiForm({
    first: { query: question.query, item: question.item ?? (null as ItemChoice) },
    needs: ['query'],
    isReady: ({ item }) => item !== null,
    body: ({ query, item }) => ({
      query: query.trim(),
      itemId: item?.id ?? '',
      ...(query.trim() === wordsOfCall && { keepsWordsOfCall: true, ...(callId && { callId }) }),
      ...(replaces && { replaces }),
      tags: tags.map((group) => [...group]),
    }),
    send: async (body) => {
      const answer = await of.questions.golden.post(body)
      if (Object(answer.error?.value).code === refusal) setWordsOfCall(body.query)
      return answer
    },
    changes: of.questions,
    says: 'Golden question kept.',
    done: (_, { itemId }) => {
      onClose()
      onKept?.(itemId)
    },
  })
  const { error } = form.state
  const isAsked = error instanceof ApiProblem && error.code === refusal
  const isOfCall = form.values.query.trim() === wordsOfCall
  return (
    <ApiForm
      form={isAsked ? { state: { ...form.state, error: null } } : form}
      label={isOfCall ? 'Keep until the call is erased' : label}
      onCancel={onClose}
    >
      <Textarea
        label="Question"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={queryCharsMax}
        data-autofocus
        {...form.field('query')}
      />
      {isOfCall && (
        <Warning>
          These words were said in a call. They are erased when the call is. Reword the question to keep it
          longer, without what only this caller would say.
        </Warning>
      )}
      <ItemSelect {...form.input('item')} />
    </ApiForm>
  )
}

function ItemSelect({ value: item, onChange }: Omit<FieldProps<ItemChoice>, 'error'>) {
  const [typed, setTyped] = useState(item?.name ?? '')
  const [name] = useDebouncedValue(typed.trim(), typingPauseMs)
  // The chosen item's own name would find nothing else.
  const found = rowsOf(useItems(name === item?.name ? '' : name).data)
  const names = new Map(found.map((row) => [row.id, row.name]))
  if (item) names.set(item.id, item.name)
  return (
    <Select
      label="Item that answers it"
      placeholder="Type a part of its name"
      searchable
      nothingFoundMessage="No item name contains this"
      comboboxProps={{ withinPortal: true }}
      searchValue={typed}
      onSearchChange={setTyped}
      value={item?.id ?? null}
      data={[...names].map(([value, label]) => ({ value, label }))}
      onChange={(id) => onChange(id === null ? null : { id, name: names.get(id) ?? id })}
    />
  )
}
