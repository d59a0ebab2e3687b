import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { analysisPrefix, criterionPrefix } from '../../../../calls/filters.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { groupWords, measureWords, nameOfGroups, nameOfMeasure, showsOf, showWords } from './chart.ts'
import type { Chart, ChartShow } from './chart-search.ts'
import classes from './charts.module.css'

type Change = { [Name in keyof Chart]?: string | undefined }

/** What a chart shows, and what it groups calls by. */
export function ChartChoices({ chart, onChange }: { chart: Chart; onChange: (change: Change) => void }) {
  const { by } = chart
  const { fields } = useRubric()
  const groups = [...Object.keys(groupWords), ...fields.map(({ key }) => `${analysisPrefix}${key}`)]
  return (
    <div className={classes.choices}>
      <FigureChoices figure={chart} shows={showsOf(chart.of)} onChange={onChange} />
      <Select
        label="By"
        allowDeselect={false}
        value={by}
        data={withChosen(groups, by).map((value) => ({ value, label: nameOfGroups(value) }))}
        onChange={(value) => value && onChange({ by: value })}
      />
    </div>
  )
}

interface FigureChoicesProps {
  figure: Omit<Chart, 'by'>
  /** What can be shown of it. */
  shows: readonly ChartShow[]
  onChange: (change: Omit<Change, 'by'>) => void
}

/** What a figure is of, and what is shown of that. */
export function FigureChoices({ figure: { of, show }, shows, onChange }: FigureChoicesProps) {
  const { criteria, fields } = useRubric()
  const names = new Map(criteria.map(({ id, name }) => [id, name]))
  const measures = [
    ...Object.keys(measureWords),
    ...criteria.map(({ id }) => `${criterionPrefix}${id}`),
    ...fields
      .filter(({ type }) => type === 'integer' || type === 'number')
      .map(({ key }) => `${analysisPrefix}${key}`),
  ]
  return (
    <>
      <Select
        label="Of"
        allowDeselect={false}
        value={of}
        data={withChosen(measures, of).map((value) => ({ value, label: nameOfMeasure(value, names) }))}
        onChange={(value) => value && onChange({ of: value, show: undefined })}
      />
      <Select
        label="Show"
        allowDeselect={false}
        value={show}
        data={shows.map((value) => ({ value, label: showWords[value] }))}
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
