import { openReader } from '../../../db/reader.ts'
import { lowerPriority } from '../../../threads/priority.ts'
import { dataOfThread, sendEvent, serve } from '../../../threads/serve.ts'
import { loadAddon } from './addon.ts'
import { Indexes, type IndexWorkerData } from './indexes.ts'
import type { IndexLog } from './project-index.ts'

/** 0 is normal, 19 the lowest. */
const niceness = 5

lowerPriority(niceness)
const data = dataOfThread<IndexWorkerData>()
const addon = data.exact ? ({ hnswlib: null, reason: 'it is configured so' } as const) : loadAddon()
const log: IndexLog = (...entry) => sendEvent(entry)
const { readsAt } = data
// Mapped only where search compares every row: the mapped pages count as memory of the process.
const mapsFile = addon.hnswlib === null
const reader =
  readsAt.kind === 'file'
    ? openReader(readsAt.file, { mapsFile })
    : (await import('../../../db/remote-reader.ts')).openRemoteReader(readsAt)
const indexes = new Indexes(reader, addon, data, log)
// Closing does not wait for vectors to be added, which can take minutes: the next start adds the missing ones.
serve(indexes, { close: () => indexes.close(), closesAtOnce: true })
