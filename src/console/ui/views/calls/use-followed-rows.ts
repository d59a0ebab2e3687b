import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import { rowsPerPage } from './call-queries.ts'
import type { CallListData } from './use-call-list.ts'

/** Reloads visible calls that may have changed. @param onScreen empty while the list scrolls */
export function useFollowedRows(list: CallListData, onScreen: readonly string[]): void {
  const ids = onScreen.filter((id) => list.changed.has(id)).slice(0, Number(rowsPerPage))
  const { data } = useQuery(list.changedQuery(ids))
  const take = useEffectEvent((answer: CallRows) => list.take(ids, answer))
  useEffect(() => {
    if (data) take(data)
  }, [data])
}
