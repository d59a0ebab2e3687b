import { Group, SegmentedControl } from '@mantine/core'
import { DayField } from '../../components/day-field.tsx'
import { useDates } from '../../components/use-dates.ts'
import { type Expiry, expiresAtOf, expiryChoices } from './expiry.ts'
import classes from './settings.module.css'

interface ExpiryFieldProps {
  value: Expiry
  onChange: (expiry: Expiry) => void
  error?: string | undefined
}

/** When a key stops working: never, in some days, or at the end of a day. */
export function ExpiryField({ value, onChange, error }: ExpiryFieldProps) {
  const dates = useDates()
  const isOver = value.choice === 'date' && value.day !== '' && expiresAtOf(value, dates) === undefined
  return (
    <div>
      <p className={classes.label} id="expiry-label">
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
          <DayField label="Last day" day={value.day} onChoose={(day) => onChange({ ...value, day })} />
        )}
      </Group>
      {value.choice === 'date' && !isOver && (
        <p className={`${classes.fieldHint} ${classes.expiryHint}`}>
          The key works through the end of this day.
        </p>
      )}
      {isOver && <p className={classes.fieldError}>This day has passed. Choose today or a later day.</p>}
      {error && <p className={classes.fieldError}>{error}</p>}
    </div>
  )
}
