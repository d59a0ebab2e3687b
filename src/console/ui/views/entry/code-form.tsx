import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { CodeField } from '../../components/code-field.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'

interface CodeFormProps {
  label: string
  onSignedIn: (session: SessionAnswer) => unknown
  /** Back to password, of this person or another. */
  onBack: () => void
}

/** The second step of signing in. */
export function CodeForm({ label, onSignedIn, onBack }: CodeFormProps) {
  const [code, setCode] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => onSignedIn(await unwrap(api.session.code.post({ code }))),
  })
  const isOver = error instanceof ApiProblem && error.status === 401
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (code.trim() !== '' && !isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack" aria-label={label} noValidate>
      <CodeField value={code} onChange={setCode} error={fieldErrors(error).code} />
      {error && !isAboutFields(error, ['code']) && <Problem error={error} />}
      <Button type="submit" loading={isPending} disabled={isOver || code.trim() === ''} fullWidth>
        {label}
      </Button>
      <Button variant="subtle" onClick={onBack} fullWidth>
        Back to password
      </Button>
    </form>
  )
}
