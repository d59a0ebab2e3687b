import { Button } from '@mantine/core'
import { callFilters } from '../../../../calls/filters.ts'
import { SearchField } from '../../components/search-field.tsx'
import { type ChosenFilters, type FilterChange, isFiltered } from './chosen-filters.ts'
import { FilterPill } from './filter-pills.tsx'

interface CallFiltersProps {
  filters: ChosenFilters
  /** `isTyping` for each pause in typing, which is no step to go back to. */
  onChange: (change: FilterChange, isTyping?: boolean) => void
  onClear: () => void
}

/** The search field, and a pill for every other filter, which says what is chosen. */
export function CallFilters({ filters, onChange, onClear }: CallFiltersProps) {
  return (
    <search className="cb-calls-filters" aria-label="Filter calls">
      <SearchField
        label="Search transcripts and summaries"
        text={filters.text ?? ''}
        onSearch={(text) => onChange({ text: text || undefined }, true)}
      />
      <div className="cb-calls-pills">
        {callFilters.map((filter) => (
          <FilterPill key={filter.name} filter={filter} filters={filters} onChange={onChange} />
        ))}
        {isFiltered(filters) && (
          <Button variant="subtle" color="gray" size="compact-sm" onClick={onClear}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  )
}
