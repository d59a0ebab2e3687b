import { Box, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { analysisPrefix, criterionPrefix } from '../../../../calls/filters.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import {
  groupingsOf,
  groupLabels,
  isSpan,
  labelOfShow,
  measureLabels,
  nameOfGroups,
  nameOfMeasure,
} from './chart.ts'
import { type Chart, showsOf } from './chart-search.ts'

type Change = { [Name in keyof Chart]?: string | undefined }

const alone = { value: '', label: 'Nothing else' }

/** What a chart shows, and what it groups calls by: once or twice. */
export function ChartChoices({ chart, onChange }: { chart: Chart; onChange: (change: Change) => void }) {
  const { criteria, fields } = useRubric()
  const names = new Map(criteria.map(({ id, name }) => [id, name]))
  const [first, second = ''] = groupingsOf(chart.by)
  const groups = [
    ...Object.keys(groupLabels),
    ...criteria.map(({ id }) => `${criterionPrefix}${id}`),
    ...fields.map(({ key }) => `${analysisPrefix}${key}`),
  ]
  const optionsOf = (chosen: string) =>
    withChosen(groups, chosen).map((value) => ({ value, label: nameOfGroups(value, names) }))
  const seconds = optionsOf(second).filter(
    ({ value }) => value !== first && value !== '' && !(isSpan(first) && isSpan(value)),
  )
  return (
    <Box display="grid" style={{ gridTemplateColumns: 'repeat(auto-fit, minmax(144px, 1fr))', gap: 12 }}>
      <FigureChoices figure={chart} onChange={onChange} />
      <Select
        label="Group by"
        allowDeselect={false}
        value={first}
        data={optionsOf(first)}
        onChange={(value) => {
          const isPair = second !== '' && value !== second && !(isSpan(value ?? '') && isSpan(second))
          if (value) onChange({ by: isPair ? `${value},${second}` : value })
        }}
      />
      <Select
        label="Then by"
        allowDeselect={false}
        value={second}
        data={[alone, ...seconds]}
        onChange={(value) => onChange({ by: value ? `${first},${value}` : first })}
      />
    </Box>
  )
}

interface FigureChoicesProps {
  figure: Omit<Chart, 'by'>
  onChange: (change: Omit<Change, 'by'>) => void
}

/** What a figure is of, and which of its values. */
export function FigureChoices({ figure: { of, show }, onChange }: FigureChoicesProps) {
  const { criteria, fields } = useRubric()
  const names = new Map(criteria.map(({ id, name }) => [id, name]))
  const measures = [
    ...Object.keys(measureLabels),
    ...criteria.map(({ id }) => `${criterionPrefix}${id}`),
    ...fields
      .filter(({ type }) => type === 'integer' || type === 'number')
      .map(({ key }) => `${analysisPrefix}${key}`),
  ]
  return (
    <>
      <Select
        label="Measure"
        allowDeselect={false}
        value={of}
        data={withChosen(measures, of).map((value) => ({ value, label: nameOfMeasure(value, names) }))}
        onChange={(value) => value && onChange({ of: value, show: undefined })}
      />
      <Select
        label="Value"
        allowDeselect={false}
        value={show}
        data={showsOf(of).map((value) => ({ value, label: labelOfShow(of, value) }))}
        onChange={(value) => value && onChange({ show: value })}
      />
    </>
  )
}

function useRubric() {
  const { data } = useQuery(rubricQuery(useProject().id))
  const { criteria = [], fields = [] } = data?.rubric ?? {}
  return { criteria, fields }
}

/** An address can name what no rubric has, such as a field that a platform sends. */
function withChosen(values: string[], chosen: string): string[] {
  return [...new Set([...values, chosen])]
}
