import { Modal, Select, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { Warning } from '../../components/warning.tsx'
import { questionKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import { itemsQuery, rowsOf } from '../knowledge/queries.ts'

const queryCharsMax = 2_000
const typingPauseMs = 250

/** A question that a person is about to keep. */
export interface QuestionToKeep {
  query: string
  /** The call in which it was asked, if it is known. */
  callId?: string | null
  /** The item that probably answers it. */
  item?: { id: string; name: string } | null
  /** The golden question whose place it takes. */
  replaces?: string
}

interface KeepDialogProps extends PopupProps {
  question: QuestionToKeep
  /** Of the dialog and its button. */
  title?: string
  label?: string
  onKept?: (itemId: string) => void
}

/** Keeps a question as a golden one. Asks first when it repeats what was said in a call. */
export default function KeepDialog({
  target,
  opened,
  onChange,
  title = 'Keep as a golden question',
  ...form
}: KeepDialogProps) {
  const close = () => onChange(false)
  return (
    <>
      {target}
      <Modal opened={opened} onClose={close} title={title} size={520}>
        {opened && <KeepForm {...form} onClose={close} />}
      </Modal>
    </>
  )
}

type KeepFormProps = Pick<KeepDialogProps, 'question' | 'label' | 'onKept'> & { onClose: () => void }

function KeepForm({ question, label = 'Keep', onKept, onClose }: KeepFormProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [query, setQuery] = useState(question.query)
  const [item, setItem] = useState(question.item ?? null)
  const [wordsOfCall, setWordsOfCall] = useState(question.callId ? question.query : null)
  const isOfCall = query.trim() === wordsOfCall?.trim()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (itemId: string) =>
      unwrap(
        api.projects({ project }).questions.golden.post({
          query: query.trim(),
          itemId,
          ...(isOfCall && { keepsWordsOfCall: true, ...(question.callId && { callId: question.callId }) }),
          ...(question.replaces && { replaces: question.replaces }),
        }),
      ),
    onSuccess: async (_, itemId) => {
      await queryClient.invalidateQueries({ queryKey: questionKeys.all(project) })
      onClose()
      notifications.show({ message: 'Golden question kept.' })
      onKept?.(itemId)
    },
    onError: (refusal) => {
      if (isAboutCall(refusal)) setWordsOfCall(query)
    },
  })
  return (
    <ActionForm
      label={isOfCall ? 'Keep until the call is erased' : label}
      isReady={query.trim() !== '' && item !== null}
      isPending={isPending}
      onSubmit={() => item && mutate(item.id)}
      onCancel={onClose}
    >
      <Textarea
        label="Question"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={queryCharsMax}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        data-autofocus
      />
      {isOfCall && (
        <Warning>
          These words were said in a call. They are erased when the call is. Reword the question to keep it
          longer, without what only this caller would say.
        </Warning>
      )}
      <ItemSelect project={project} item={item} onChange={setItem} />
      {error && !isAboutCall(error) && <Problem error={error} />}
    </ActionForm>
  )
}

function isAboutCall(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'words_of_a_call'
}

type ItemChoice = { id: string; name: string } | null

interface ItemSelectProps {
  project: string
  item: ItemChoice
  onChange: (item: ItemChoice) => void
}

/** Chooses an item by its name. */
function ItemSelect({ project, item, onChange }: ItemSelectProps) {
  const [typed, setTyped] = useState(item?.name ?? '')
  const [name] = useDebouncedValue(typed.trim(), typingPauseMs)
  // The chosen item's own name would find nothing else.
  const found = rowsOf(useInfiniteQuery(itemsQuery(project, name === item?.name ? '' : name)).data)
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
