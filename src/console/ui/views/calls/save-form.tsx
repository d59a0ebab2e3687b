import { Button, Checkbox, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { useRefusal } from '../../session.ts'

interface SaveFormProps {
  label: string
  placeholder?: string
  /** The name that is proposed. */
  proposed?: string
  button: string
  onSave: (name: string, isShared: boolean) => Promise<void>
}

/** Saves an address under a name, for the person or for everybody in the project. */
export function SaveForm({ label, placeholder, proposed = '', button, onSave }: SaveFormProps) {
  const [name, setName] = useState(proposed)
  const [isShared, setIsShared] = useState(false)
  const refusal = useRefusal('change')
  const first = useFocus<HTMLInputElement>()
  const { mutate, isPending, error } = useMutation({ mutationFn: () => onSave(name.trim(), isShared) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) mutate()
  }
  return (
    <Stack component="form" gap="xs" onSubmit={submit}>
      <TextInput
        ref={first}
        label={label}
        placeholder={placeholder}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox
        size="xs"
        label="Share with everyone in the project"
        description={refusal}
        disabled={refusal !== null}
        checked={isShared}
        onChange={(event) => setIsShared(event.currentTarget.checked)}
      />
      {error && <Problem error={error} />}
      <Button type="submit" size="xs" loading={isPending} disabled={name.trim() === ''}>
        {button}
      </Button>
    </Stack>
  )
}
