import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import { type Running, startProgram } from '../processes.ts'
import { temporaryFolder } from '../temporary.ts'
import { formatCount, type Row, row } from './figures.ts'
import { median, runLoad } from './load.ts'
import type { Options } from './runner.ts'

const mebibyte = 1_048_576
const recordingBytes = 256 * mebibyte
const atOnce = 16
const shareMin = 0.5
const rounds = 3
/** Of others, while recordings arrive. */
const others = { connections: 1, perSecond: 100, seconds: 8 }

/** One of the two servers, and where it keeps things. */
interface Side extends Running {
  path: { put(name: string): string; get(name: string): string }
  key: string
  ingestKey: string
}

/** Of one server, in one round. */
interface Round {
  /** In megabytes of 10^6 bytes a second. */
  up: number
  down: number
  /** At most, above what it was before, while many arrive at once. */
  memoryMb: number
  /** Of others, meanwhile. */
  p99Ms: number
}

/** Keeping recordings, against a server that only copies. */
export async function benchRecordings({ start }: Options): Promise<Row[]> {
  const { folder, key, ingestKey } = await makeDataset()
  const put = (name: string) => `/ingest/calls/${name}/recording`
  const get = (name: string) => `/v1/calls/${name}/recording`
  const ours: Side = { ...(await start(folder)), path: { put, get }, key, ingestKey }
  const script = fileURLToPath(new URL('peers/plain-copy.ts', import.meta.url))
  const copy = await startProgram(process.execPath, [script, temporaryFolder()], { address: /(http\S+)/ })
  const at = (name: string) => `/${name}`
  const plain: Side = { ...copy, path: { put: at, get: at }, key: 'none', ingestKey: 'none' }
  const measured: [Round[], Round[]] = [[], []]
  try {
    // In turns, so that other load affects both.
    for (let round = 0; round < rounds; round++) {
      measured[0].push(await measureRound(ours, round))
      measured[1].push(await measureRound(plain, round))
    }
  } finally {
    await copy.stop()
  }
  const [a, b] = measured.map((all) => (name: keyof Round) => median(all.map((round) => round[name]))) as [
    (name: keyof Round) => number,
    (name: keyof Round) => number,
  ]
  const texts = (name: keyof Round, unit: string) =>
    `${formatCount(a(name))} ${unit}, the plain copy ${formatCount(b(name))} ${unit}`
  const rates = (['up', 'down'] as const).map((name) => {
    const share = a(name) / b(name)
    const measured = `${formatCount(share)} ×: ${texts(name, 'MB/s')}`
    return row(`${name}load of 256 MiB`, measured, `≥ ${shareMin} × a plain copy`, share >= shareMin)
  })
  const most = 'no more than the plain copy'
  return [
    ...rates,
    row(
      `memory more, while ${atOnce} of 256 MiB arrive at once`,
      texts('memoryMb', 'MB'),
      most,
      a('memoryMb') <= b('memoryMb'),
    ),
    row('p99 of others meanwhile', texts('p99Ms', 'ms'), most, a('p99Ms') <= b('p99Ms')),
  ]
}

async function measureRound(side: Side, round: number): Promise<Round> {
  const up = await rateOf(() => upload(side, `r${round}`))
  const down = await rateOf(() => download(side, `r${round}`))
  const before = memoryOf(side.pid).residentMb
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(side.pid).residentMb)
  }, 50)
  const load = { url: side.url, key: side.key, requests: [{ path: '/v1/key' }], ...others }
  const [{ p99Ms }] = await Promise.all([
    runLoad(load),
    ...Array.from({ length: atOnce }, (_, n) => upload(side, `many${n}`)),
  ])
  clearInterval(watch)
  return { up, down, memoryMb: most - before, p99Ms }
}

async function rateOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return recordingBytes / 1_000 / (performance.now() - startedAt)
}

async function upload({ url, path, ingestKey }: Side, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${ingestKey}` }
  const answer = await fetch(url + path.put(name), { method: 'PUT', headers, body: noise() })
  if (!answer.ok) throw new Error(`An upload was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

async function download({ url, path, key }: Side, name: string): Promise<void> {
  const answer = await fetch(url + path.get(name), { headers: { authorization: `Bearer ${key}` } })
  let bytes = 0
  for await (const part of answer.body ?? []) bytes += part.byteLength
  if (bytes !== recordingBytes) throw new Error(`A download had ${bytes} bytes`)
}

/** Something that looks like a WAV file, in mebibytes. No two are the same. */
function noise(): ReadableStream<Uint8Array> {
  const part = randomBytes(mebibyte)
  const head = Buffer.from(part)
  head.write('RIFF    WAVEfmt ')
  let sent = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    // Lets other requests between the parts.
    await sleep(0)
    controller.enqueue(sent === 0 ? head : part)
    sent += mebibyte
    if (sent >= recordingBytes) controller.close()
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}
