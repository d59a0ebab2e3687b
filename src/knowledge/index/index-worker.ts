import { openReaderAt } from '../../db/remote-reader.ts'
import { lowerPriority } from '../../threads/priority.ts'
import { dataOfThread, sendEvent, serve } from '../../threads/serve.ts'
import { loadAddon } from './addon.ts'
import { Indexes } from './indexes.ts'
import type { IndexLogEntry, IndexWorkerData, VectorIndex } from './vector-index.ts'

/** 0 is normal, 19 the lowest. */
const niceness = 5

lowerPriority(niceness)
const options = dataOfThread<IndexWorkerData>()
const addon = options.exact ? ({ hnswlib: null, reason: 'it is configured so' } as const) : loadAddon()
const indexes: VectorIndex = new Indexes(
  openReaderAt(options.readsAt),
  addon,
  options,
  (level, message, fields) => sendEvent<IndexLogEntry>({ level, message, fields }),
)
// Filling a large graph takes minutes; what is missing is added at the next start.
serve(indexes, { close: () => indexes.close(), closesAtOnce: true })
