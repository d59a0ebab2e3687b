import pino from 'pino'
import { loadConfig } from '../../../src/config.ts'
import type { VectorHit } from '../../../src/knowledge/indexing/index/rows.ts'
import { KeywordSearch } from '../../../src/knowledge/search/keyword.ts'
import { type Evidence, gatherEvidence } from '../../../src/knowledge/search/rank-passages.ts'
import { openServices, type Services } from '../../../src/services/services.ts'
import { cachedDataset } from '../dataset.ts'
import { answersOf, nameOf, type Question, type QuestionSet } from '../retrieval/sets.ts'

const limit = 10
const vectorHits = 50

/** A question with all that ranking has to order. */
export interface Sample {
  question: Question
  evidence: Evidence
  vector: VectorHit[]
  /** The items that answer it. */
  answers: ReadonlySet<number>
  /** The item of each chunk. */
  itemOf: ReadonlyMap<number, number>
}

/** Stores a set's passages as items, and looks up each question with the product's own code. */
export async function readSamples(set: QuestionSet): Promise<Sample[]> {
  const { passages } = set
  const dataset = await cachedDataset(`ranking-${set.name}`, async ({ knowledge, indexer }, projectId) => {
    for (const [at, passage] of passages.entries())
      await knowledge.store(projectId, { name: nameOf(passage, at), text: passage.text })
    indexer.wake(projectId)
    await indexer.idle()
  })
  const config = loadConfig({ DATA_DIR: dataset.folder, EMBEDDING_PROVIDER: 'builtin' }, false)
  const services = await openServices({ config, log: pino({ level: 'silent' }), role: 'service' })
  await services.start()
  try {
    return await lookUp(services, dataset.projectId, set)
  } finally {
    await services.close()
  }
}

async function lookUp(services: Services, projectId: number, set: QuestionSet): Promise<Sample[]> {
  const { database, embedder, index } = services
  const keyword = new KeywordSearch({ store: () => database, now: () => 0 })
  const rows = await database.read.all<{ label: number; seq: number; at: number }>(`
    select label, item_seq as seq, dense_rank() over (order by item_seq) - 1 as at from chunks
    where project_id = ${projectId}`)
  const itemOf = new Map(rows.map(({ label, seq }) => [label, seq]))
  const seqOf = new Map(rows.map(({ at, seq }) => [set.passages[at]?.doc_id, seq]))
  const samples: Sample[] = []
  for (const question of set.questions) {
    const { query } = question
    const candidates = await keyword.candidates(projectId, query, {
      ...{ labels: undefined, inHurry: false, atLeast: limit * 3 + 5 },
    })
    const [embedded] = await embedder.embed([query], 'query', AbortSignal.timeout(10_000))
    const vector = embedded ? await index.search(projectId, embedded, vectorHits) : []
    const answers = new Set(answersOf(question).flatMap((id) => seqOf.get(id) ?? []))
    const { terms, passages, forms, counts } = candidates
    samples.push({
      question,
      evidence: gatherEvidence(terms, passages, forms, counts),
      vector,
      answers,
      itemOf,
    })
  }
  return samples
}
