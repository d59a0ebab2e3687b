import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { SearchField } from '../../components/search-field.tsx'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'
import { type ChosenFilters, isFiltered } from './chosen-filters.ts'
import { DateFilter } from './date-filter.tsx'
import { dateRangeLabel, rangeToDays } from './date-range.ts'
import { evaluationLabel } from './evaluation.tsx'
import { ChoicePill, FormPill } from './filter-pill.tsx'

interface CallFiltersProps {
  filters: ChosenFilters
  /** `isTyping` for each pause in typing, which is no step to go back to. */
  onChange: (change: ChosenFilters, isTyping?: boolean) => void
  onClear: () => void
}

/** The text searched for, and a pill for every other filter, which says what is chosen. */
export function CallFilters({ filters, onChange, onClear }: CallFiltersProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const evaluations = [
    ...(facets?.evaluations ?? []).map(({ value, calls }) => ({
      value: given(value),
      label: evaluationLabel(value),
      count: calls,
    })),
    { value: notGiven, label: notEvaluated },
  ]
  const reasons = facets?.endedReasons.map(({ value, calls }) => ({ value, label: value, count: calls }))
  return (
    <search className="cb-calls-filters" aria-label="Filter calls">
      <SearchField
        label="Search transcripts and summaries"
        text={filters.text ?? ''}
        onSearch={(text) => onChange({ text: text || undefined }, true)}
      />
      <div className="cb-calls-pills">
        <ChoicePill
          label="Status"
          value={filters.status}
          chosen={filters.status && statusLabels[filters.status]}
          options={Object.entries(statusLabels).map(([value, label]) => ({ value, label }))}
          onChoose={(status) => onChange({ status: status === 'live' ? 'live' : 'completed' })}
          onClear={() => onChange({ status: undefined })}
        />
        <ChoicePill
          label="Evaluation"
          value={filters.evaluated === 'false' ? notGiven : filters.evaluation && given(filters.evaluation)}
          chosen={
            filters.evaluated === 'false'
              ? notEvaluated
              : filters.evaluation && evaluationLabel(filters.evaluation)
          }
          options={evaluations}
          onChoose={(choice) =>
            onChange(
              choice === notGiven
                ? { evaluation: undefined, evaluated: 'false' }
                : { evaluation: choice.slice(given('').length), evaluated: undefined },
            )
          }
          onClear={() => onChange({ evaluation: undefined, evaluated: undefined })}
        />
        <ChoicePill
          label="Engaged"
          value={filters.engaged}
          chosen={filters.engaged && { true: 'Yes', false: 'No' }[filters.engaged]}
          options={[
            { value: 'true', label: 'Engaged' },
            { value: 'false', label: 'Not engaged' },
          ]}
          onChoose={(engaged) => onChange({ engaged: engaged === 'true' ? 'true' : 'false' })}
          onClear={() => onChange({ engaged: undefined })}
        />
        <FormPill
          label="Date"
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
        <FormPill label="Number" chosen={filters.number} onClear={() => onChange({ number: undefined })}>
          {(close) => (
            <NumberForm
              number={filters.number ?? ''}
              onApply={(number) => {
                onChange({ number: number || undefined })
                close()
              }}
            />
          )}
        </FormPill>
        <ChoicePill
          label="Ended"
          value={filters.endedReason}
          chosen={filters.endedReason}
          options={reasons ?? []}
          onChoose={(endedReason) => onChange({ endedReason })}
          onClear={() => onChange({ endedReason: undefined })}
        />
        {isFiltered(filters) && (
          <Button variant="subtle" color="gray" size="compact-sm" onClick={onClear}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  )
}

const statusLabels = { live: 'Live', completed: 'Completed' }

const notEvaluated = 'Not evaluated'
const notGiven = 'none'

/** A value as a choice, which is then none of our own words. */
function given(value: string): string {
  return `=${value}`
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
