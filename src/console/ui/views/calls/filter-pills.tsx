import { useQuery } from '@tanstack/react-query'
import { type CallFilter, noValue } from '../../../../calls/filters.ts'
import { asDecimal } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'
import {
  type ChosenFilters,
  type FilterChange,
  type ManyFilter,
  oneOrMore,
  valuesOf,
} from './chosen-filters.ts'
import { DateFilter } from './date-filter.tsx'
import { dateRangeLabel, rangeToDays } from './date-range.ts'
import { FilterForm, type TypedFilter } from './filter-form.tsx'
import { filterLabels, valueLabel } from './filter-labels.ts'
import { ChoicePill, FormPill, ManyPill } from './pill.tsx'

interface ChosenProps {
  filters: ChosenFilters
  onChange: (change: FilterChange) => void
}

/** The control for one filter; nothing for a filter that is set together with another. */
export function FilterPill({ filter, ...chosen }: { filter: CallFilter } & ChosenProps) {
  const { filters, onChange } = chosen
  switch (filter.kind) {
    case 'choice':
    case 'mark':
    case 'flag': {
      const { name, kind } = filter
      const value = filters[name]
      const yesOrNo = value === 'true' ? 'Yes' : 'No'
      return (
        <ChoicePill
          label={filterLabels[name]}
          value={value}
          chosen={value && (kind === 'choice' ? valueLabel(name, value) : yesOrNo)}
          options={filter.choices.map((choice) => ({ value: choice, label: valueLabel(name, choice) }))}
          onChoose={(choice) => onChange({ [name]: choice })}
          onClear={() => onChange({ [name]: undefined })}
        />
      )
    }
    case 'value':
    case 'label':
    case 'equal':
      return <ValuePill filter={filter} {...chosen} />
    case 'since':
      return filter.name === 'from' ? <DatePill {...chosen} /> : null
    case 'least':
    case 'digits':
      return <TypedPill name={filter.name} {...chosen} />
    default:
      return null
  }
}

/** Offers the values in use, and having none where that can be asked for. Nothing while there is nothing to offer. */
function ValuePill({ filter: { name, kind }, filters, onChange }: { filter: ManyFilter } & ChosenProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const values = valuesOf(filters[name])
  // A value that reads `none` cannot be asked for.
  const inUse = (facets?.[name] ?? []).filter(({ value }) => value !== noValue)
  if (kind !== 'value' && inUse.length === 0 && values.length === 0) return null
  const none = kind === 'value' ? [{ value: noValue, label: valueLabel(name, noValue) }] : []
  const options = [
    ...inUse.map(({ value, label, calls }) => ({
      value,
      label: label ?? valueLabel(name, value),
      count: calls,
    })),
    ...none,
  ]
  const labelOf = (value: string) =>
    options.find((option) => option.value === value)?.label ?? valueLabel(name, value)
  return (
    <ManyPill
      label={filterLabels[name]}
      values={values}
      chosen={values.map(labelOf).join(', ') || undefined}
      options={options}
      onChoose={(chosen) => onChange({ [name]: oneOrMore(chosen) })}
      onClear={() => onChange({ [name]: undefined })}
    />
  )
}

function DatePill({ filters, onChange }: ChosenProps) {
  const dates = useDates()
  return (
    <FormPill
      label={filterLabels.from}
      chosen={dateRangeLabel(filters, dates, Date.now()) || undefined}
      onClear={() => onChange({ from: undefined, to: undefined })}
    >
      {(close) => (
        <DateFilter
          days={rangeToDays(filters, dates)}
          onChoose={(range) => {
            onChange(range)
            close()
          }}
        />
      )}
    </FormPill>
  )
}

const seconds = { inputMode: 'decimal', pattern: /^\d+(\.\d+)?$/, fault: 'Type a number of seconds' } as const

/** What is typed under each pill. */
const typedFilters: Record<'number' | 'minDuration', readonly TypedFilter[]> = {
  number: [
    {
      name: 'number',
      label: 'Caller’s or called number',
      description: 'The first digits, with the country’s code, or the last ones',
      placeholder: '+1 555 01',
      inputMode: 'tel',
      pattern: /\d/,
      fault: 'Type some digits of the number',
    },
  ],
  minDuration: [
    { name: 'minDuration', label: 'At least, in seconds', ...seconds },
    { name: 'maxDuration', label: 'At most, in seconds', ...seconds },
  ],
}

function TypedPill({ name, filters, onChange }: { name: keyof typeof typedFilters } & ChosenProps) {
  const fields = typedFilters[name]
  return (
    <FormPill
      label={filterLabels[name]}
      chosen={chosenText(name, filters)}
      onClear={() => onChange(Object.fromEntries(fields.map((field) => [field.name, undefined])))}
    >
      {(close) => (
        <FilterForm
          fields={fields}
          filters={filters}
          onApply={(change) => {
            onChange(change)
            close()
          }}
        />
      )}
    </FormPill>
  )
}

function chosenText(name: keyof typeof typedFilters, filters: ChosenFilters): string | undefined {
  if (name !== 'minDuration') return filters[name]
  // The largest number below 10, up to which a bar of the overview counts, reads as 10.
  const [least, most] = [filters.minDuration, filters.maxDuration].map(
    (bound) => bound && asDecimal(Number(bound)),
  )
  if (least === undefined) return most && `up to ${most} s`
  return most === undefined ? `from ${least} s` : `${least} to ${most} s`
}
