import { PasswordInput } from '@mantine/core'
import { counted } from '../../components/figures.ts'

export const passwordCharsMin = 10
const passwordCharsMax = 128

interface NewPasswordProps {
  label?: string
  value: string
  onChange: (value: string) => void
  error?: string | undefined
}

/** A field for a new password. Only its length is checked. */
export function NewPassword({ label = 'Password', value, onChange, error }: NewPasswordProps) {
  const missing = passwordCharsMin - value.length
  const rule =
    value !== '' && missing > 0
      ? counted(missing, 'more character')
      : `At least ${passwordCharsMin} characters. A few words in a row work well.`
  return (
    <PasswordInput
      label={label}
      name="password"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="new-password"
      minLength={passwordCharsMin}
      maxLength={passwordCharsMax}
      required
      withAsterisk={false}
      description={rule}
      error={error}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    />
  )
}
