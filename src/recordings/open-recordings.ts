import { join } from 'node:path'
import type { Holds } from '../calls/keeping/holds.ts'
import { readMuting } from '../calls/sound/redacted-spans.ts'
import { toSpeechBytes } from '../calls/sound/speech-bytes.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AudioThreads } from './audio/audio-threads.ts'
import { BucketFiles } from './bucket-files.ts'
import { RecordingExpiry } from './expiry.ts'
import type { AddressGuard } from './fetching/download.ts'
import { FetchQueue } from './fetching/fetch-queue.ts'
import { PlatformClient } from './fetching/platform-client.ts'
import { type FetcherParts, RecordingFetcher } from './fetching/recording-fetcher.ts'
import type { RecordingFiles } from './files.ts'
import { FolderFiles } from './folder-files.ts'
import { Muter } from './muter.ts'
import { PeaksBacklog } from './peaks-backlog.ts'
import { Recordings } from './recordings.ts'
import { RemovedFiles } from './removed-files.ts'

/** Where recordings are. Nodes that share a database share no folder. */
export function openRecordingFiles(core: Core) {
  const { config, database, generation } = core
  const folder = join(config.dataDir, 'recordings')
  const files: RecordingFiles | null = config.bucket
    ? new BucketFiles({ ...config.bucket, folder, generation })
    : database.isLocal
      ? new FolderFiles(folder)
      : null
  const removedFiles = new RemovedFiles({ ...core, write: core.writeWhenFull }, { files })
  core.onOwn(() => removedFiles.clearDrafts())
  return { files, removedFiles }
}

interface Beside {
  files: RecordingFiles | null
  ingest: Ingest
  holds: Holds
  erasure: Erasure
}

/** The recordings of calls: kept, played, expired. */
export function openRecordings(core: Core, { files, ingest, holds, erasure }: Beside) {
  const audioThreads = new AudioThreads()
  core.onClose(() => audioThreads.close())
  const peaksBacklog = new PeaksBacklog(core, {
    files,
    ingest,
    toSpeechBytes,
    audio: audioThreads,
    onMeasured: (row, length) => recordings.setLength(row, length),
    mute: (row, speech) => muter.mute(row, speech),
  })
  const recordings: Recordings = new Recordings(core, {
    files,
    ingest,
    holds,
    erasure,
    probe: (projectId, { draft, ...arrival }) =>
      audioThreads.probe(projectId, { ...arrival, path: draft.path }),
    onKept: () => peaksBacklog.schedule(),
  })
  const muter = new Muter(core, { files, audio: audioThreads, recordings, readMuting })
  return {
    audioThreads,
    peaksBacklog,
    recordings,
    recordingExpiry: new RecordingExpiry(core, { recordings }),
    fetchQueue: new FetchQueue(core, { ingest, recordings, canKeep: files !== null }),
  }
}

/** Asks platforms' APIs. */
export function openPlatformClient(core: Core, guard: AddressGuard): PlatformClient {
  return new PlatformClient(core, { guard })
}

/** Fetches recordings from platforms. */
export function openFetching(core: Core, beside: FetcherParts): void {
  new RecordingFetcher(core, beside)
}
