import { Button, Group, TextInput, type TextInputProps } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { sessionQuery } from '../../session.ts'

interface NameFormProps {
  /** The current name. */
  current: string
  save: (name: string) => Promise<{ name: string }>
  /** The message after saving. */
  sentence: (name: string) => string
  field: Pick<TextInputProps, 'label' | 'aria-label' | 'autoComplete'>
}

/** Renames a project or a person; the session contains both names. */
export function NameForm({ current, save, sentence, field }: NameFormProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(current)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => save(name.trim()),
    onSuccess: async (renamed) => {
      await queryClient.refetchQueries(sessionQuery)
      setName(renamed.name)
      notifications.show({ message: sentence(renamed.name) })
    },
  })
  const isChanged = name.trim() !== '' && name.trim() !== current
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isChanged && !isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack">
      <TextInput
        {...field}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        error={fieldErrors(error).name}
      />
      {error && !isAboutFields(error, ['name']) && <Problem error={error} />}
      <Group justify="flex-end">
        <Button type="submit" disabled={!isChanged} loading={isPending}>
          Save
        </Button>
      </Group>
    </form>
  )
}
