import type { SearchMode } from '../../src/knowledge/schemas.ts'
import { makeDataset } from '../dataset.ts'
import { processOf } from '../process-use.ts'
import type { Running } from '../processes.ts'
import { ask } from '../requests.ts'
import { formatCount, type Row, row } from './figures.ts'
import { percentile } from './load.ts'
import { searchByPlainBm25 } from './retrieval/plain-bm25.ts'
import { formatQuality, mean, type Quality, qualityOf, rankOf } from './retrieval/ranks.ts'
import { answersOf, type QuestionSet, readQuestionSets, storeSet } from './retrieval/sets.ts'
import { type Options, runSuite } from './runner.ts'

/** Long enough that every answer has the requested mode. */
const timeoutMs = 10_000
const warmUpCount = 100
/** How far hybrid search may stay behind the better of its parts. */
const behindMax = 0.015

interface Embedder {
  name: string
  environment: Record<string, string>
}

await runSuite({
  command: 'bench:retrieval',
  title: 'Retrieval',
  about:
    'how often the right passage comes first, over HTTP, one question at a time. Plain BM25 is FTS5 with all words ' +
    'OR-ed. With HF_TOKEN or EMBEDDING_ENDPOINT set, that model is measured beside `builtin`. The time of the ' +
    'processor is that of the service.',
  cases: [
    { name: 'builtin', run: (options) => benchQuality({ name: 'builtin', environment: {} }, options) },
    { name: 'model', run: benchModel },
  ],
})

async function benchModel(options: Options): Promise<Row[]> {
  const given = ['HF_TOKEN', 'EMBEDDING_ENDPOINT', 'EMBEDDING_MODEL'].flatMap((name) => {
    const value = process.env[name]
    return value ? [[name, value] as const] : []
  })
  const environment = { EMBEDDING_PROVIDER: 'huggingface', ...Object.fromEntries(given) }
  if (given.length > 0)
    return benchQuality({ name: process.env.EMBEDDING_MODEL ?? 'model', environment }, options)
  return [row('a model', 'not measured: neither HF_TOKEN nor EMBEDDING_ENDPOINT is set')]
}

/** Each set in each mode. */
async function benchQuality(embedder: Embedder, options: Options): Promise<Row[]> {
  const sets = readQuestionSets(options.data)
  if (sets.length === 0) return [row('question sets', 'not measured: no folder of data with retrieval/')]
  const rows: Row[] = []
  const hybrids: number[] = []
  for (const set of sets) {
    const { rows: own, mrr10 } = await measureSet(set, embedder, options)
    rows.push(...own)
    hybrids.push(mrr10)
  }
  return [...rows, row(`all sets, hybrid (${embedder.name})`, `mean MRR@10 ${mean(hybrids).toFixed(3)}`)]
}

async function measureSet(set: QuestionSet, { name, environment }: Embedder, { start }: Options) {
  let indexingMs = 0
  const { folder, key } = await makeDataset({
    environment,
    fill: async (services, projectId) => {
      const startedAt = performance.now()
      await storeSet(services, projectId, set)
      indexingMs = performance.now() - startedAt
    },
  })
  const service = await start(folder, environment)
  const found = searchByPlainBm25(set)
  const plain = qualityOf(set.questions.map((question, at) => rankOf(answersOf(question), found[at] ?? [])))
  const [keyword, vector, hybrid] = [
    await measureMode(service, { key, set, mode: 'keyword' }),
    await measureMode(service, { key, set, mode: 'vector' }),
    await measureMode(service, { key, set, mode: 'hybrid' }),
  ]
  await service.stop()
  const [hit5, mrr10] = (['hit5', 'mrr10'] as const).map(
    (figure) => Math.max(keyword.quality[figure], vector.quality[figure]) - behindMax,
  )
  const isMet = hybrid.quality.hit5 >= (hit5 ?? 0) && hybrid.quality.mrr10 >= (mrr10 ?? 0)
  const target = `hit@5 ≥ ${hit5?.toFixed(3)}, MRR@10 ≥ ${mrr10?.toFixed(3)}`
  const perSecond = (set.passages.length * 1_000) / indexingMs
  const rows = [
    row(`${set.name}, plain BM25, ${formatCount(set.questions.length)} questions`, formatQuality(plain)),
    row(`  keyword (${name})`, keyword.text),
    row(`  vector (${name})`, vector.text),
    row(`  hybrid (${name})`, hybrid.text, target, isMet),
    row(`  indexing (${name})`, `${formatCount(perSecond)} passages/s`),
  ]
  return { rows, mrr10: hybrid.quality.mrr10 }
}

async function measureMode(
  { url, pid }: Running,
  { key, set, mode }: { key: string; set: QuestionSet; mode: SearchMode },
): Promise<{ quality: Quality; text: string }> {
  const find = (query: string) =>
    ask<{ data: { itemId: string }[]; mode: SearchMode }>(url, {
      path: '/v1/knowledge/search',
      key,
      body: { query, mode, limit: 10, timeoutMs },
    })
  // Not the measured questions: the service would cache their vectors.
  for (const { query } of set.questions.slice(0, warmUpCount)) await find(`${query} Anyone?`)
  const ranks: (number | null)[] = []
  const times: number[] = []
  const before = processOf(pid).processorSeconds
  for (const question of set.questions) {
    const startedAt = performance.now()
    const { data, mode: used } = await find(question.query)
    times.push(performance.now() - startedAt)
    if (used !== mode) throw new Error(`A search by ${mode} was answered by ${used}`)
    const found = data.map(({ itemId }) => itemId)
    ranks.push(rankOf(answersOf(question), found))
  }
  const usEach = ((processOf(pid).processorSeconds - before) * 1e6) / times.length
  times.sort((a, b) => a - b)
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
  const quality = qualityOf(ranks)
  const took = `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms, ${formatCount(usEach)} us`
  return { quality, text: `${formatQuality(quality)}; ${took}` }
}
