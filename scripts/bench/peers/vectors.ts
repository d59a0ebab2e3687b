import { applyLoad } from '../load.ts'
import { memoryOfTree } from '../memory.ts'
import { bodyOf } from '../requests.ts'
import { cachedCorpus, copyProject } from '../retrieval/cached-corpus.ts'
import { embedderOf, readChunks } from '../retrieval/items.ts'
import { readQuestions } from '../retrieval/questions.ts'
import { type ChunkRow, recallOf } from '../retrieval/recall.ts'
import type { Options } from '../runner.ts'
import { formatCount, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { fillChroma, startChroma } from './chroma.ts'
import { compare, sideBySide } from './compare.ts'
import type { Peer } from './peer.ts'

const questionsCount = 1_000
const recallsCount = 100
const neighbours = 10
const ratioMin = 1.3
const recallMin = 0.97
const hybridSeconds = 5
const hybridMsMax = { p50: 3, p99: 6 }
const timeoutMs = 10_000

/** Searches among the same chunks with the same vectors, which the service makes itself. */
export async function benchVectors(texts: Texts, options: Options): Promise<Row[]> {
  const { main, start, rounds, data } = options
  const project = copyProject(await cachedCorpus(texts, main, options.chunks))
  const chunks = readChunks(project)
  const questions = readQuestions(data, texts).slice(0, questionsCount)
  const embedder = await embedderOf(main)
  const vectors = await embedder.embed(questions, 'query', AbortSignal.timeout(60_000))
  const search = (query: string, mode: string) => ({
    method: 'POST',
    path: '/v1/knowledge/search',
    body: JSON.stringify({ query, mode, limit: neighbours, timeoutMs }),
  })
  const service = await start(project)
  const callbook: Peer = {
    ...service,
    name: 'Callbook',
    key: project.key,
    requests: { search: (query) => search(query, 'vector') },
  }
  const running = await startChroma()
  const chroma = typeof running === 'string' ? null : await fillChroma(running, chunks)
  if (typeof running === 'string') process.stderr.write(`${running}\n`)
  const peers = chroma ? [callbook, chroma] : [callbook]
  const asked = questions.map((query, index) => ({ query, vector: vectors[index] ?? new Float32Array() }))
  const rows: Row[] = []
  for (const connections of [1, 8]) {
    const comparison = {
      what: `vector search among ${formatCount(chunks.length)} chunks`,
      connections,
      requests: ({ requests }: Peer) =>
        asked.flatMap(({ query, vector }) => requests.search?.(query, vector) ?? []),
      target: { peer: 'Chroma', ratioMin },
    }
    rows.push(await compare(peers, comparison, rounds))
  }
  const recalls: number[] = []
  for (const peer of peers) {
    let sum = 0
    for (const { query, vector } of asked.slice(0, recallsCount))
      sum += recallOf(vector, { chunks, hits: await hitsOf(peer, { query, vector, chunks }), neighbours })
    recalls.push(sum / recallsCount)
  }
  const memories = peers.map(({ pid }) => `${memoryOfTree(pid)} MB`)
  const requests = questions.map((query) => search(query, 'hybrid'))
  const hybrid = await applyLoad({
    ...{ url: service.url, key: project.key, requests },
    connections: 1,
    seconds: hybridSeconds,
  })
  await chroma?.stop()
  return [
    ...rows,
    {
      what: `  recall@${neighbours} of ${recallsCount} questions`,
      measured: sideBySide(
        peers,
        recalls.map((recall) => recall.toFixed(3)),
      ),
      target: `≥ ${recallMin}`,
      isMet: (recalls[0] ?? 0) >= recallMin,
    },
    { what: '  memory after it', measured: sideBySide(peers, memories), target: 'reported', isMet: null },
    {
      what: '  hybrid search, 1 client',
      measured: `p50 ${hybrid.p50Ms.toFixed(1)}, p99 ${hybrid.p99Ms.toFixed(1)} ms`,
      target: `≤ ${hybridMsMax.p50}, ≤ ${hybridMsMax.p99} ms`,
      isMet: hybrid.p50Ms <= hybridMsMax.p50 && hybrid.p99Ms <= hybridMsMax.p99,
    },
  ]
}

async function hitsOf(
  peer: Peer,
  { query, vector, chunks }: { query: string; vector: Float32Array; chunks: readonly ChunkRow[] },
) {
  const { path = '', body = '{}' } = peer.requests.search?.(query, vector) ?? {}
  const answer = JSON.parse(
    await bodyOf(peer.url, { method: 'POST', path, key: peer.key, body: JSON.parse(body) }),
  )
  if (answer.data === undefined) return answer.ids[0].map((id: string) => chunks[Number(id)])
  if (answer.mode !== 'vector') throw new Error(`A vector search was answered by ${answer.mode}`)
  return answer.data
}
