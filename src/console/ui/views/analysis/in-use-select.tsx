import { MultiSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import { valueLabel } from '../calls/filter-labels.ts'

interface InUseSelectProps {
  name: 'agentId' | 'source' | 'endedReason'
  label: string
  values: string[]
  onChange: (values: string[]) => void
  error: string | undefined
}

/** Chooses values that the project's calls have, or any that is typed. */
export function InUseSelect({ name, label, values, onChange, error }: InUseSelectProps) {
  const { id: project } = useProject()
  const { data: facets } = useQuery(facetsQuery(project))
  const [text, setText] = useState('')
  const inUse = (facets?.[name] ?? []).map(({ value, label }) => ({
    value,
    label: label ?? valueLabel(name, value),
  }))
  const typed = text.trim()
  const isKnown = (value: string) => inUse.some((one) => one.value === value || one.label === value)
  const others = [...new Set(values)].filter((value) => !isKnown(value))
  const isNew = typed !== '' && !isKnown(typed) && !others.includes(typed)
  return (
    <MultiSelect
      label={label}
      placeholder={values.length === 0 ? 'Any' : ''}
      searchable
      searchValue={text}
      onSearchChange={setText}
      nothingFoundMessage="Type a value to add it"
      limit={50}
      maxValues={100}
      value={values}
      onChange={onChange}
      data={[
        ...inUse,
        ...others.map((value) => ({ value, label: valueLabel(name, value) })),
        ...(isNew ? [{ value: typed, label: `Add ${typed}` }] : []),
      ]}
      error={error}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
    />
  )
}
