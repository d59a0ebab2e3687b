import { MultiSelect, Select, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../api.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { rowsOf, useItems } from '../knowledge/queries.ts'
import { AskForm, optionSize } from './ask-form.tsx'
import { itemsMax } from './playground-search.ts'
import type { AskRequest } from './request.ts'

const route = getRouteApi('/p/$project/playground')
const typingPauseMs = 250

/** Asks as an agent would, and shows what comes back, why, and how fast. The question is in the address. */
export function PlaygroundView() {
  const { q = '', items = [], ...options } = route.useSearch()
  const navigate = useNavigate()
  const show = (next: AskRequest) =>
    void navigate({
      ...to.playground,
      search: {
        q: next.query || undefined,
        mode: next.mode === 'hybrid' ? undefined : next.mode,
        limit: next.limit,
        timeoutMs: next.timeoutMs,
        items: next.itemIds?.length ? next.itemIds : undefined,
        tags: next.tags?.length ? next.tags : undefined,
      },
    })
  const request: AskRequest = { query: q, ...options }
  return (
    <Stack gap="md">
      <PageHeader
        title="Playground"
        description="Ask a question as an agent would, and see what it receives."
      />
      <AskForm
        initial={request}
        {...(items.length > 0 && { itemIds: items })}
        options={
          <>
            <ItemsSelect itemIds={items} onChange={(itemIds) => show({ ...request, itemIds })} />
            <KeySelect tags={options.tags} onChange={(tags) => show({ ...request, itemIds: items, tags })} />
          </>
        }
        onAsk={(next) => show({ ...next, itemIds: items })}
      />
    </Stack>
  )
}

interface KeySelectProps {
  tags: string[] | undefined
  onChange: (tags: string[] | undefined) => void
}

/** Asks as a key that is bound to tags would. Only owners see keys. */
function KeySelect({ tags, onChange }: KeySelectProps) {
  const isOwner = useRefusal('manage') === null
  const keys = useQuery({ ...read(useProject().of.keys), enabled: isOwner })
  const bound = keys.data?.data.filter((key) => key.revokedAt === null && key.tags.length > 0) ?? []
  const byTags = new Map(bound.map((key) => [key.tags.join(), key.name]))
  if (tags && !byTags.has(tags.join())) byTags.set(tags.join(), `Tagged ${tags.join(', ')}`)
  if (byTags.size === 0) return null
  return (
    <Select
      label="As this key"
      {...optionSize}
      placeholder="Any"
      size="xs"
      clearable
      data={[...byTags].map(([value, label]) => ({ value, label }))}
      value={tags?.join() ?? null}
      onChange={(value) => onChange(value?.split(','))}
    />
  )
}

/** Chooses the items to search, by name; all of them when none is chosen. */
function ItemsSelect({ itemIds, onChange }: { itemIds: string[]; onChange: (itemIds: string[]) => void }) {
  const { of } = useProject()
  const [typed, setTyped] = useState('')
  const [name] = useDebouncedValue(typed.trim(), typingPauseMs)
  const found = rowsOf(useItems(name).data)
  // A chosen item keeps its name here even when the current matches do not include it.
  const chosen = useQueries({ queries: itemIds.map((id) => read(of.knowledge({ id }))) })
  const names = new Map(itemIds.map((id, at) => [id, chosen[at]?.data?.name ?? id]))
  for (const row of found) names.set(row.id, row.name)
  return (
    <MultiSelect
      label="Items"
      placeholder={itemIds.length > 0 ? undefined : 'All'}
      size="xs"
      flex="1 1 320px"
      maw={480}
      searchable
      clearable
      maxValues={itemsMax}
      nothingFoundMessage="No item name contains this"
      searchValue={typed}
      onSearchChange={setTyped}
      value={itemIds}
      data={[...names].map(([value, label]) => ({ value, label }))}
      onChange={onChange}
    />
  )
}
