import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { LinkFrame } from './link-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { useEntry } from './use-entry.ts'
import { useLink } from './use-link.ts'

const title = 'Choose a new password'

/** The page of a link for a new password. */
export function ResetView() {
  const { token, answer, error, retry } = useLink('password')
  if (answer?.kind !== 'password') {
    const advice =
      'A password link works once and expires after a day. An owner of your project, or whoever runs Callbook, can create a new one.'
    return <LinkFrame title={title} error={error} onRetry={retry} fields={2} advice={advice} />
  }
  return (
    <EntryFrame title={title} text="This signs you out everywhere else.">
      <ResetForm token={token} email={answer.email} />
    </EntryFrame>
  )
}

function ResetForm({ token, email }: { token: string; email: string }) {
  const [password, setPassword] = useState('')
  const enter = useEntry()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => enter(await unwrap(api.links.password.post({ token, password }))),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack" noValidate>
      {/* Also for password managers, which store the password under it. */}
      <TextInput label="Email address" type="email" autoComplete="username" value={email} readOnly />
      <NewPassword
        label="New password"
        value={password}
        onChange={setPassword}
        error={fieldErrors(error).password}
      />
      {error && !isAboutFields(error, ['password']) && <Problem error={error} />}
      <Button type="submit" loading={isPending} fullWidth>
        Set password
      </Button>
    </form>
  )
}
