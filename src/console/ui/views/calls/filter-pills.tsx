import { useQuery } from '@tanstack/react-query'
import { type CallFilter, type FilterName, noValue } from '../../../../calls/filters.ts'
import { asDecimal } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'
import {
  type ChosenFilters,
  type FilterChange,
  type ManyFilter,
  oneOrMore,
  statuses,
  valuesOf,
} from './chosen-filters.ts'
import { DateFilter } from './date-filter.tsx'
import { dateRangeLabel, rangeToDays } from './date-range.ts'
import { FilterForm, type TypedFilter } from './filter-form.tsx'
import { filterLabels, valueLabel } from './filter-labels.ts'
import { ChoicePill, FormPill, ManyPill, PlainPill } from './pill.tsx'
import { relativeDateOf, relativeDates } from './relative-dates.ts'
import { useAsked } from './use-asked.ts'

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
          options={(name === 'status' ? statuses : filter.choices).map((choice) => ({
            value: choice,
            label: valueLabel(name, choice),
          }))}
          counted={name === 'status' ? undefined : { name, filters }}
          onChoose={(choice) => onChange({ [name]: choice })}
          onClear={() => onChange({ [name]: undefined })}
        />
      )
    }
    case 'value':
    case 'given':
    case 'listed':
      return <ValuePill filter={filter} {...chosen} />
    case 'since':
      if (filter.name === 'from') return <DatePill {...chosen} />
      return <AddressPill name={filter.name} {...chosen} />
    case 'before':
      return filter.name === 'to' ? null : <AddressPill name={filter.name} {...chosen} />
    case 'exact':
      return <AddressPill name={filter.name} {...chosen} />
    case 'least':
      if (filter.name === 'minDuration') return <TypedPill name={filter.name} {...chosen} />
      return <AddressPill name={filter.name} {...chosen} />
    case 'most':
      return filter.name === 'maxDuration' ? null : <AddressPill name={filter.name} {...chosen} />
    case 'digits':
      return <TypedPill name={filter.name} {...chosen} />
    default:
      return null
  }
}

/** A filter that only the URL can set. */
function AddressPill({ name, filters, onChange }: { name: FilterName } & ChosenProps) {
  const dates = useDates()
  const text = valuesOf(filters[name]).join(', ')
  if (!text) return null
  const isTime = name === 'updatedFrom' || name === 'completedFrom' || name === 'completedTo'
  const shown = isTime ? dates.exact(text) : text
  return <PlainPill label={filterLabels[name]} text={shown} onClear={() => onChange({ [name]: undefined })} />
}

interface InUse {
  value: string
  label?: string
  calls?: number
}

/** Offers the values in use, and `none`. Nothing if no call has a value, but for those that most calls get. */
function ValuePill({ filter, filters, onChange }: { filter: ManyFilter } & ChosenProps) {
  const { name } = filter
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const values = valuesOf(filters[name])
  // A value that is literally `none` cannot be requested.
  const choices = 'choices' in filter ? filter.choices : undefined
  const isFixed = name === 'direction' || name === 'recording' || name === 'sound'
  const facet = isFixed ? undefined : facets?.[name]
  const all: readonly InUse[] = choices?.map((value) => ({ value })) ?? facet ?? []
  const inUse = all.filter(({ value }) => value !== noValue)
  const isUsual = name === 'evaluation' || name === 'endedReason'
  if (!isUsual && inUse.length === 0 && values.length === 0) return null
  const options = [
    ...inUse.map(({ value, label, calls }) => ({
      value,
      label: label ?? valueLabel(name, value),
      count: calls,
    })),
    { value: noValue, label: valueLabel(name, noValue) },
  ]
  const labelOf = (value: string) =>
    options.find((option) => option.value === value)?.label ?? valueLabel(name, value)
  return (
    <ManyPill
      label={filterLabels[name]}
      counted={{ name, filters }}
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
  const asked = useAsked(filters)
  const date = relativeDateOf(filters.date)
  const label = date ? relativeDates[date].label : dateRangeLabel(filters, dates, Date.now())
  return (
    <FormPill
      label={filterLabels.from}
      chosen={label || undefined}
      onClear={() => onChange({ date: undefined, from: undefined, to: undefined })}
    >
      {(close) => (
        <DateFilter
          days={rangeToDays(asked, dates)}
          date={date}
          onChoose={(range, name) => {
            onChange(name ? { date: name, from: undefined, to: undefined } : { date: undefined, ...range })
            close()
          }}
        />
      )}
    </FormPill>
  )
}

const seconds = {
  inputMode: 'decimal',
  pattern: /^\d+(\.\d+)?$/,
  fault: 'Enter a number of seconds',
} as const

/** The typed filters of each pill. */
const typedFilters: Record<'number' | 'minDuration', readonly TypedFilter[]> = {
  number: [
    {
      name: 'number',
      label: 'Caller’s or called number',
      description: 'The first digits with the country code, or the last digits',
      placeholder: '+1 555 01',
      inputMode: 'tel',
      pattern: /\d/,
      fault: 'Enter some digits of the number',
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
