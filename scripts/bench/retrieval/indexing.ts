import { latencyOf } from '../paced.ts'
import { endlessDocuments, postChunks } from '../posting.ts'
import type { Options } from '../runner.ts'
import { formatLatency, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { cachedCorpus, copyProject } from './cached-corpus.ts'
import { readQuestions } from './questions.ts'
import { type SearchResult, startSearching } from './searching.ts'

const atMost = 3
const chunksCount = 5_000
/** Indexed before the measurement, so that JIT compilation does not count. */
const warmUpChunks = 500
const turns = 4
const idleSeconds = 5
const secondsMax = 60

/** Latency of searches while documents are indexed, compared with idle. Alternates between the two. */
export async function benchIndexing(texts: Texts, { main, start, data }: Options): Promise<Row[]> {
  const project = copyProject(await cachedCorpus(texts, main))
  const service = await start(project)
  const documents = endlessDocuments(texts)
  const searches = readQuestions(data, texts).map((query) => ({ query }))
  const startAsking = (seconds: number) =>
    startSearching({
      url: service.url,
      key: project.key,
      // Also compiles the code of the load.
      warmUp: searches.slice(0, 50),
      rounds: [searches],
      repeats: true,
      secondsMax: seconds,
    })
  const idle: SearchResult[] = []
  const busy: SearchResult[] = []
  await Promise.all([startAsking(idleSeconds).done, postChunks(service, project, documents, warmUpChunks)])
  let indexingMs = 0
  for (let turn = 0; turn < turns; turn++) {
    idle.push(await startAsking(idleSeconds).done)
    const asking = startAsking(secondsMax)
    const from = performance.now()
    await postChunks(service, project, documents, chunksCount / turns)
    indexingMs += performance.now() - from
    busy.push(await asking.stop())
  }
  const [atRest, atWork] = [latencyOf(idle), latencyOf(busy)]
  const ratio = atWork.p99 / atRest.p99
  const perSecond = Math.round((chunksCount * 1_000) / indexingMs)
  return [
    {
      what: `p99 of search while ${chunksCount.toLocaleString('en')} chunks are indexed`,
      measured: `${ratio.toFixed(2)} ×: ${formatLatency(atWork)}; idle ${formatLatency(atRest)}; ${perSecond} chunks/s`,
      target: `≤ ${atMost} × idle`,
      isMet: ratio <= atMost && atWork.failed === 0,
    },
  ]
}
