import { createHash } from 'node:crypto'
import type { SearchMode } from '../../src/knowledge/schemas.ts'
import type { Services } from '../../src/services/services.ts'
import { makeDataset } from '../dataset.ts'
import { processOf } from '../process-use.ts'
import type { Running } from '../processes.ts'
import { ask } from '../requests.ts'
import { formatCount, type Row, row } from './figures.ts'
import { percentile } from './load.ts'
import { benchFiltered, benchFilteredSpeed } from './retrieval/filtered.ts'
import { searchByPlainBm25 } from './retrieval/plain-bm25.ts'
import { areaUnderCurve, formatQuality, mean, type Quality, qualityOf, rankOf } from './retrieval/ranks.ts'
import { answersOf, type QuestionSet, readQuestionSets, spread, storeSet } from './retrieval/sets.ts'
import { type Options, runSuite } from './runner.ts'

/** Long enough that every answer has the requested mode. */
const timeoutMs = 10_000
const warmUpCount = 100
/** How far hybrid search may stay behind the better of its parts. */
const behindMax = 0.015
const meanMrrMin = 0.81
const coverageQuestionsMax = 250
const shownCoverages = [0.3, 0.4, 0.5, 0.6]
/**
 * Sets whose questions are asked with half of the items stored, and those of the other sets here; and how much better than
 * plain BM25 coverage tells that an item is missing, and that another subject is asked for.
 */
const coverageByWords = [
  { name: 'squad', missing: 0.02, foreign: 0.005 },
  { name: 'nq', missing: 0.005, foreign: 0 },
  { name: 'boolq', missing: 0.01, foreign: 0.005 },
]
/** The same with a model: the area itself. */
const coverageByModel = [
  { name: 'covid-faq', missing: 0.64, foreign: 0.97 },
  { name: 'help', missing: 0.67, foreign: 0.97 },
  { name: 'nq', missing: 0.94, foreign: 0.97 },
]

/** The sets whose mean is compared: those whose questions are in the language of their titles. */
const namesOfMean = ['help', 'covid-faq', 'mtrag-clapnq', 'nq', 'squad']

/** With a model, which takes a sixth of a second a passage on two cores. */
const namesOfModel = [...namesOfMean, 'mtrag-govt']
const modelQuestionsMax = 400

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
    { name: 'model', run: async (options) => benchModel((model) => benchQuality(model, options)) },
    { name: 'coverage', run: (options) => benchCoverage(null, options) },
    { name: 'coverage-model', run: (options) => benchModel((model) => benchCoverage(model, options)) },
    { name: 'filtered', run: benchFiltered },
    { name: 'filtered-speed', run: benchFilteredSpeed, isLarge: true },
  ],
})

async function benchModel(run: (model: Embedder) => Promise<Row[]>): Promise<Row[]> {
  const given = ['HF_TOKEN', 'EMBEDDING_ENDPOINT', 'EMBEDDING_MODEL'].flatMap((name) => {
    const value = process.env[name]
    return value ? [[name, value] as const] : []
  })
  const environment = { EMBEDDING_PROVIDER: 'huggingface', ...Object.fromEntries(given) }
  if (given.length > 0) return run({ name: process.env.EMBEDDING_MODEL ?? 'model', environment })
  return [row('a model', 'not measured: neither HF_TOKEN nor EMBEDDING_ENDPOINT is set')]
}

/** Each set in each mode. */
async function benchQuality(embedder: Embedder, options: Options): Promise<Row[]> {
  const isModel = embedder.name !== 'builtin'
  const all = readQuestionSets(options.data)
  if (all.length === 0) return [row('question sets', 'not measured: no folder of data with retrieval/')]
  const sets = isModel
    ? all
        .filter(({ name }) => namesOfModel.includes(name))
        .map(({ questions, ...set }) => ({ ...set, questions: spread(questions, modelQuestionsMax) }))
    : all
  const rows: Row[] = []
  const hybrids: number[] = []
  for (const set of sets) {
    const { rows: own, mrr10 } = await measureSet(set, embedder, options)
    rows.push(...own)
    if (namesOfMean.includes(set.name)) hybrids.push(mrr10)
  }
  const mrr10 = mean(hybrids)
  const text = `mean MRR@10 ${mrr10.toFixed(3)}`
  const what = `${hybrids.length} sets of ${namesOfMean.length}, hybrid (${embedder.name})`
  // With `builtin`, hybrid search is to be as good as keyword search, which each set says.
  rows.push(isModel ? row(what, text, `≥ ${meanMrrMin}`, mrr10 >= meanMrrMin) : row(what, text))
  return rows
}

/** How well coverage tells questions whose item is stored from those whose item is not, or is of another subject. */
async function benchCoverage(model: Embedder | null, { data, start }: Options): Promise<Row[]> {
  const sets = readQuestionSets(data)
  const rows: Row[] = []
  const measured = model ? coverageByModel : coverageByWords
  const names = measured.map(({ name }) => name)
  for (const { name, missing, foreign } of measured) {
    const set = sets.find((each) => each.name === name)
    const others = sets.filter((each) => each.name !== name && names.includes(each.name))
    if (!set || others.length === 0)
      return [row('coverage', 'not measured: no folder of data with retrieval/')]
    const isStored = (id: string) => (createHash('sha256').update(id).digest()[0] ?? 0) < 128
    const stored = { ...set, passages: set.passages.filter(({ doc_id }) => isStored(doc_id)) }
    const isAnswered = (question: QuestionSet['questions'][number]) => answersOf(question).some(isStored)
    const asked = [
      spread(set.questions.filter(isAnswered), coverageQuestionsMax),
      spread(
        set.questions.filter((question) => !isAnswered(question)),
        coverageQuestionsMax,
      ),
      spread(
        others.flatMap(({ questions }) => spread(questions, coverageQuestionsMax)),
        coverageQuestionsMax,
      ),
    ]
    const environment = model?.environment ?? {}
    const fill = (services: Services, projectId: number) => storeSet(services, projectId, stored)
    const { folder, key } = await makeDataset({ environment, fill })
    const service = await start(folder, environment)
    const covered: number[][] = []
    for (const questions of asked) {
      const own: number[] = []
      for (const { query } of questions) {
        const body = { query, timeoutMs }
        const path = '/v1/knowledge/search'
        own.push((await ask<{ coverage: number | null }>(service.url, { path, key, body })).coverage ?? 0)
      }
      covered.push(own)
    }
    await service.stop()
    const plain = asked.map((questions) =>
      searchByPlainBm25({ ...stored, questions }).map(({ coverage }) => coverage),
    )
    const [answered = [], ...unanswered] = covered
    for (const [at, gain] of [missing, foreign].entries()) {
      const area = areaUnderCurve(answered, unanswered[at] ?? [])
      const plainArea = areaUnderCurve(plain[0] ?? [], plain[at + 1] ?? [])
      const least = model ? gain : plainArea + gain
      const shares = shownCoverages.map((least) => {
        const share = (values: readonly number[] = []) => values.filter((value) => value >= least).length
        const percent = (values: readonly number[] = []) => Math.round((100 * share(values)) / values.length)
        return `≥ ${least}: ${percent(answered)} % and ${percent(unanswered[at])} %`
      })
      rows.push(
        row(
          `${name}, coverage of ${['questions whose item is missing', 'another subject'][at]} (${model?.name ?? 'builtin'})`,
          `area ${area.toFixed(3)}, plain BM25 ${plainArea.toFixed(3)}; stored and not, ${shares.join(', ')}`,
          `≥ ${least.toFixed(3)}`,
          area >= least,
        ),
      )
    }
  }
  return rows
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
  const plain = qualityOf(
    set.questions.map((question, at) => rankOf(answersOf(question), found[at]?.found ?? [])),
  )
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
