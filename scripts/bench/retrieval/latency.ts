import type { SearchMode } from '../../../src/knowledge/schemas.ts'
import { latencyOf } from '../paced.ts'
import { countChunks } from '../project.ts'
import type { Options } from '../runner.ts'
import { formatLatency, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { cachedCorpus } from './cached-corpus.ts'
import { readQuestions } from './questions.ts'
import { type SearchResult, startSearching } from './searching.ts'

/** Fewer than the service caches vectors of, so that the second round finds all of them cached. */
const questionsCount = 1_400
const warmUpCount = 300
const atOnce = 4
const secondsMax = 25
const msMax = { p50: 4, p99: 15 }

/** Latency of searches in 50,000 chunks. */
export async function benchLatency(texts: Texts, { main, start, data }: Options): Promise<Row[]> {
  const project = await cachedCorpus(texts, main)
  const questions = readQuestions(data, texts)
  const [asked, others] = [questions.slice(0, questionsCount), questions.slice(questionsCount)]
  const among = `${countChunks(project).toLocaleString('en')} chunks`
  const service = await start(project)
  const searches = (queries: string[], mode: SearchMode) => queries.map((query) => ({ query, mode }))
  const measure = (mode: SearchMode, concurrency = 1) =>
    startSearching({
      url: service.url,
      key: project.key,
      warmUp: searches(others.slice(0, warmUpCount), mode),
      rounds: [searches(asked, mode)],
      concurrency,
      secondsMax,
    }).done
  const cold = await measure('hybrid')
  const cached = await measure('hybrid')
  const rows = [
    judged(`search, hybrid, ${among}, one at a time, query not seen yet`, cold),
    judged('  the same queries again, embeddings cached', cached),
    reported('  share of keyword, vector and fusion within the service', formatTimings(cold)),
  ]
  for (const mode of ['keyword', 'vector'] as const)
    rows.push(reported(`  ${mode} alone`, formatLatency(latencyOf([await measure(mode)]))))
  const crowded = latencyOf([await measure('hybrid', atOnce)])
  rows.push(reported(`  hybrid, ${atOnce} at once`, formatLatency(crowded)))
  return rows
}

function judged(what: string, result: SearchResult): Row {
  const latency = latencyOf([result])
  const degraded = latency.count - latency.failed - (result.modes.hybrid ?? 0)
  return {
    what,
    measured: formatLatency(latency) + (degraded > 0 ? `, ${degraded} BY KEYWORD ALONE` : ''),
    target: `p50 ≤ ${msMax.p50}, p99 ≤ ${msMax.p99} ms`,
    isMet: latency.p50 <= msMax.p50 && latency.p99 <= msMax.p99 && latency.failed === 0 && degraded === 0,
  }
}

function reported(what: string, measured: string): Row {
  return { what, measured, target: 'reported', isMet: null }
}

/** The mean of each part and its share of the whole; parts may run at the same time. */
function formatTimings({ timings }: SearchResult): string {
  const means = Object.entries(timings).map(([name, times]) => ({
    name,
    ms: times.reduce((sum, ms) => sum + ms, 0) / times.length,
  }))
  const total = means.find(({ name }) => name === 'total')?.ms
  if (means.length === 0) return 'not reported'
  return means
    .map(({ name, ms }) => {
      const share = total === undefined || name === 'total' ? '' : ` (${Math.round((ms * 100) / total)} %)`
      return `${name} ${ms.toFixed(2)} ms${share}`
    })
    .join(', ')
}
