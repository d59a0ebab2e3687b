import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { NewPassword } from './new-password.tsx'

interface NewPerson {
  name: string
  email: string
  password: string
}

interface NewPersonFormProps {
  /** The button's label. */
  label: string
  onSubmit: (person: NewPerson) => Promise<unknown>
}

const names = ['name', 'email', 'password']

/** Creates an account: name, email address and password. */
export function NewPersonForm({ label, onSubmit }: NewPersonFormProps) {
  const [person, setPerson] = useState<NewPerson>({ name: '', email: '', password: '' })
  const { mutate, isIdle, isPending, error } = useMutation({
    mutationFn: () => onSubmit({ ...person, name: person.name.trim(), email: person.email.trim() }),
  })
  const errors = fieldErrors(error)
  // The first field, and again the first one at fault.
  const fault = names.find((name) => errors[name] !== undefined)
  const first = useFocus<HTMLInputElement>(fault === 'name' ? error : isIdle || null)
  const second = useFocus<HTMLInputElement>(fault === 'email' ? error : null)
  const third = useFocus<HTMLInputElement>(fault === 'password' ? error : null)
  const change = (part: Partial<NewPerson>) => setPerson({ ...person, ...part })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack" aria-label={label} noValidate>
      <TextInput
        ref={first}
        label="Name"
        name="name"
        autoComplete="name"
        required
        withAsterisk={false}
        maxLength={200}
        value={person.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={errors.name}
      />
      <TextInput
        ref={second}
        label="Email address"
        type="email"
        name="email"
        autoComplete="username"
        required
        withAsterisk={false}
        maxLength={320}
        value={person.email}
        onChange={(event) => change({ email: event.currentTarget.value })}
        error={errors.email}
      />
      <NewPassword
        ref={third}
        value={person.password}
        onChange={(password) => change({ password })}
        error={errors.password}
      />
      {error && !isAboutFields(error, names) && <Problem error={error} />}
      <Button type="submit" loading={isPending} fullWidth>
        {label}
      </Button>
    </form>
  )
}
