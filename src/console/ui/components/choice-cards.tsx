import { Radio, SimpleGrid, type SimpleGridProps } from '@mantine/core'
import type { FieldProps } from './api-form.tsx'
import classes from './choice-cards.module.css'

interface ChoiceCardsProps<Value extends string> extends FieldProps<Value>, Pick<SimpleGridProps, 'cols'> {
  label: string
  choices: readonly { value: Value; label: string; text: string }[]
  /** Whether the chosen one has the focus at first. */
  takesFocus?: boolean
}

/** One of a few choices, each with a sentence about it. */
export function ChoiceCards<Value extends string>({
  label,
  choices,
  cols = { base: 1, xs: 2 },
  takesFocus = false,
  value: chosen,
  onChange,
  error,
}: ChoiceCardsProps<Value>) {
  const choose = (text: string) => {
    const choice = choices.find(({ value }) => value === text)
    if (choice) onChange(choice.value)
  }
  return (
    <Radio.Group label={label} value={chosen} onChange={choose} error={error}>
      <SimpleGrid cols={cols} spacing="xs">
        {choices.map(({ value, label, text }) => (
          <Radio.Card
            key={value}
            value={value}
            className={classes.choice}
            data-autofocus={(takesFocus && value === chosen) || undefined}
          >
            <Radio.Indicator size="xs" />
            <span>
              <strong>{label}</strong>
              <span className="cb-dimmed">{text}</span>
            </span>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  )
}
