import { TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type Ref, useState } from 'react'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'

const labelCharsMax = 100
const labelsMax = 50

interface LabelsFieldProps {
  labels: string[]
  /** Whether it takes the focus when it appears. */
  hasFocus: boolean
  inputRef: Ref<HTMLInputElement>
  onChange: (labels: string[]) => void
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
}

/** The labels of a call. Enter takes the first of those in use that are offered; the text itself is offered last. */
export default function LabelsField({ labels, hasFocus, inputRef, onChange, onKeyDown }: LabelsFieldProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const [text, setText] = useState('')
  const inUse = (facets?.label ?? []).map(({ value }) => value)
  const typed = text.trim()
  const isNew = typed !== '' && ![...inUse, ...labels].includes(typed)
  return (
    <TagsInput
      ref={inputRef}
      size="xs"
      aria-label="Labels"
      placeholder={labels.length === 0 ? 'Add labels' : ''}
      title="Labels (l)"
      autoFocus={hasFocus}
      value={labels}
      onChange={onChange}
      searchValue={text}
      onSearchChange={setText}
      data={isNew ? [...inUse, typed] : inUse}
      renderOption={({ option }) =>
        isNew && option.value === typed ? (
          <span>
            New label “<bdi>{typed}</bdi>”
          </span>
        ) : (
          <bdi>{option.value}</bdi>
        )
      }
      selectFirstOptionOnChange
      maxTags={labelsMax}
      maxLength={labelCharsMax}
      limit={10}
      // Its position would be measured although it is closed.
      comboboxProps={{ keepMounted: false }}
      onKeyDown={onKeyDown}
    />
  )
}
