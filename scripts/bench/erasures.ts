import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyDataset, type Dataset } from './dataset.ts'
import { personCalls, personDataset } from './datasets.ts'
import { callId } from './made-calls.ts'
import { latencyOf, startPaced } from './paced.ts'
import type { Running } from './processes.ts'
import { createRandom } from './random.ts'
import { bodyOf } from './requests.ts'
import type { Options } from './runner.ts'
import { formatLatency, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const readsPerSecond = 200
const idleSeconds = 10
const pollMs = 250
const doneWithinMsMax = 60_000
const p99RatioMax = 1.5
const waitMsMax = 300_000
const pieceBytes = 16_777_216

/** Erases the 10,000 calls of one number out of 200,000: the time it takes, what is left, and the effect on reads. */
export async function benchErasures(texts: Texts, { start }: Options): Promise<Row[]> {
  const dataset = copyDataset(await personDataset(texts))
  const service = await start(dataset)
  const traces = [personCalls.number.slice(1), [...personCalls.number.slice(1)].reverse().join('')]
  const before = countTraces(dataset.folder, traces)
  await measureReads(service, dataset, sleep(idleSeconds * 1_000))
  const idle = await measureReads(service, dataset, sleep(idleSeconds * 1_000))
  const erasing = erase(service, dataset)
  const busy = await measureReads(service, dataset, erasing)
  const { calls, tookMs } = await erasing
  const left = countTraces(dataset.folder, traces)
  const ratio = busy.p99 / idle.p99
  return [
    {
      what: `POST /v1/erasures of one number, ${calls} of ${personCalls.of} calls, until its receipt is done`,
      measured: `${(tookMs / 1_000).toFixed(1)} s`,
      target: `≤ ${doneWithinMsMax / 1_000} s`,
      isMet: tookMs <= doneWithinMsMax,
    },
    {
      what: '  places of the number in all files then',
      measured: `${left}; ${before} before`,
      target: '0',
      isMet: left === 0 && before > 0,
    },
    {
      what: '  GET /v1/calls/:id of other calls meanwhile',
      measured: `${formatLatency(busy)}; idle ${formatLatency(idle)}: ${ratio.toFixed(2)} ×`,
      target: `p99 ≤ ${p99RatioMax} ×`,
      isMet: ratio <= p99RatioMax && busy.failed === 0,
    },
  ]
}

async function erase({ url }: Running, { key }: Dataset): Promise<{ calls: number; tookMs: number }> {
  const startedAt = performance.now()
  const body = { number: personCalls.number }
  const accepted: { id: string; calls: number } = JSON.parse(
    await bodyOf(url, { method: 'POST', path: '/v1/erasures', key, body }),
  )
  for (;;) {
    const path = `/v1/erasures/${accepted.id}`
    const { status }: { status: string } = JSON.parse(await bodyOf(url, { method: 'GET', path, key }))
    const tookMs = performance.now() - startedAt
    if (status === 'done') return { calls: accepted.calls, tookMs }
    if (tookMs > waitMsMax) throw new Error(`The erasure was not done within ${waitMsMax} ms`)
    await sleep(pollMs)
  }
}

/** Latency of reads of calls that stay, until `meanwhile` resolves. */
async function measureReads({ url }: Running, { key }: Dataset, meanwhile: Promise<unknown>) {
  const random = createRandom(1)
  const paths = Array.from({ length: 20_000 }, () => {
    const index = Math.floor(random() * personCalls.of)
    return `/v1/calls/${callId(index % personCalls.every === 0 ? index + 1 : index)}`
  })
  const requests = paths.map((path) => ({ method: 'GET', path }))
  const secondsMax = (2 * waitMsMax) / 1_000
  const reading = startPaced({
    url,
    key,
    requests,
    repeats: 100,
    requestsPerSecond: readsPerSecond,
    secondsMax,
  })
  await meanwhile
  return latencyOf([await reading.stop()])
}

/** How often the texts are in the files of a folder. */
function countTraces(folder: string, texts: readonly string[]): number {
  const overlap = Math.max(...texts.map(({ length }) => length)) - 1
  const piece = Buffer.alloc(pieceBytes)
  let count = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = openSync(join(entry.parentPath, entry.name), 'r')
    try {
      for (let at = 0; ; at += pieceBytes - overlap) {
        const length = readSync(file, piece, 0, pieceBytes, at)
        for (const text of texts) count += countIn(piece.subarray(0, length), text)
        if (length < pieceBytes) break
      }
    } finally {
      closeSync(file)
    }
  }
  return count
}

function countIn(bytes: Buffer, text: string): number {
  let count = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) count++
  return count
}
