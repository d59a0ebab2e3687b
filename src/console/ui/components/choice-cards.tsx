import { Radio } from '@mantine/core'
import type { FieldProps } from './api-form.tsx'
import classes from './choice-cards.module.css'

interface ChoiceCardsProps extends FieldProps<string> {
  label: string
  choices: readonly { value: string; label: string; text: string }[]
  /** Each on a line of its own. */
  inRows?: boolean
}

/** One of a few choices, each with a sentence about it. */
export function ChoiceCards({ choices, inRows = false, ...group }: ChoiceCardsProps) {
  return (
    <Radio.Group {...group}>
      <div className={classes.choices} data-rows={inRows || undefined}>
        {choices.map(({ value, label, text }) => (
          <Radio.Card key={value} value={value} className={classes.choice}>
            <Radio.Indicator size="xs" />
            <span>
              <strong>{label}</strong>
              <span className="cb-dimmed">{text}</span>
            </span>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  )
}
