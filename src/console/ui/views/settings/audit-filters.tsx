import { Button, Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { read } from '../../api.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { dateRangeLabel, rangeToDays } from '../calls/date-ranges.ts'
import { DateFilter } from '../calls/filter-forms.tsx'
import { ChoicePill, FormPill } from '../calls/pill.tsx'
import { actionWords, actorWords } from './action-words.ts'
import type { AuditSearch } from './audit-search.ts'

interface AuditFiltersProps {
  filters: AuditSearch
  onChange: (filters: AuditSearch) => void
}

const actions = Object.entries(actionWords).map(([value, label]) => ({ value, label }))

/** A pill for each filter of the audit trail: who, what, when, and which call. */
export function AuditFilters({ filters, onChange }: AuditFiltersProps) {
  const { action, from, to, call } = filters
  const dates = useDates()
  const clear =
    (...names: (keyof AuditSearch)[]) =>
    () =>
      onChange(without(filters, names))
  return (
    <Group component="search" gap="xs" mb="sm" aria-label="Filter the audit trail">
      <WhoPill filters={filters} onChange={onChange} />
      <ChoicePill
        label="Action"
        options={actions}
        values={action ? [action] : []}
        chosen={action && (actions.find(({ value }) => value === action)?.label ?? action)}
        onChoose={([value]) => onChange({ ...filters, action: value })}
        onClear={clear('action')}
      />
      <FormPill
        label="Date"
        chosen={dateRangeLabel({ from, to }, dates, Date.now()) || undefined}
        onClear={clear('from', 'to')}
      >
        {(close) => (
          <DateFilter
            days={rangeToDays({ from, to }, dates)}
            onChoose={(range) => {
              onChange({ ...filters, ...range })
              close()
            }}
          />
        )}
      </FormPill>
      <FormPill label="Call" chosen={call} onClear={clear('call')}>
        {(close) => (
          <CallForm
            onApply={(id) => {
              onChange({ ...filters, call: id })
              close()
            }}
          />
        )}
      </FormPill>
      {Object.keys(filters).length > 0 && (
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onChange({})}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

/** The members, the keys, and what has no name. */
function WhoPill({ filters, onChange }: AuditFiltersProps) {
  const { of } = useProject()
  const { data: people } = useQuery(read(of.people))
  const { data: keys } = useQuery(read(of.keys))
  const options = [
    ...(people?.members ?? []).map(({ personId, name }) => ({ value: personId, label: name })),
    ...(keys?.data ?? []).map(({ id, name, hint }) => ({ value: id, label: `${name} (${hint})` })),
    ...(['commandLine', 'service', 'stranger'] as const).map((kind) => ({
      value: kind,
      label: actorWords[kind],
    })),
  ]
  const { who } = filters
  return (
    <ChoicePill
      label="Who"
      options={options}
      values={who ? [who] : []}
      chosen={who && (options.find(({ value }) => value === who)?.label ?? who)}
      onChoose={([value]) => onChange({ ...filters, who: value })}
      onClear={() => onChange(without(filters, ['who']))}
    />
  )
}

function CallForm({ onApply }: { onApply: (id: string) => void }) {
  const [id, setId] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (id.trim() !== '') onApply(id.trim())
  }
  return (
    <form onSubmit={submit} className="cb-stack">
      <TextInput
        label="Call ID"
        description="Shows when the call was opened and deleted. The trail keeps only a hash of the ID."
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
        maxLength={128}
        autoComplete="off"
        data-autofocus
      />
      <Button type="submit" disabled={id.trim() === ''}>
        Apply
      </Button>
    </form>
  )
}

function without(filters: AuditSearch, names: readonly string[]): AuditSearch {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name)))
}
