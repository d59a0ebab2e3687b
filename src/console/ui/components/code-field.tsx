import { TextInput } from '@mantine/core'
import { useFocus } from './use-focus.ts'

interface CodeFieldProps {
  value: string
  onChange: (code: string) => void
  error?: string | undefined
  /** Whether a backup code is of no use here. */
  isAppOnly?: boolean
  /** False where another field comes first: then it takes the focus only with an error. */
  takesFocus?: boolean
}

/** The code of a second factor. */
export function CodeField({ value, onChange, error, isAppOnly = false, takesFocus = true }: CodeFieldProps) {
  const field = useFocus<HTMLInputElement>(takesFocus ? error : (error ?? null))
  return (
    <TextInput
      ref={field}
      label="Code"
      description={isAppOnly ? undefined : 'Six digits from your authenticator app, or a backup code.'}
      name="code"
      autoComplete="one-time-code"
      inputMode={isAppOnly ? 'numeric' : 'text'}
      classNames={{ input: 'cb-mono' }}
      autoCapitalize="off"
      spellCheck={false}
      maxLength={40}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  )
}
