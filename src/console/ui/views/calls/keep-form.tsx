import { Button, Checkbox, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { useRefusal } from '../../session.ts'
import classes from './calls.module.css'

interface KeepFormProps {
  label: string
  placeholder?: string
  /** The name that is proposed. */
  proposed?: string
  button: string
  onKeep: (name: string, isShared: boolean) => Promise<void>
}

/** Keeps an address under a name, for the person or for everybody in the project. */
export function KeepForm({ label, placeholder, proposed = '', button, onKeep }: KeepFormProps) {
  const [name, setName] = useState(proposed)
  const [isShared, setIsShared] = useState(false)
  const refusal = useRefusal('change')
  const first = useFocus<HTMLInputElement>()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => onKeep(name.trim(), isShared),
    onSuccess: () => setName(proposed),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) mutate()
  }
  return (
    <form className={classes.keep} onSubmit={submit}>
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
    </form>
  )
}
