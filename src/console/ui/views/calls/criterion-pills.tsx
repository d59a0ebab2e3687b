import { useQuery } from '@tanstack/react-query'
import { criterionPrefix, verdicts } from '../../../../calls/filters.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import {
  type ChosenFilters,
  type FilterChange,
  type OwnFilter,
  oneOrMore,
  ownFilters,
  valuesOf,
} from './chosen-filters.ts'
import { verdictWords } from './filter-labels.ts'
import { ManyPill } from './pill.tsx'

interface CriterionPillsProps {
  filters: ChosenFilters
  /** Whether to offer all criteria of the rubric. */
  isMore: boolean
  onChange: (change: FilterChange) => void
}

const options = verdicts.map((value) => ({ value, label: verdictWords[value] }))

/** A pill for each criterion with a filter, and for each of the rubric on demand. */
export function CriterionPills({ filters, isMore, onChange }: CriterionPillsProps) {
  const { id: project } = useProject()
  const set = ownFilters(filters, criterionPrefix)
  const { data } = useQuery({ ...rubricQuery(project), enabled: isMore || set.length > 0 })
  const names = new Map(
    data?.rubric?.criteria.map(({ id, name }): [OwnFilter, string] => [`${criterionPrefix}${id}`, name]),
  )
  return [...new Set([...set, ...(isMore ? names.keys() : [])])].map((filter) => {
    const values = valuesOf(filters[filter])
    return (
      <ManyPill
        key={filter}
        label={names.get(filter) ?? filter.slice(criterionPrefix.length)}
        values={values}
        chosen={
          options.flatMap(({ value, label }) => (values.includes(value) ? label : [])).join(' or ') ||
          undefined
        }
        options={options}
        onChoose={(chosen) => onChange({ [filter]: oneOrMore(chosen) })}
        onClear={() => onChange({ [filter]: undefined })}
      />
    )
  })
}
