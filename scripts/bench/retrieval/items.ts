import { join } from 'node:path'
import type { Embedder } from '../../../src/knowledge/embedding/embedder.ts'
import { latencyOf } from '../paced.ts'
import { checkoutOf, countChunks, type Project, readRows } from '../project.ts'
import { createRandom } from '../random.ts'
import type { Options } from '../runner.ts'
import { formatLatency, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { cachedCorpus } from './cached-corpus.ts'
import { readQuestions } from './questions.ts'
import { type ChunkRow, recallOf } from './recall.ts'
import { startSearching } from './searching.ts'

const share = 0.02
const queriesCount = 100
const warmUpCount = 50
const neighbours = 10
const secondsMax = 30
const atLeast = 0.98

/** Whether a search within a few items finds their nearest chunks. */
export async function benchItems(texts: Texts, { main, start, data }: Options): Promise<Row[]> {
  const project = await cachedCorpus(texts, main)
  const space = spaceOf(project)
  const chunksByItem = Map.groupBy(readChunks(project), ({ itemId }) => itemId)
  const embedder = await embedderOf(main)
  if (space !== embedder.space) throw new Error(`The chunks are of ${space}, not of ${embedder.space}`)
  const queries = readQuestions(data, texts).slice(0, queriesCount + warmUpCount)
  const searches = queries.map((query, index) => ({
    query,
    mode: 'vector' as const,
    limit: neighbours,
    itemIds: drawIds([...chunksByItem.keys()], index),
  }))
  const service = await start(project)
  const asked = searches.slice(0, queriesCount)
  const result = await startSearching({
    url: service.url,
    key: project.key,
    warmUp: searches.slice(queriesCount),
    rounds: [asked],
    secondsMax,
    keepsAnswers: true,
  }).done
  const vectors = await embedder.embed(
    asked.map(({ query }) => query),
    'query',
    AbortSignal.timeout(60_000),
  )
  const recalls = asked.map(({ itemIds }, index) => {
    const chunks = itemIds.flatMap((id) => chunksByItem.get(id) ?? [])
    const hits = result.answers[index] ?? []
    return recallOf(vectors[index] ?? new Float32Array(), { chunks, hits, neighbours })
  })
  const recall = recalls.reduce((sum, each) => sum + each, 0) / recalls.length
  const among = countChunks(project).toLocaleString('en')
  return [
    {
      what: `recall@10 within ${share * 100} % of the items, ${among} chunks`,
      measured: `${recall.toFixed(4)} over ${recalls.length} queries; ${formatLatency(latencyOf([result]))}`,
      target: `≥ ${atLeast}`,
      isMet: recall >= atLeast && result.failed === 0,
    },
  ]
}

/** Other items for each query. */
function drawIds(ids: string[], seed: number): string[] {
  const random = createRandom(seed)
  const count = Math.round(ids.length * share)
  const drawn = new Set<string>()
  while (drawn.size < count) drawn.add(ids[Math.floor(random() * ids.length)] ?? '')
  return [...drawn]
}

/** The builtin embedder of the checkout under test. */
export async function embedderOf(main: string): Promise<Embedder> {
  const file = join(checkoutOf(main), 'src/knowledge/embedding/builtin.ts')
  const { createBuiltinEmbedder }: typeof import('../../../src/knowledge/embedding/builtin.ts') =
    await import(file)
  return createBuiltinEmbedder()
}

function spaceOf({ databaseFile }: Project): string | undefined {
  const query = 'select distinct embedding_space as space from chunks'
  const spaces = readRows<{ space: string }>(databaseFile, query)
  return spaces.length === 1 ? spaces[0]?.space : undefined
}

export function readChunks({ databaseFile }: Project): ChunkRow[] {
  const rows = readRows<{ itemId: string; position: number; text: string; embedding: Buffer }>(
    databaseFile,
    `select knowledge_items.id as itemId, position, chunks.text, embedding
      from chunks join knowledge_items on knowledge_items.seq = chunks.item_seq`,
  )
  return rows.map(({ embedding, ...chunk }) => ({ ...chunk, vector: toVector(embedding) }))
}

/** Copied, because a float array has to start at a multiple of four bytes. */
function toVector(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}
