import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { analysisPrefix } from '../../../../calls/filters.ts'
import { escapeValue, splitValues } from '../../../../text/values.ts'
import classes from './calls.module.css'
import { type ChosenFilters, type FilterChange, oneOrMore, ownFilters, valuesOf } from './chosen-filters.ts'
import { FormPill } from './pill.tsx'

interface AnalysisPillsProps {
  filters: ChosenFilters
  /** Whether to offer another field. */
  canAdd: boolean
  onChange: (change: FilterChange) => void
}

/** A pill for each analysis field with a filter, and one to add another. */
export function AnalysisPills({ filters, canAdd, onChange }: AnalysisPillsProps) {
  return (
    <>
      {ownFilters(filters, analysisPrefix).map((name) => {
        const field = name.slice(analysisPrefix.length)
        return (
          <FormPill
            key={name}
            label={field}
            chosen={valuesOf(filters[name]).join(', ')}
            onClear={() => onChange({ [name]: undefined })}
          >
            {(close) => (
              <AnalysisForm
                field={field}
                values={valuesOf(filters[name])}
                onApply={(change) => {
                  onChange({ [name]: undefined, ...change })
                  close()
                }}
              />
            )}
          </FormPill>
        )
      })}
      {canAdd && (
        <FormPill label="Analysis" chosen={undefined} onClear={() => undefined}>
          {(close) => (
            <AnalysisForm
              field=""
              values={[]}
              onApply={(change) => {
                onChange(change)
                close()
              }}
            />
          )}
        </FormPill>
      )}
    </>
  )
}

interface AnalysisFormProps {
  field: string
  values: string[]
  onApply: (change: FilterChange) => void
}

function AnalysisForm({ field, values, onApply }: AnalysisFormProps) {
  const [name, setName] = useState(field)
  const [text, setText] = useState(values.map(escapeValue).join(', '))
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const wanted = splitValues(text).flatMap((value) => value.trim() || [])
    if (name.trim()) onApply({ [`${analysisPrefix}${name.trim()}`]: oneOrMore(wanted) })
  }
  return (
    <form className={classes.form} onSubmit={apply}>
      <TextInput
        label="Analysis field"
        placeholder="topic"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus={field === '' || undefined}
      />
      <TextInput
        label="Is any of"
        description="Top-level values, separated by commas; write \\, for a comma within one"
        placeholder="billing, refund"
        maxLength={300}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus={field !== '' || undefined}
      />
      <Button type="submit" size="xs" disabled={name.trim() === '' || text.trim() === ''}>
        Apply
      </Button>
    </form>
  )
}
