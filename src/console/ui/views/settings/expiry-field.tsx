import { Group, SegmentedControl } from '@mantine/core'
import { DatePickerInput } from '@mantine/dates'
import dayjs from 'dayjs'
import { type Expiry, expiresAtOf, expiryChoices } from './expiry.ts'

const dayFormat = 'MMM D, YYYY'
const placeholder = 'Choose a day'

interface ExpiryFieldProps {
  value: Expiry
  onChange: (expiry: Expiry) => void
  error?: string | undefined
}

/** When a key stops working: never, in some days, or at the end of a day. */
export function ExpiryField({ value, onChange, error }: ExpiryFieldProps) {
  const isOver = value.choice === 'date' && value.day !== '' && expiresAtOf(value) === undefined
  return (
    <div>
      <p className="cb-label" id="expiry-label">
        Expires
      </p>
      <Group gap="xs">
        <SegmentedControl
          size="xs"
          aria-labelledby="expiry-label"
          value={value.choice}
          onChange={(choice) => onChange({ ...value, choice })}
          data={[...expiryChoices]}
        />
        {value.choice === 'date' && (
          <DatePickerInput
            size="xs"
            aria-label={`Last day on which the key works: ${value.day ? dayjs(value.day).format(dayFormat) : placeholder}`}
            placeholder={placeholder}
            valueFormat={dayFormat}
            minDate={dayjs().format('YYYY-MM-DD')}
            value={value.day || null}
            onChange={(day) => onChange({ ...value, day: day ?? '' })}
            popoverProps={{ withinPortal: true }}
          />
        )}
      </Group>
      {value.choice === 'date' && !isOver && (
        <p className="cb-field-hint cb-expiry-hint">The key works until the end of this day.</p>
      )}
      {isOver && <p className="cb-field-error">This day is over: choose today or a later day.</p>}
      {error && <p className="cb-field-error">{error}</p>}
    </div>
  )
}
