import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { analysisPrefix, criterionPrefix } from '../../../../calls/filters.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { groupWords, measureWords, nameOfGroups, nameOfMeasure, showsOf, showWords } from './chart.ts'
import type { Chart } from './chart-search.ts'
import classes from './charts.module.css'

/** What a chart shows, and what it groups calls by. */
export function ChartChoices({
  chart,
  onChange,
}: {
  chart: Chart
  onChange: (change: { [Name in keyof Chart]?: string | undefined }) => void
}) {
  const { of, show, by } = chart
  const { data } = useQuery(rubricQuery(useProject().id))
  const { criteria = [], fields = [] } = data?.rubric ?? {}
  const names = new Map(criteria.map(({ id, name }) => [id, name]))
  const ofFields = (isOffered: (type: string) => boolean) =>
    fields.filter(({ type }) => isOffered(type)).map(({ key }) => `${analysisPrefix}${key}`)
  const measures = [
    ...Object.keys(measureWords),
    ...criteria.map(({ id }) => `${criterionPrefix}${id}`),
    ...ofFields((type) => type === 'integer' || type === 'number'),
  ]
  const groups = [...Object.keys(groupWords), ...ofFields(() => true)]
  // An address can name what no rubric has, such as a field that a platform sends.
  const withChosen = (values: string[], chosen: string) => [...new Set([...values, chosen])]
  return (
    <div className={classes.choices}>
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
        data={showsOf(of).map((value) => ({ value, label: showWords[value] }))}
        onChange={(value) => value && onChange({ show: value })}
      />
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
