import { TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { KeyboardEvent, Ref } from 'react'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'

const labelCharsMax = 100
const labelsMax = 50

interface LabelsFieldProps {
  labels: string[]
  isReadOnly: boolean
  inputRef: Ref<HTMLInputElement>
  onChange: (labels: string[]) => void
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
}

/** The labels of a call. Suggests those in use. */
export default function LabelsField({ labels, isReadOnly, inputRef, onChange, onKeyDown }: LabelsFieldProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  return (
    <TagsInput
      ref={inputRef}
      size="xs"
      aria-label="Labels"
      placeholder={labels.length === 0 ? 'Add labels' : ''}
      title="Labels (l)"
      readOnly={isReadOnly}
      value={labels}
      onChange={onChange}
      data={(facets?.label ?? []).map(({ value }) => value)}
      maxTags={labelsMax}
      maxLength={labelCharsMax}
      limit={10}
      // Its position would be measured although it is closed.
      comboboxProps={{ keepMounted: false }}
      onKeyDown={onKeyDown}
    />
  )
}
