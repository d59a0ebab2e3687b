import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { criterionPrefix } from '../../../../calls/filters.ts'
import { api, unwrap } from '../../api.ts'
import { overviewKeys } from '../../query-keys.ts'
import type { useProject } from '../../session.ts'
import { figuresRefetchMs, readFigures } from '../charts/chart-queries.ts'
import type { Chart } from '../charts/chart-search.ts'

type Project = Pick<ReturnType<typeof useProject>, 'id' | 'of'>
/** Instants. */
export type Range = Record<'from' | 'to', string>

/** The first call that the project has: no earlier period can be compared with. */
export function oldestCallQuery({ id, of }: Project) {
  return queryOptions({
    queryKey: overviewKeys.oldest(id),
    queryFn: async ({ signal }) => {
      const { data } = await unwrap(
        of.calls.get({ query: { order: 'createdAt', limit: '1' }, fetch: { signal } }),
      )
      return data[0]?.createdAt ?? null
    },
  })
}

/** The newest calls of a period that failed. */
export function failedCallsQuery({ id, of }: Project, { from, to }: Range, limit: number) {
  return queryOptions({
    queryKey: overviewKeys.failed(id, from, to, limit),
    queryFn: ({ signal }) => {
      const query = { evaluation: 'fail', from, to, limit: String(limit) }
      return unwrap(of.calls.get({ query, fetch: { signal } }))
    },
    placeholderData: keepPreviousData,
  })
}

export function knowledgeQuery(project: string) {
  return queryOptions({
    queryKey: overviewKeys.knowledge(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).overview.knowledge.get({ fetch: { signal } })),
    // While chunks are pending, their number keeps changing.
    refetchInterval: ({ state }) => (state.data && state.data.pendingChunks > 0 ? 5_000 : false),
  })
}

/** By what a number is looked at to see what changed it. */
export const movedBy = ['agentId', 'endedReason', 'source'] as const

/** A number of the groups of a period, and of the one before it, by each of these. */
export function groupsQuery({ id, of }: Project, figure: Omit<Chart, 'by'>, now: Range, before: Range) {
  return queryOptions({
    queryKey: overviewKeys.groups(id, figure, now, before),
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
export function criteriaQuery({ id, of }: Project, ids: readonly string[], now: Range, before: Range | null) {
  return queryOptions({
    queryKey: overviewKeys.criteria(id, now, before, ids),
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
