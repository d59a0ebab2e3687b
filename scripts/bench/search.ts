import { searchDataset, searchedItemsCount } from './datasets.ts'
import { applyLoad, type LoadResult } from './load.ts'
import { processOf } from './memory.ts'
import { shuffled } from './random.ts'
import { readQuestions } from './retrieval/questions.ts'
import { readQuestionSets } from './retrieval/sets.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatCount, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const clients = 8
const perSecondMin = 900
/** Fewer than the service keeps vectors of. */
const questionsCount = 1_400
const sets = ['squad', 'nq', 'covid-faq', 'help']
const roundSeconds = 3
const rounds = 3

/** Searches of many different questions by 8 clients. */
export async function benchSearch(texts: Texts, { start, data }: Options): Promise<Row[]> {
  const dataset = await searchDataset(texts, readQuestionSets(data, sets))
  const service = await start(dataset)
  const questions = shuffled(readQuestions(data, texts, sets)).slice(0, questionsCount)
  const load = (mode: string, seconds: number) => {
    const requests = questions.map((query) => ({
      method: 'POST',
      path: '/v1/knowledge/search',
      body: JSON.stringify({ query, mode }),
    }))
    return applyLoad({ url: service.url, requests, key: dataset.key, seconds, connections: clients })
  }
  // Each question once, so that what the service keeps is there.
  for (let asked = 0; asked < questions.length; ) asked += (await load('hybrid', roundSeconds)).served
  const hybrid: LoadResult[] = []
  const usedBefore = processOf(service.pid).processorSeconds
  for (let round = 0; round < rounds; round++) hybrid.push(await load('hybrid', roundSeconds))
  const requests = hybrid.reduce((sum, round) => sum + round.served, 0)
  const usEach = ((processOf(service.pid).processorSeconds - usedBefore) * 1e6) / requests
  const rate = median(hybrid.map(({ perSecond }) => perSecond))
  const p50 = median(hybrid.map(({ p50Ms }) => p50Ms))
  return [
    {
      what: `hybrid search, ${clients} clients, ${formatCount(searchedItemsCount)} items`,
      measured: `${formatCount(rate)} a second, p50 ${p50.toFixed(1)} ms; processor ${formatCount(usEach)} us each`,
      target: `≥ ${perSecondMin} a second`,
      isMet: rate >= perSecondMin,
    },
    reported('keyword', await load('keyword', roundSeconds)),
    reported('vector', await load('vector', roundSeconds)),
  ]
}

function reported(mode: string, { perSecond, p50Ms }: LoadResult): Row {
  const measured = `${formatCount(perSecond)} a second, p50 ${p50Ms.toFixed(1)} ms`
  return { what: `  ${mode} alone`, measured, target: 'reported', isMet: null }
}
