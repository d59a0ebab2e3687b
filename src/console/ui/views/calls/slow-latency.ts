import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { metricsKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'

const days = 30
const dayMs = 86_400_000
const freshForMs = 600_000
/** Of fewer, a percentile says little. */
const callsMin = 20

/**
 * The latency that 95% of the project's newest calls stay below by their median, in milliseconds. Null until it is known,
 * and with too few calls. @param isAsked whether the call has latencies at all
 */
export function useSlowLatency(isAsked: boolean): number | null {
  const { id: project } = useProject()
  const { data } = useQuery({
    queryKey: metricsKeys.slow(project),
    queryFn: ({ signal }) => {
      const from = new Date(Math.floor(Date.now() / dayMs - days) * dayMs).toISOString()
      const query = { of: 'latencyMs', show: 'p95', from }
      return unwrap(api.projects({ project }).metrics.get({ query, fetch: { signal } }))
    },
    staleTime: freshForMs,
    enabled: isAsked,
  })
  const [all] = data?.data ?? []
  return all && all.calls >= callsMin ? all.value : null
}
