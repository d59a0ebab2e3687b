import { queryOptions } from '@tanstack/react-query'
import type { CallDetails } from '../../../../calls/schemas.ts'
import { callKeys } from '../../query-keys.ts'
import { readWaveform } from './waveform.ts'

const peaksAgainMs = 2_000

/** What plays; a range of it may be asked for. */
function recordingPath(project: string, id: string): string {
  return `/console/api/projects/${project}/calls/${encodeURIComponent(id)}/recording`
}

/** What plays of a call: what is kept here, or else what the platform keeps. The page may play from https only. */
export function playablePath(project: string, id: string, details: CallDetails | undefined): string | null {
  if (details?.recording.state === 'kept') return recordingPath(project, id)
  return details?.recordingUrl?.startsWith('https:') ? details.recordingUrl : null
}

/** The waveform of a recording, soon after it was kept. Null until then, and if it has none. */
export function peaksQuery(project: string, id: string, keptAt: string | null) {
  return queryOptions({
    queryKey: callKeys.peaks(project, id, keptAt),
    queryFn: async ({ signal }) => {
      const answer = await fetch(`${recordingPath(project, id)}/peaks`, { signal })
      if (!answer.ok) throw new Error(`The waveform could not be loaded: ${answer.status}`)
      if (answer.status === 204) return { isComputed: false, waveform: null }
      return { isComputed: true, waveform: readWaveform(await answer.arrayBuffer()) }
    },
    refetchInterval: ({ state }) => (state.data?.isComputed === false ? peaksAgainMs : false),
    staleTime: ({ state }) => (state.data?.isComputed ? Number.POSITIVE_INFINITY : 0),
    select: ({ waveform }) => waveform,
  })
}
