import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { itemQuery, itemsQuery, rowsOf } from '../knowledge/queries.ts'
import classes from './playground.module.css'
import { itemsMax } from './playground-search.ts'

const typingPauseMs = 250

interface ItemsSelectProps {
  project: string
  itemIds: string[]
  onChange: (itemIds: string[]) => void
}

/** Chooses the items to search, by name; all of them when none is chosen. */
export function ItemsSelect({ project, itemIds, onChange }: ItemsSelectProps) {
  const [typed, setTyped] = useState('')
  const [name] = useDebouncedValue(typed.trim(), typingPauseMs)
  const found = rowsOf(useInfiniteQuery(itemsQuery(project, name)).data)
  // A chosen item keeps its name here even when the current matches do not include it.
  const chosen = useQueries({ queries: itemIds.map((id) => itemQuery(project, id)) })
  const names = new Map(itemIds.map((id, at) => [id, chosen[at]?.data?.name ?? id]))
  for (const row of found) names.set(row.id, row.name)
  return (
    <MultiSelect
      label="Items"
      placeholder={itemIds.length > 0 ? undefined : 'All'}
      size="xs"
      className={classes.askItems}
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
