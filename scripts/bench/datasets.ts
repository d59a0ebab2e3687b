import type { CallChange } from '../../src/calls/schemas.ts'
import type { Services } from '../../src/services/services.ts'
import { cachedDataset, type Dataset } from './dataset.ts'
import { loadCalls } from './load-calls.ts'
import { callId, madeCalls } from './made-calls.ts'
import { madeItems } from './made-items.ts'
import { createRandom } from './random.ts'
import type { QuestionSet } from './retrieval/sets.ts'
import type { Document, Texts } from './texts.ts'

export const callsCount = 100_000
export const turnsEach = 20
const itemsCount = 5_000
export const chunksEach = 10
export const searchedItemsCount = 3_000

const callsPerBatch = 1_000

/** 100,000 calls of 20 turns. */
export function callsDataset(texts: Texts): Promise<Dataset> {
  return cachedDataset(`calls-${callsCount}-${texts.kind}`, (services, projectId) =>
    putCalls(services, projectId, madeCalls(texts, { count: callsCount, turns: turnsEach })),
  )
}

/** Requests for those calls in random order. */
export function randomCallPaths(count: number): string[] {
  const random = createRandom(1)
  return Array.from({ length: count }, () => `/v1/calls/${callId(Math.floor(random() * callsCount))}`)
}

/** The same calls, and 50,000 chunks in 5,000 items. */
export async function chunksDataset(texts: Texts): Promise<Dataset> {
  const name = `calls-${callsCount}-chunks-${itemsCount * chunksEach}-${texts.kind}`
  return cachedDataset(
    name,
    (services, projectId) =>
      storeItems(services, projectId, madeItems(texts, { count: itemsCount, chunksEach })),
    await callsDataset(texts),
  )
}

/** 3,000 items: real documents and passages where there are enough, and made ones. */
export function searchDataset(texts: Texts, sets: QuestionSet[]): Promise<Dataset> {
  const passages = sets.flatMap((set) => set.passages)
  const real = passages.map(({ title, text }, index) => ({ name: title || `Passage ${index}`, text }))
  const made = madeItems(texts, { count: searchedItemsCount, chunksEach: 1 })
  const items = [...texts.documents, ...real, ...made].slice(0, searchedItemsCount)
  return cachedDataset(`items-${searchedItemsCount}-${texts.kind}`, (services, projectId) =>
    storeItems(services, projectId, items),
  )
}

/** Calls of one year that filters find: each rare value has `rareCallsCount` of them, however many there are. */
export function findDataset(texts: Texts, count: number): Promise<Dataset> {
  return loadedDataset(`find-${count}-${texts.kind}`, callsToFind(texts, count), { hasWords: true })
}

export const personCalls = { of: 200_000, every: 20, number: '+4915112345678' }

/** Calls of a year with their words, some of them from one number. */
export function personDataset(texts: Texts): Promise<Dataset> {
  const { of: count, every, number } = personCalls
  function* calls() {
    let index = 0
    for (const { id, change } of madeCalls(texts, { count, turns: null })) {
      const callerNumber = index % every === 0 ? number : `+1555${String(index).padStart(7, '0')}`
      yield { id, change: { ...change, callerNumber } }
      index++
    }
  }
  return loadedDataset(`person-${count}-${texts.kind}`, calls(), { hasWords: true })
}

export const rareCallsCount = 100

function* callsToFind(texts: Texts, count: number) {
  const every = Math.ceil(count / rareCallsCount)
  let index = 0
  for (const { id, change } of madeCalls(texts, { count, turns: null })) {
    const isRare = index % every === 0
    const callAnalysis = {
      ...change.callAnalysis,
      score: index % 10,
      topic: isRare ? 'rare' : `topic ${index % 40}`,
    }
    const rare: CallChange = {
      ...{ status: 'live', evaluation: 'rare', endedReason: 'rare', isEngaged: true, duration: 9_000 },
      ...{ callerNumber: `+994${index}`, calledNumber: '+15550199999', summary: 'A zeppelin landed.' },
      updatedAt: '2026-06-01T00:00:00Z',
    }
    const common: CallChange = { status: 'completed', isEngaged: false, callerNumber: `+1555${index}` }
    yield { id, change: { ...change, callAnalysis, ...(isRare ? rare : common) } }
    index++
  }
}

/** Calls that are inserted directly into the tables. */
function loadedDataset(
  name: string,
  calls: Parameters<typeof loadCalls>[2],
  options?: Parameters<typeof loadCalls>[3],
): Promise<Dataset> {
  return cachedDataset(name, async ({ database }, projectId) =>
    loadCalls(database.file, projectId, calls, options),
  )
}

/** Puts calls in batches, one after the other. */
export async function putCalls(
  { ingest }: Services,
  projectId: number,
  calls: Iterable<Parameters<typeof ingest.putAll>[1][number]>,
): Promise<void> {
  let batch: Parameters<typeof ingest.putAll>[1][number][] = []
  const put = async () => {
    for (const result of await ingest.putAll(projectId, batch)) if (result instanceof Error) throw result
    batch = []
  }
  for (const call of calls) {
    batch.push(call)
    if (batch.length === callsPerBatch) await put()
  }
  if (batch.length > 0) await put()
}

async function storeItems(
  { knowledge, indexer }: Services,
  projectId: number,
  items: Iterable<Document>,
): Promise<void> {
  for (const item of items) await knowledge.store(projectId, item)
  indexer.wake(projectId)
  await indexer.idle()
}
