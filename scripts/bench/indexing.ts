import { copyDataset, type Dataset } from './dataset.ts'
import { callsDataset, randomCallPaths } from './datasets.ts'
import { latencyOf, type PacedResult, startPaced } from './paced.ts'
import { endlessDocuments, postChunks } from './posting.ts'
import type { Running } from './processes.ts'
import type { Options } from './runner.ts'
import { formatLatency, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const ratioMax = 4
const chunksCount = 5_000
/** Indexed before the measurement, so that JIT compilation does not count. */
const warmUpChunks = 1_000
const turnsOfLoad = 4
const idleSeconds = 6
const requestsPerSecond = 500
const secondsMax = 90

/** Latency of GET /v1/calls/:id while documents are indexed, compared with idle. Alternates between the two. */
export async function benchIndexing(texts: Texts, { start }: Options): Promise<Row[]> {
  const dataset = copyDataset(await callsDataset(texts))
  const service = await start(dataset)
  const documents = endlessDocuments(texts)
  const idle: PacedResult[] = []
  const busy: PacedResult[] = []
  await Promise.all([
    startReading(service, dataset, idleSeconds).done,
    postChunks(service, dataset, documents, warmUpChunks),
  ])
  const startedAt = performance.now()
  let indexingMs = 0
  for (let turn = 0; turn < turnsOfLoad; turn++) {
    idle.push(await startReading(service, dataset, idleSeconds).done)
    const reading = startReading(service, dataset, secondsMax)
    const from = performance.now()
    await postChunks(service, dataset, documents, chunksCount / turnsOfLoad)
    indexingMs += performance.now() - from
    busy.push(await reading.stop())
    if (performance.now() - startedAt > secondsMax * 2_000) throw new Error('Indexing takes too long')
  }
  const [idleLatency, busyLatency] = [latencyOf(idle), latencyOf(busy)]
  const ratio = busyLatency.p99 / idleLatency.p99
  const perSecond = Math.round((chunksCount * 1_000) / indexingMs)
  return [
    {
      what: `p99 of GET /v1/calls/:id while ${chunksCount} chunks are indexed`,
      measured: `${ratio.toFixed(2)} ×: ${formatLatency(busyLatency)}; idle ${formatLatency(idleLatency)}; ${perSecond} chunks/s`,
      target: `≤ ${ratioMax} × idle`,
      isMet: ratio <= ratioMax,
    },
  ]
}

function startReading({ url }: Running, { key }: Dataset, seconds: number) {
  const requests = randomCallPaths(20_000).map((path) => ({ method: 'GET', path }))
  return startPaced({ url, key, requests, repeats: 1_000, requestsPerSecond, secondsMax: seconds })
}
