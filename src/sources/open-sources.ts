import { LookUps } from '../agents/look-ups.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import type { FetchQueue } from '../recordings/fetching/fetch-queue.ts'
import type { PlatformClient } from '../recordings/fetching/platform-client.ts'
import type { Recordings } from '../recordings/recordings.ts'
import { EventCounts } from './event-counts.ts'
import { SourceImports } from './history/imports.ts'
import { LiveKitReceiver } from './otel/livekit-receiver.ts'
import { CallSessions } from './otel/sessions.ts'
import { SourceEvents } from './source-events.ts'
import { SourceFailures } from './source-failures.ts'
import { SourceRecordings } from './source-recordings.ts'
import { Sources } from './sources.ts'

interface Beside {
  erasure: Erasure
  ingest: Ingest
  recordings: Recordings
  fetchQueue: FetchQueue
  platformClient: PlatformClient
  recordedSearch: RecordedSearch
}

/** What platforms and agents send. */
export function openSources(core: Core, beside: Beside) {
  const { erasure, ingest, recordings, fetchQueue, platformClient, recordedSearch } = beside
  const { settingsOf } = core
  // A source can be deleted on a full disk, too.
  const sources = new Sources({ ...core, write: core.writeWhenFull }, { erasure })
  const failures = new SourceFailures(core, { sources, erasure })
  core.jobs.addExpiry('sources', async () => {
    await sources.expireSecrets()
    await failures.expire()
  })
  const counts = new EventCounts(core)
  const callSessions = new CallSessions(core, { erasure, ingest })
  return {
    sources,
    sourceFailures: failures,
    eventCounts: counts,
    callSessions,
    sourceImports: new SourceImports(core, { sources, ingest, fetchQueue, client: platformClient }),
    platforms: new SourceRecordings(sources),
    livekitReceiver: new LiveKitReceiver(core, {
      sources,
      callSessions,
      counts,
      keepsRecording: async (projectId, callId) =>
        (await settingsOf(projectId)).recordings !== 'off' &&
        !(await recordings.isUnwanted(projectId, callId)),
      keepRecording: (projectId, callId, chunks) => recordings.keep(projectId, callId, chunks),
    }),
    sourceEvents: new SourceEvents(core, {
      sources,
      failures,
      counts,
      ingest,
      recordings: fetchQueue,
      lookUps: new LookUps(core, { search: recordedSearch }),
    }),
  }
}
