import { createBuiltinEmbedder } from '../../../src/knowledge/embedding/builtin.ts'
import { copyDataset, readRows } from '../../dataset.ts'
import { memoryOfTree } from '../../process-use.ts'
import { ask } from '../../requests.ts'
import { corpusDataset } from '../corpus.ts'
import { formatCount, type Row, row } from '../figures.ts'
import { formatLatency, measure } from '../load.ts'
import { type ChunkRow, recallOf } from '../retrieval/recall.ts'
import type { Options } from '../runner.ts'
import { asPeer, searchRequest } from './callbook.ts'
import { fillChroma, startChroma } from './chroma.ts'
import { compare, sideBySide } from './compare.ts'
import type { Peer } from './peer.ts'

const questionsCount = 1_000
const recallsCount = 100
const neighbours = 10
const recallMin = 0.97
const hybridMsMax = { p50: 3, p99: 6 }

/** A question, and its vector, which the service makes itself. */
interface Asked {
  query: string
  vector: Float32Array
}

/** Searches among the same chunks with the same vectors. */
export async function benchVectors({ start, rounds, texts, chunks: count }: Options): Promise<Row[]> {
  const dataset = copyDataset(await corpusDataset({ texts, chunks: count }))
  const chunks = readChunks(dataset)
  const queries = texts.questions.slice(0, questionsCount)
  const vectors = await createBuiltinEmbedder().embed(queries, 'query', AbortSignal.timeout(60_000))
  const asked = queries.map((query, at): Asked => ({ query, vector: vectors[at] ?? new Float32Array() }))
  const callbook = asPeer(await start(dataset.folder), dataset)
  const running = await startChroma()
  if (typeof running === 'string') process.stderr.write(`${running}\n`)
  const peers = typeof running === 'string' ? [callbook] : [callbook, await fillChroma(running, chunks)]
  const rows: Row[] = []
  for (const connections of [1, 8]) {
    const comparison = {
      what: `vector search among ${formatCount(chunks.length)} chunks`,
      connections,
      requests: ({ requests: { search } }: Peer) =>
        search && asked.map(({ query, vector }) => search(query, vector)),
      target: { peer: 'Chroma', ratioMin: 1.3 },
    }
    rows.push(await compare(peers, comparison, rounds))
  }
  const recalls: number[] = []
  for (const peer of peers) recalls.push(await recallFor(peer, asked.slice(0, recallsCount), chunks))
  const memories = peers.map(({ pid }) => `${memoryOfTree(pid)} MB`)
  const requests = queries.map((query) => searchRequest(query, 'hybrid'))
  const { p50Ms, p99Ms } = await measure(callbook, { key: dataset.key, requests, connections: 1, seconds: 5 })
  for (const peer of peers.slice(1)) await peer.stop()
  const recallTexts = recalls.map((recall) => recall.toFixed(3))
  return [
    ...rows,
    row(
      `  recall@${neighbours} of ${recallsCount} questions`,
      sideBySide(peers, recallTexts),
      `≥ ${recallMin}`,
      (recalls[0] ?? 0) >= recallMin,
    ),
    row('  memory after it', sideBySide(peers, memories)),
    row(
      '  hybrid search, 1 client',
      formatLatency({ p50Ms, p99Ms }),
      `≤ ${hybridMsMax.p50}, ≤ ${hybridMsMax.p99} ms`,
      p50Ms <= hybridMsMax.p50 && p99Ms <= hybridMsMax.p99,
    ),
  ]
}

function readChunks(dataset: { databaseFile: string }): ChunkRow[] {
  const rows = readRows<Omit<ChunkRow, 'vector'> & { embedding: Buffer }>(
    dataset,
    `select knowledge_items.id as itemId, position, chunks.text, embedding
      from chunks join knowledge_items on knowledge_items.seq = chunks.item_seq`,
  )
  // Copied, because a float array has to start at a multiple of four bytes.
  return rows.map(({ embedding, ...chunk }) => ({
    ...chunk,
    vector: new Float32Array(new Uint8Array(embedding).buffer),
  }))
}

async function recallFor(peer: Peer, asked: readonly Asked[], chunks: ChunkRow[]): Promise<number> {
  let sum = 0
  for (const { query, vector } of asked) {
    const { path = '', body = '{}' } = peer.requests.search?.(query, vector) ?? {}
    const answer = await ask<{ data?: ChunkRow[]; mode?: string; ids?: string[][] }>(peer.url, {
      path,
      key: peer.key,
      body: JSON.parse(body),
    })
    if (answer.data && answer.mode !== 'vector')
      throw new Error(`A vector search was answered by ${answer.mode}`)
    const hits = answer.data ?? answer.ids?.[0]?.flatMap((id) => chunks[Number(id)] ?? []) ?? []
    sum += recallOf(vector, { chunks, hits, neighbours })
  }
  return sum / asked.length
}
