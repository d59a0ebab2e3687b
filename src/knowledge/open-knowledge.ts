import { join } from 'node:path'
import type { Holds } from '../calls/keeping/holds.ts'
import type { Core } from '../core/core.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { TextThreads } from './chunking/text-threads.ts'
import { EarlyEmbedder } from './embedding/early-embedder.ts'
import type { Embedder } from './embedding/embedder.ts'
import { FileReader } from './files/file-reader.ts'
import { IdempotentCreates } from './idempotent-creates.ts'
import { IndexedItems } from './indexed-items.ts'
import { whetherFull } from './indexing/index/files.ts'
import { openVectorIndex, type VectorIndex } from './indexing/index/vector-index.ts'
import { Indexer } from './indexing/indexer.ts'
import { ItemChanges } from './item-changes.ts'
import { Knowledge } from './knowledge.ts'
import { GoldenQuestions } from './questions/golden-questions.ts'
import { GoldenRuns } from './questions/golden-runs.ts'
import { QuestionChecks } from './questions/question-checks.ts'
import { QuestionGroups } from './questions/question-groups.ts'
import { QuestionMarks } from './questions/question-marks.ts'
import { Questions } from './questions/questions.ts'
import { questionsOfCall } from './questions/questions-of-call.ts'
import { RecordedSearch } from './questions/recorded-search.ts'
import { mergedChunksMax } from './search/merge-passages.ts'
import { Search } from './search/search.ts'

/** The vectors of all projects, in their worker. */
export function openIndex(core: Core, embedder: Embedder): VectorIndex {
  const { config, database, owner, role, log } = core
  const index = openVectorIndex({
    readsAt: database.readsAt,
    folder: join(config.dataDir, 'indexes'),
    space: embedder.space,
    savesFiles: owner.isOwner,
    log: (level, message, fields) => {
      // A command does not search, so warnings about the index are of no interest. A full disk is logged once.
      const isKnown = database.problem() !== null && String(fields.error).includes(whetherFull)
      log[isKnown || (role === 'command' && level === 'warn') ? 'debug' : level](fields, message)
    },
  })
  core.onOwn(() => index.takeFiles())
  return index
}

interface Beside {
  embedder: Embedder
  textThreads: TextThreads
  index: VectorIndex
  erasure: Erasure
  holds: Holds
}

/** What agents know: items, their search, and what was asked. */
export function openKnowledge(core: Core, { embedder, textThreads, index, erasure, holds }: Beside) {
  const { role, database, store, settingsOf, now } = core
  const indexer = new Indexer(core, { embedder, index: role === 'service' ? index : null })
  // Together: closed first, the index would refuse vectors that the indexer still brings; last, others would wait until it is filled.
  core.onClose(() => Promise.all([indexer.close(), index.close()]))
  // The processes that held leases have ended, and embedding twice does no harm.
  if (database.isLocal) core.onOwn(() => indexer.endLeases())
  const search = new Search(core, { embedder, index })
  core.onClose(() => search.close())
  const questions = new Questions(core, { holds, erasure })
  core.onClose(() => questions.close())
  core.jobs.addExpiry('questions', () => questions.expire())
  const knowledge = new Knowledge(core, { textThreads, indexer, index, erasure })
  const earlyEmbedder = new EarlyEmbedder(core, { embedder })
  core.onClose(() => earlyEmbedder.close())
  const groups = new QuestionGroups(core, { search })
  const golden = new GoldenQuestions(core, { erasure, questions })
  const goldenRuns = new GoldenRuns(core, { search, golden })
  const files = new FileReader()
  core.onClose(() => files.close())
  return {
    indexer,
    search,
    questions,
    // The console's playground and `knowledge check` use `search`, because no agent asks those questions.
    recordedSearch: new RecordedSearch(core, { search, questions }),
    knowledge,
    earlyEmbedder,
    itemChanges: new ItemChanges(core, { knowledge, textThreads, indexer, earlyEmbedder, erasure }),
    indexedItems: new IndexedItems(core, { knowledge }),
    idempotentCreates: new IdempotentCreates(core, { knowledge }),
    questionGroups: groups,
    questionMarks: new QuestionMarks(core),
    questionsOfCall: (projectId: number, callId: string) =>
      questionsOfCall({ store, settingsOf, now }, projectId, callId),
    /** The same, with all that the searches can have answered. */
    searchesOfCall: (projectId: number, callId: string) =>
      questionsOfCall({ store, settingsOf, now }, projectId, callId, mergedChunksMax),
    golden,
    goldenRuns,
    questionChecks: new QuestionChecks(core, { search, groups, golden, goldenRuns }),
    files,
  }
}
