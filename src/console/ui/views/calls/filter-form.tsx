import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { FilterName } from '../../../../calls/filters.ts'
import classes from './calls.module.css'
import { type ChosenFilters, type FilterChange, valuesOf } from './chosen-filters.ts'

/** A filter that is typed. */
export interface TypedFilter {
  name: FilterName
  label: string
  description?: string
  placeholder?: string
  inputMode?: 'tel' | 'decimal'
  /** What is typed has to match it. */
  pattern?: RegExp
  /** What to say where it does not. */
  fault?: string
}

interface FilterFormProps {
  fields: readonly TypedFilter[]
  filters: ChosenFilters
  onApply: (change: FilterChange) => void
}

/** Filters that are typed, applied together. An empty one is cleared. */
export function FilterForm({ fields, filters, onApply }: FilterFormProps) {
  const [typed, setTyped] = useState<{ [Name in FilterName]?: string }>(() =>
    Object.fromEntries(fields.map(({ name }) => [name, valuesOf(filters[name]).join(', ')])),
  )
  const [isRefused, setIsRefused] = useState(false)
  const textOf = (name: FilterName) => typed[name]?.trim() ?? ''
  const isFaulty = ({ name, pattern }: TypedFilter) =>
    textOf(name) !== '' && pattern !== undefined && !pattern.test(textOf(name))
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (fields.some(isFaulty)) setIsRefused(true)
    else onApply(Object.fromEntries(fields.map(({ name }) => [name, textOf(name) || undefined])))
  }
  return (
    <form className={classes.form} onSubmit={apply}>
      {fields.map((field, at) => (
        <TextInput
          key={field.name}
          label={field.label}
          description={field.description}
          placeholder={field.placeholder}
          error={isRefused && isFaulty(field) && field.fault}
          inputMode={field.inputMode ?? 'text'}
          maxLength={200}
          value={typed[field.name] ?? ''}
          onChange={(event) => setTyped({ ...typed, [field.name]: event.currentTarget.value })}
          data-autofocus={at === 0 || undefined}
        />
      ))}
      <Button type="submit" size="xs">
        Apply
      </Button>
    </form>
  )
}
