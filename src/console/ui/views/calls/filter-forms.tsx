import { Button, Skeleton, Stack, TextInput } from '@mantine/core'
import { type FormEvent, lazy, type ReactNode, Suspense, useState } from 'react'
import { type analysisPrefix, type FilterName, metadataPrefix } from '../../../../calls/filters.ts'
import { escapeValue, splitValues } from '../../../../text/values.ts'
import type { DayRange } from '../../components/calendar.tsx'
import { useDates } from '../../components/use-dates.ts'
import classes from './calls.module.css'
import { type ChosenFilters, type FilterChange, oneOrMore, valuesOf } from './chosen-filters.ts'
import { type RelativeDate, rangeOfRelative, relativeDateNames, relativeDates } from './date-ranges.ts'

const Calendar = lazy(() => import('../../components/calendar.tsx'))

/** A filter that is typed. */
export interface TypedFilter {
  name: FilterName
  label: string
  description?: string
  placeholder?: string
  inputMode?: 'tel' | 'decimal'
  /** What is typed has to match it. */
  pattern: RegExp
  /** What to say where it does not. */
  fault: string
}

interface TypedFormProps {
  fields: readonly TypedFilter[]
  filters: ChosenFilters
  onApply: (change: FilterChange) => void
}

/** Filters that are typed, applied together. An empty one is cleared. */
export function TypedForm({ fields, filters, onApply }: TypedFormProps) {
  const [typed, setTyped] = useState<{ [Name in FilterName]?: string }>(() =>
    Object.fromEntries(fields.map(({ name }) => [name, valuesOf(filters[name]).join(', ')])),
  )
  const [isRefused, setIsRefused] = useState(false)
  const textOf = (name: FilterName) => typed[name]?.trim() ?? ''
  const isFaulty = ({ name, pattern }: TypedFilter) => textOf(name) !== '' && !pattern.test(textOf(name))
  const apply = () => {
    if (fields.some(isFaulty)) setIsRefused(true)
    else onApply(Object.fromEntries(fields.map(({ name }) => [name, textOf(name) || undefined])))
  }
  return (
    <ApplyForm onApply={apply}>
      {fields.map((field, at) => (
        <TextInput
          key={field.name}
          label={field.label}
          description={field.description}
          placeholder={field.placeholder}
          error={isRefused && isFaulty(field) && field.fault}
          inputMode={field.inputMode ?? 'text'}
          maxLength={200}
          value={typed[field.name] ?? ''}
          onChange={(event) => setTyped({ ...typed, [field.name]: event.currentTarget.value })}
          data-autofocus={at === 0 || undefined}
        />
      ))}
    </ApplyForm>
  )
}

interface OwnFieldFormProps {
  prefix: typeof analysisPrefix | typeof metadataPrefix
  /** Its name; empty for one that is still to be named. */
  field: string
  values: string[]
  onApply: (change: FilterChange) => void
}

/** A field of the project's own, of the analysis or of metadata, and the values that match. */
export function OwnFieldForm({ prefix, field, values, onApply }: OwnFieldFormProps) {
  const [name, setName] = useState(field)
  const [text, setText] = useState(values.map(escapeValue).join(', '))
  const isMetadata = prefix === metadataPrefix
  const apply = () => {
    const wanted = splitValues(text).flatMap((value) => value.trim() || [])
    if (name.trim())
      onApply({
        ...(field && { [`${prefix}${field}`]: undefined }),
        [`${prefix}${name.trim()}`]: oneOrMore(wanted),
      })
  }
  return (
    <ApplyForm isReady={name.trim() !== '' && text.trim() !== ''} onApply={apply}>
      <TextInput
        label={isMetadata ? 'Metadata key' : 'Analysis field'}
        placeholder={isMetadata ? 'tenant' : 'topic'}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus={field === '' || undefined}
      />
      <TextInput
        label="Is any of"
        description="Top-level values, separated by commas; write \\, for a comma within one"
        placeholder="billing, refund"
        maxLength={300}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus={field !== '' || undefined}
      />
    </ApplyForm>
  )
}

interface ApplyFormProps {
  isReady?: boolean
  onApply: () => void
  children: ReactNode
}

function ApplyForm({ isReady = true, onApply, children }: ApplyFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onApply()
  }
  return (
    <Stack component="form" gap="sm" w={260} onSubmit={submit}>
      {children}
      <Button type="submit" size="xs" disabled={!isReady}>
        Apply
      </Button>
    </Stack>
  )
}

interface DateFilterProps {
  /** The days of the range that is set. */
  days: DayRange
  /** The name of the range, if it is set by one. */
  date?: RelativeDate | undefined
  /** @param date the name that was chosen */
  onChoose: (range: { from: string; to: string }, date?: RelativeDate) => void
}

/** Whole days by a name or by a calendar. */
export function DateFilter({ days, date: chosen, onChoose }: DateFilterProps) {
  const dates = useDates()
  const today = dates.dayOf(Date.now())
  const choose = (first: string, last: string) => onChoose(dates.rangeOf(first, last))
  return (
    <div className={classes.dates}>
      <div className={classes.datesPresets}>
        {relativeDateNames.map((date) => (
          <Button
            key={date}
            size="compact-sm"
            variant={date === chosen ? 'light' : 'subtle'}
            color="gray"
            justify="flex-start"
            aria-current={date === chosen || undefined}
            onClick={() => onChoose(rangeOfRelative(date, dates, Date.now()), date)}
          >
            {relativeDates[date].label}
          </Button>
        ))}
      </div>
      <Suspense fallback={<Skeleton width={252} height={288} />}>
        <Calendar of="two" days={days} today={today} onChoose={choose} />
      </Suspense>
    </div>
  )
}
