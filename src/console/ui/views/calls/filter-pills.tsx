import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type CallFilter, noValue, type ValueFilter } from '../../../../calls/filters.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'
import type { ChosenFilters, FilterChange } from './chosen-filters.ts'
import { DateFilter } from './date-filter.tsx'
import { dateRangeLabel, rangeToDays } from './date-range.ts'
import { filterLabels, valueLabel } from './filter-labels.ts'
import { ChoicePill, FormPill } from './pill.tsx'

interface ChosenProps {
  filters: ChosenFilters
  onChange: (change: FilterChange) => void
}

/** The control for one filter; nothing for a filter that is set together with another. */
export function FilterPill({ filter, ...chosen }: { filter: CallFilter } & ChosenProps) {
  const { filters, onChange } = chosen
  switch (filter.kind) {
    case 'choice':
    case 'flag': {
      const { name, kind } = filter
      const value = filters[name]
      const yesOrNo = value === 'true' ? 'Yes' : 'No'
      return (
        <ChoicePill
          label={filterLabels[name]}
          value={value}
          chosen={value && (kind === 'flag' ? yesOrNo : valueLabel(name, value))}
          options={filter.choices.map((choice) => ({ value: choice, label: valueLabel(name, choice) }))}
          onChoose={(choice) => onChange({ [name]: choice })}
          onClear={() => onChange({ [name]: undefined })}
        />
      )
    }
    case 'value':
    case 'equal':
      return <ValuePill filter={filter} {...chosen} />
    case 'since':
      return filter.name === 'from' ? <DatePill {...chosen} /> : null
    case 'digits':
      return <NumberPill {...chosen} />
    default:
      return null
  }
}

/** Offers the values in use, and having none where that can be asked for. Nothing while there is nothing to offer. */
function ValuePill({ filter: { name, kind }, filters, onChange }: { filter: ValueFilter } & ChosenProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const value = filters[name]
  // A value that reads `none` cannot be asked for.
  const inUse = (facets?.[name] ?? []).filter(({ value }) => value !== noValue)
  if (kind === 'equal' && inUse.length === 0 && !value) return null
  const none = kind === 'value' ? [{ value: noValue, label: valueLabel(name, noValue) }] : []
  return (
    <ChoicePill
      label={filterLabels[name]}
      value={value}
      chosen={value && valueLabel(name, value)}
      options={[
        ...inUse.map(({ value, calls }) => ({ value, label: valueLabel(name, value), count: calls })),
        ...none,
      ]}
      onChoose={(choice) => onChange({ [name]: choice })}
      onClear={() => onChange({ [name]: undefined })}
    />
  )
}

function DatePill({ filters, onChange }: ChosenProps) {
  return (
    <FormPill
      label={filterLabels.from}
      chosen={dateRangeLabel(filters, new Date()) || undefined}
      onClear={() => onChange({ from: undefined, to: undefined })}
    >
      {(close) => (
        <DateFilter
          days={rangeToDays(filters)}
          onChoose={(range) => {
            onChange(range)
            close()
          }}
        />
      )}
    </FormPill>
  )
}

function NumberPill({ filters: { number }, onChange }: ChosenProps) {
  return (
    <FormPill label={filterLabels.number} chosen={number} onClear={() => onChange({ number: undefined })}>
      {(close) => (
        <NumberForm
          number={number ?? ''}
          onApply={(typed) => {
            onChange({ number: typed || undefined })
            close()
          }}
        />
      )}
    </FormPill>
  )
}

function NumberForm({ number, onApply }: { number: string; onApply: (number: string) => void }) {
  const [typed, setTyped] = useState(number)
  const [isRefused, setIsRefused] = useState(false)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (typed.trim() && !/\d/.test(typed)) setIsRefused(true)
    else onApply(typed.trim())
  }
  return (
    <form className="cb-calls-number" onSubmit={apply}>
      <TextInput
        label="Caller’s or called number"
        description="The first digits, with the country’s code, or the last ones"
        placeholder="+1 555 01"
        error={isRefused && 'Type some digits of the number'}
        inputMode="tel"
        maxLength={40}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
      <Button type="submit" size="xs">
        Apply
      </Button>
    </form>
  )
}
