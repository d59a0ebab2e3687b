import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { analysisPrefix, metadataPrefix } from '../../../../calls/filters.ts'
import { escapeValue, splitValues } from '../../../../text/values.ts'
import classes from './calls.module.css'
import { type ChosenFilters, type FilterChange, oneOrMore, ownFilters, valuesOf } from './chosen-filters.ts'
import { FormPill } from './pill.tsx'

/** What the project's own fields are of, by the prefix of their filters. */
const words = {
  [analysisPrefix]: { pill: 'Analysis', field: 'Analysis field', example: 'topic' },
  [metadataPrefix]: { pill: 'Metadata', field: 'Metadata key', example: 'tenant' },
} as const

interface FieldPillsProps {
  prefix: keyof typeof words
  filters: ChosenFilters
  /** Whether to offer another field. */
  canAdd: boolean
  onChange: (change: FilterChange) => void
}

/** A pill for each field with a filter, and one to add another. */
export function FieldPills({ prefix, filters, canAdd, onChange }: FieldPillsProps) {
  return (
    <>
      {ownFilters(filters, prefix).map((name) => {
        const field = name.slice(prefix.length)
        return (
          <FormPill
            key={name}
            label={field}
            chosen={valuesOf(filters[name]).join(', ')}
            onClear={() => onChange({ [name]: undefined })}
          >
            {(close) => (
              <FieldForm
                prefix={prefix}
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
        <FormPill label={words[prefix].pill} chosen={undefined} onClear={() => undefined}>
          {(close) => (
            <FieldForm
              prefix={prefix}
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

interface FieldFormProps {
  prefix: keyof typeof words
  field: string
  values: string[]
  onApply: (change: FilterChange) => void
}

function FieldForm({ prefix, field, values, onApply }: FieldFormProps) {
  const [name, setName] = useState(field)
  const [text, setText] = useState(values.map(escapeValue).join(', '))
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const wanted = splitValues(text).flatMap((value) => value.trim() || [])
    if (name.trim()) onApply({ [`${prefix}${name.trim()}`]: oneOrMore(wanted) })
  }
  return (
    <form className={classes.form} onSubmit={apply}>
      <TextInput
        label={words[prefix].field}
        placeholder={words[prefix].example}
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
