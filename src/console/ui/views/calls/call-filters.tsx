import { Anchor, Button } from '@mantine/core'
import { useState, type WheelEvent } from 'react'
import {
  analysisPrefix,
  callFilters,
  type FilterName,
  metadataPrefix,
  prefixOf,
} from '../../../../calls/filters.ts'
import type { FoundBy } from '../../../../calls/finding/search-box.ts'
import { SearchField } from '../../components/search-field.tsx'
import { CallerLink, isWholeNumber } from '../callers/caller-link.tsx'
import { FieldPills } from './analysis-pills.tsx'
import classes from './calls.module.css'
import {
  type ChosenFilters,
  type Fault,
  type FilterChange,
  isFiltered,
  withoutFaults,
} from './chosen-filters.ts'
import { CriterionPills } from './criterion-pills.tsx'
import { filterLabels } from './filter-labels.ts'
import { FilterPill } from './filter-pills.tsx'
import { PlainPill } from './pill.tsx'

/** The filters that are always shown. Others are shown on demand, and while they are set. */
const usual: ReadonlySet<FilterName> = new Set([
  ...(['status', 'evaluation', 'from', 'minDuration', 'source', 'agentId', 'label'] as const),
])

interface CallFiltersProps {
  filters: ChosenFilters
  faults: readonly Fault[]
  /** How the text was read; null while unknown. */
  foundBy: FoundBy | null
  /** Filters that are not offered. */
  omitted?: readonly FilterName[]
  /** `isTyping` is set for a pause in typing, which adds no history entry. */
  onChange: (change: FilterChange, isTyping?: boolean) => void
  onClear: () => void
}

/** The search field, and a pill for every other filter, which shows what is chosen or why it cannot be read. */
export function CallFilters({
  filters: all,
  faults,
  foundBy,
  omitted = [],
  onChange,
  onClear,
}: CallFiltersProps) {
  const [isMore, setIsMore] = useState(false)
  const filters = withoutFaults(all, faults)
  return (
    <search className={classes.filters} aria-label="Filter calls">
      {!omitted.includes('text') && (
        <SearchField
          label="Search words, numbers, IDs"
          text={filters.text ?? ''}
          onSearch={(text) => onChange({ text: text || undefined }, true)}
        />
      )}
      <div className={classes.pills} onWheel={scrollAlong}>
        {callFilters.map(
          (filter) =>
            !omitted.includes(filter.name) &&
            (isMore || usual.has(filter.name) || filters[filter.name] !== undefined) && (
              <FilterPill key={filter.name} filter={filter} filters={filters} onChange={onChange} />
            ),
        )}
        {faults.map(({ name, message }) => (
          <PlainPill
            key={name}
            label={labelOf(name)}
            text={message}
            isFault
            onClear={() => onChange({ [name]: undefined })}
          />
        ))}
        <FieldPills prefix={analysisPrefix} filters={filters} canAdd={isMore} onChange={onChange} />
        <FieldPills prefix={metadataPrefix} filters={filters} canAdd={isMore} onChange={onChange} />
        <CriterionPills filters={filters} isMore={isMore} onChange={onChange} />
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isMore}
          onClick={() => setIsMore(!isMore)}
        >
          {isMore ? 'Fewer' : 'More'}
        </Button>
        {(isFiltered(filters) || faults.length > 0) && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-label="Clear filters"
            onClick={onClear}
          >
            Clear
          </Button>
        )}
      </div>
      {filters.text !== undefined && (foundBy === 'number' || foundBy === 'id') && (
        <p className={classes.found}>
          {foundBy === 'number'
            ? 'Showing calls from or to a number that starts or ends like this.'
            : 'Showing calls whose ID starts like this.'}{' '}
          <Anchor
            component="button"
            type="button"
            inherit
            underline="always"
            onClick={() => onChange({ text: `"${filters.text}"` })}
          >
            Search the conversation instead
          </Anchor>
          {foundBy === 'number' && isWholeNumber(filters.text) && (
            <>
              {' · '}
              <CallerLink number={filters.text}>Open the person</CallerLink>
            </>
          )}
        </p>
      )}
    </search>
  )
}

/** Scrolls sideways with a vertical wheel. */
function scrollAlong({ currentTarget, deltaX, deltaY }: WheelEvent<HTMLElement>): void {
  if (deltaX === 0) currentTarget.scrollLeft += deltaY
}

function labelOf(name: Fault['name']): string {
  if (name === 'order') return 'Order'
  if (name === 'date') return filterLabels.from
  const prefix = prefixOf(name)
  return prefix ? name.slice(prefix.length) : filterLabels[name as FilterName]
}
