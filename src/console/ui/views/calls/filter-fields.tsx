import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  analysisPrefix,
  type CallFilter,
  callFilters,
  criterionPrefix,
  type FilterName,
  metadataPrefix,
  noValue,
  verdicts,
} from '../../../../calls/filters.ts'
import type { Dates } from '../../components/dates.ts'
import { asDecimal } from '../../components/figures.ts'
import { useNow } from '../../components/instant.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { facetsQuery } from './call-queries.ts'
import {
  type ChosenFilters,
  type FilterChange,
  isFiltered,
  type ManyFilter,
  type OwnFilter,
  oneOrMore,
  ownFilters,
  type ResolvedFilters,
  resolveFilters,
  statuses,
  valuesOf,
} from './chosen-filters.ts'
import { dateRangeLabel, rangeToDays, relativeDateOf, relativeDates } from './date-ranges.ts'
import { DateFilter, OwnFieldForm, type TypedFilter, TypedForm } from './filter-forms.tsx'
import {
  type Choices,
  filterLabels,
  leastHeard,
  type Option,
  valueLabel,
  verdictWords,
} from './filter-labels.ts'

/** A filter, as it is shown and set. */
export interface FilterField {
  /** Unique among the fields. */
  name: string
  label: string
  /** What is chosen, in words; undefined if nothing is. */
  chosen: string | undefined
  onClear: () => void
  /** How it is set; undefined for one that only the address can set. */
  control: Choices | { form: (close: () => void) => ReactNode } | undefined
}

interface FieldsOptions {
  filters: ChosenFilters
  /** Filters that are not offered. */
  omitted: readonly string[]
  onChange: (change: FilterChange) => void
  /** Whether to know all that can be set, not only what is. */
  isOffering: boolean
}

/** The filters of calls, and what can be chosen of each. Those that no call has a value for are left out. */
export function useFilterFields({ filters, omitted, onChange, isOffering }: FieldsOptions): FilterField[] {
  const project = useProject()
  const dates = useDates()
  const resolvedFilters = useResolvedFilters(filters)
  const isSet = isFiltered({ ...filters, text: undefined })
  const { data: facets } = useQuery({ ...facetsQuery(project.id), enabled: isOffering || isSet })
  const isJudged = ownFilters(filters, criterionPrefix).length > 0
  const { data } = useQuery({ ...rubricQuery(project.id), enabled: isOffering || isJudged })
  const known = { filters, resolvedFilters, facets, dates, onChange }
  const own = ([analysisPrefix, metadataPrefix] as const).flatMap((prefix) =>
    [...ownFilters(filters, prefix).map((name) => name.slice(prefix.length)), ''].map((field) =>
      ownField(prefix, field, known),
    ),
  )
  const criteria = new Map(
    data?.rubric?.criteria.map(({ id, name }): [OwnFilter, string] => [`${criterionPrefix}${id}`, name]),
  )
  const judged = [...new Set([...ownFilters(filters, criterionPrefix), ...criteria.keys()])].map((name) => {
    const label = criteria.get(name) ?? name.slice(criterionPrefix.length)
    return choiceField({ name, label, options: verdictOptions, isMany: true }, known)
  })
  return [...callFilters.flatMap((filter) => fieldOf(filter, known) ?? []), ...own, ...judged].filter(
    ({ name }) => !omitted.includes(name),
  )
}

const verdictOptions = verdicts.map((value) => ({ value, label: verdictWords[value] }))

interface Known {
  filters: ChosenFilters
  resolvedFilters: ChosenFilters
  facets: { [Name in string]?: readonly InUse[] } | undefined
  dates: Dates
  onChange: (change: FilterChange) => void
}

interface InUse {
  value: string
  label?: string
  calls?: number
}

/** Undefined for a filter that is set together with another, or that is neither set nor offered. */
function fieldOf(filter: CallFilter, known: Known): FilterField | undefined {
  const { name } = filter
  const label = filterLabels[name]
  switch (filter.kind) {
    case 'choice':
    case 'mark':
    case 'flag': {
      const options = (name === 'status' ? statuses : filter.choices).map((value) => ({
        value,
        label: valueLabel(name, value),
      }))
      // A silent call is live, too.
      return choiceField({ name, label, options, counted: name === 'status' ? undefined : name }, known)
    }
    case 'value':
    case 'given':
    case 'listed':
      return valueField(filter, known)
    case 'least':
      if (leastHeard[name]) return leastField(name, leastHeard[name].bounds, known)
      if (name !== 'minDuration') return addressField(filter, known)
      return typedField(durations, durationText(known.filters), known)
    case 'digits':
      return typedField(numbers, known.filters.number, known)
    case 'since':
      return name === 'from' ? dateField(known) : addressField(filter, known)
    case 'before':
      return name === 'to' ? undefined : addressField(filter, known)
    case 'most':
      return name === 'maxDuration' ? undefined : addressField(filter, known)
    case 'exact':
      return addressField(filter, known)
    default:
      return undefined
  }
}

interface ChoiceFieldOptions {
  name: FilterName | OwnFilter
  label: string
  options: Option[]
  isMany?: boolean
  /** The filter whose values are counted. */
  counted?: FilterName | undefined
}

function choiceField(
  { name, label, options, isMany = false, counted }: ChoiceFieldOptions,
  { filters, onChange }: Known,
): FilterField {
  const values = valuesOf(filters[name])
  const labelOf = (value: string) => options.find((option) => option.value === value)?.label ?? value
  return {
    name,
    label,
    chosen: values.map(labelOf).join(', ') || undefined,
    onClear: () => onChange({ [name]: undefined }),
    control: {
      options,
      values,
      isMany,
      counted: counted && { name: counted, filters },
      onChoose: (chosen) => onChange({ [name]: oneOrMore(chosen) }),
    },
  }
}

/** Offers the values in use, and `none`. Undefined if no call has a value, but for those that most calls get. */
function valueField(filter: ManyFilter, known: Known): FilterField | undefined {
  const { name } = filter
  const chosen = valuesOf(known.filters[name])
  // A value that is literally `none` cannot be requested.
  const choices = 'choices' in filter ? filter.choices.map((value): InUse => ({ value })) : undefined
  const inUse = (choices ?? known.facets?.[name] ?? []).filter(({ value }) => value !== noValue)
  const isUsual = name === 'evaluation' || name === 'endedReason'
  if (!isUsual && inUse.length === 0 && chosen.length === 0) return undefined
  const others = chosen.filter((value) => value !== noValue && !inUse.some((one) => one.value === value))
  const options = [...inUse, ...others.map((value): InUse => ({ value })), { value: noValue }].map(
    ({ value, label, calls }: InUse) => ({ value, label: label ?? valueLabel(name, value), count: calls }),
  )
  return choiceField({ name, label: filterLabels[name], options, isMany: true, counted: name }, known)
}

function leastField(name: FilterName, bounds: readonly number[], known: Known): FilterField {
  const values = new Set([...bounds.map(String), ...valuesOf(known.filters[name])])
  const options = [...values].map((value) => ({ value, label: valueLabel(name, value) }))
  return choiceField({ name, label: filterLabels[name], options }, known)
}

/** A filter that only the address can set. */
function addressField(
  { name, kind }: CallFilter,
  { filters, dates, onChange }: Known,
): FilterField | undefined {
  const text = valuesOf(filters[name]).join(', ')
  if (!text) return undefined
  return {
    name,
    label: filterLabels[name],
    chosen: kind === 'since' || kind === 'before' ? dates.exact(text) : text,
    onClear: () => onChange({ [name]: undefined }),
    control: undefined,
  }
}

function dateField({ filters, resolvedFilters, dates, onChange }: Known): FilterField {
  const date = relativeDateOf(filters.date)
  const none = { date: undefined, from: undefined, to: undefined }
  return {
    name: 'from',
    label: filterLabels.from,
    chosen: (date ? relativeDates[date].label : dateRangeLabel(filters, dates, Date.now())) || undefined,
    onClear: () => onChange(none),
    control: {
      form: (close) => (
        <DateFilter
          days={rangeToDays(resolvedFilters, dates)}
          date={date}
          onChoose={(range, name) => {
            onChange({ ...none, ...(name ? { date: name } : range) })
            close()
          }}
        />
      ),
    },
  }
}

const seconds = {
  inputMode: 'decimal',
  pattern: /^\d+(\.\d+)?$/,
  fault: 'Enter a number of seconds',
} as const
const durations: TypedFilter[] = [
  { name: 'minDuration', label: 'At least, in seconds', ...seconds },
  { name: 'maxDuration', label: 'At most, in seconds', ...seconds },
]
const numbers: TypedFilter[] = [
  {
    name: 'number',
    label: 'Caller’s or called number',
    description: 'The first digits with the country code, or the last digits',
    placeholder: '+1 555 01',
    inputMode: 'tel',
    pattern: /\d/,
    fault: 'Enter some digits of the number',
  },
]

function durationText({ minDuration, maxDuration }: ChosenFilters): string | undefined {
  // The largest number below 10, up to which a bar of the overview counts, reads as 10.
  const [least, most] = [minDuration, maxDuration].map((bound) => bound && asDecimal(Number(bound)))
  if (least === undefined) return most && `up to ${most} s`
  return most === undefined ? `from ${least} s` : `${least} to ${most} s`
}

/** A filter that is typed, or two together, which are named by the first. */
function typedField(
  fields: TypedFilter[],
  chosen: string | undefined,
  { filters, onChange }: Known,
): FilterField | undefined {
  const [first] = fields
  return (
    first && {
      name: first.name,
      label: filterLabels[first.name],
      chosen,
      onClear: () => onChange(Object.fromEntries(fields.map(({ name }) => [name, undefined]))),
      control: {
        form: (close) => <TypedForm fields={fields} filters={filters} onApply={applying(onChange, close)} />,
      },
    }
  )
}

function applying(onChange: Known['onChange'], close: () => void): Known['onChange'] {
  return (change) => {
    onChange(change)
    close()
  }
}

/** A field of the project's own that is set; without a name, one that is still to be named. */
function ownField(
  prefix: typeof analysisPrefix | typeof metadataPrefix,
  field: string,
  { filters, onChange }: Known,
): FilterField {
  const name = `${prefix}${field}` as const
  const values = valuesOf(filters[name])
  return {
    name,
    label: field || (prefix === analysisPrefix ? 'Analysis field' : 'Metadata'),
    chosen: values.join(', ') || undefined,
    onClear: () => onChange({ [name]: undefined }),
    control: {
      form: (close) => (
        <OwnFieldForm prefix={prefix} field={field} values={values} onApply={applying(onChange, close)} />
      ),
    },
  }
}

/** The filters as the API takes them today. */
export function useResolvedFilters(filters: ChosenFilters): ResolvedFilters {
  return resolveFilters(filters, useDates(), useNow())
}
