import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { criterionPrefix } from '../../../../calls/filters.ts'
import { api, read } from '../../api.ts'
import type { useProject } from '../../session.ts'
import { readRows } from '../calls/call-queries.ts'
import { chartsKey, figuresRefetchMs, readFigures } from '../charts/chart-queries.ts'
import type { Chart } from '../charts/chart-search.ts'

type Project = Pick<ReturnType<typeof useProject>, 'id' | 'of'>
/** Instants. */
export type Range = Record<'from' | 'to', string>

/** The first call that the project has: no earlier period can be compared with. */
export function oldestCallQuery({ of }: Project) {
  return queryOptions({
    ...readRows(of, { order: 'createdAt', limit: '1' }),
    select: ({ data }) => data[0]?.createdAt ?? null,
  })
}

/** The newest calls of a period that failed. */
export function failedCallsQuery({ of }: Project, { from, to }: Range, limit: number) {
  return queryOptions({
    ...readRows(of, { evaluation: 'fail', from, to, limit: String(limit) }),
    placeholderData: keepPreviousData,
  })
}

export function knowledgeQuery(project: string) {
  return queryOptions({
    ...read(api.projects({ project }).overview.knowledge),
    // While chunks are pending, their number keeps changing.
    refetchInterval: ({ state }) => (state.data && state.data.pendingChunks > 0 ? 5_000 : false),
  })
}

/** By what a number is looked at to see what changed it. */
export const movedBy = ['agentId', 'endedReason', 'source'] as const

/** A number of the groups of a period, and of the one before it, by each of these. */
export function groupsQuery({ of }: Project, figure: Omit<Chart, 'by'>, now: Range, before: Range) {
  return queryOptions({
    queryKey: [...chartsKey(of), 'groups', figure, now, before],
    queryFn: ({ signal }) =>
      Promise.all(
        movedBy.map(async (by) => {
          const [ofNow, ofBefore] = await Promise.all([
            readFigures(of, { ...figure, ...now, by }, signal),
            readFigures(of, { ...figure, ...before, by }, signal),
          ])
          return { by, now: ofNow.data, before: ofBefore.data }
        }),
      ),
    staleTime: figuresRefetchMs,
  })
}

/** The share of the calls that passed each criterion, in a period and in the one before it. */
export function criteriaQuery({ of }: Project, ids: readonly string[], now: Range, before: Range | null) {
  return queryOptions({
    queryKey: [...chartsKey(of), 'criteria', now, before, ids],
    queryFn: async ({ signal }) => {
      const shareOf = async (id: string, range: Range) => {
        const { data } = await readFigures(
          of,
          { of: `${criterionPrefix}${id}`, show: 'share', ...range },
          signal,
        )
        return data[0]?.value ?? null
      }
      const read = async (id: string) => {
        const [value, earlier] = await Promise.all([shareOf(id, now), before && shareOf(id, before)])
        return { id, value, before: earlier }
      }
      return await Promise.all(ids.map(read))
    },
    placeholderData: keepPreviousData,
    refetchInterval: figuresRefetchMs,
  })
}
