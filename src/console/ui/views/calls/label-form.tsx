import { Button, Stack, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { counted } from '../../components/figures.ts'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'

const labelCharsMax = 100
/** The form is at the bottom of the page, and its button below the fields. */
const upwards = { withinPortal: false, position: 'top-start' } as const

interface LabelFormProps {
  /** How many are labeled. */
  calls: number
  /** The labels that they have; null when nobody knows, as of calls that are not loaded. */
  held: readonly string[] | null
  onApply: (add: string[], remove: string[]) => void
}

/** Asks for the labels to add and to remove. */
export default function LabelForm({ calls, held, onApply }: LabelFormProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const known = facets?.label?.map(({ value }) => value) ?? []
  const removable = held ?? known
  const [add, setAdd] = useState<string[]>([])
  const [remove, setRemove] = useState<string[]>([])
  const first = useFocus<HTMLInputElement>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onApply(add, remove)
  }
  return (
    <Stack component="form" gap="sm" w={260} onSubmit={submit}>
      <TagsInput
        ref={first}
        label="Add labels"
        placeholder={add.length === 0 ? 'Type a label and press Enter' : ''}
        data={known}
        value={add}
        onChange={setAdd}
        maxTags={20}
        maxLength={labelCharsMax}
        acceptValueOnBlur
        comboboxProps={upwards}
      />
      {removable.length > 0 && (
        <TagsInput
          label="Remove labels"
          data={[...removable]}
          value={remove}
          onChange={(labels) => setRemove(labels.filter((label) => removable.includes(label)))}
          comboboxProps={upwards}
        />
      )}
      <Button type="submit" size="xs" disabled={add.length + remove.length === 0}>
        Apply to {counted(calls, 'call')}
      </Button>
    </Stack>
  )
}
