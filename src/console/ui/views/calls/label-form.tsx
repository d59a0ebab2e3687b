import { Button, TagsInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { api, unwrap } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'
import classes from './calls.module.css'

const labelCharsMax = 100
/** The form is at the bottom of the page, and its button below the fields. */
const upwards = { withinPortal: false, position: 'top-start' } as const

interface LabelFormProps {
  ids: string[]
  rows: readonly CallRow[]
  onDone: () => void
}

/** Asks for the labels to add and to remove. */
export default function LabelForm({ ids, rows, onDone }: LabelFormProps) {
  const project = useProject()
  const queryClient = useQueryClient()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const [add, setAdd] = useState<string[]>([])
  const [remove, setRemove] = useState<string[]>([])
  const first = useFocus<HTMLInputElement>()
  const selected = rows.filter(({ id }) => ids.includes(id))
  const held = [...new Set(selected.flatMap(({ review }) => review?.labels ?? []))]
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      unwrap(
        api
          .projects({ project: project.id })
          .calls.review.post({ ids, change: { addLabels: add, removeLabels: remove } }),
      ),
    onSuccess: ({ changed, failed }) => {
      for (const keys of [callKeys.first, callKeys.facets, callKeys.details])
        void queryClient.invalidateQueries({ queryKey: keys(project.id) })
      const refused =
        failed.length > 0 ? `. ${counted(failed.length, 'call')} failed: ${failed[0]?.message}` : ''
      notifications.show({ message: `${counted(changed.length, 'call')} labeled${refused}` })
      onDone()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      <TagsInput
        ref={first}
        label="Add labels"
        placeholder={add.length === 0 ? 'Type a label and press Enter' : ''}
        data={facets?.label?.map(({ value }) => value) ?? []}
        value={add}
        onChange={setAdd}
        maxTags={20}
        maxLength={labelCharsMax}
        acceptValueOnBlur
        comboboxProps={upwards}
      />
      {held.length > 0 && (
        <TagsInput
          label="Remove labels"
          data={held}
          value={remove}
          onChange={(labels) => setRemove(labels.filter((label) => held.includes(label)))}
          comboboxProps={upwards}
        />
      )}
      {error && <Problem error={error} />}
      <Button type="submit" size="xs" loading={isPending} disabled={add.length + remove.length === 0}>
        Apply to {counted(ids.length, 'call')}
      </Button>
    </form>
  )
}
