import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import { type Running, startProgram } from '../processes.ts'
import { repository } from '../repository.ts'
import { temporaryFolder } from '../temporary.ts'
import { formatCount, type Row, row } from './figures.ts'
import { median, percentile } from './load.ts'
import type { Options } from './runner.ts'

const mebibyte = 1_048_576
const recordingBytes = 256 * mebibyte
const atOnce = 16
const pacedBytesPerSecond = 16 * mebibyte
const shareMin = 0.5
const pacedTimesMax = 1.5
const pacedForMs = 10_000
const rounds = 3

/** One of the two servers, and where it keeps things. */
interface Side {
  running: Running
  put(name: string): string
  get(name: string): string
  headers: Record<string, string>
  readHeaders: Record<string, string>
}

/** Keeping recordings, against a server that only copies. */
export async function benchRecordings({ start }: Options): Promise<Row[]> {
  const { folder, key, ingestKey } = await makeDataset({ fill: async () => undefined })
  const running = await start(folder)
  const ours: Side = {
    running,
    put: (name) => `${running.url}/ingest/calls/${name}/recording`,
    get: (name) => `${running.url}/v1/calls/${name}/recording`,
    headers: { authorization: `Bearer ${ingestKey}` },
    readHeaders: { authorization: `Bearer ${key}` },
  }
  const plain = await plainCopy()
  try {
    const up: Record<'ours' | 'plain', number[]> = { ours: [], plain: [] }
    const down: Record<'ours' | 'plain', number[]> = { ours: [], plain: [] }
    for (let round = 0; round < rounds; round++) {
      for (const [name, side] of [
        ['ours', ours],
        ['plain', plain],
      ] as const) {
        up[name].push(await rateOf(() => upload(side, `r${round}`)))
        down[name].push(await rateOf(() => download(side, `r${round}`)))
      }
    }
    const idle = await p99While(ours, sleep(pacedForMs))
    const paced = await p99While(ours, uploadPaced(ours))
    const [many, manyPlain] = await uploadManyInTurn(ours, plain)
    return [
      compared('upload of 256 MiB', median(up.ours), median(up.plain)),
      compared('download of 256 MiB', median(down.ours), median(down.plain)),
      row(
        `memory more, while ${atOnce} of 256 MiB arrive at once`,
        `${many.memoryMb} MB, the plain copy ${manyPlain.memoryMb} MB`,
        'less than the plain copy',
        many.memoryMb < manyPlain.memoryMb,
      ),
      row(
        'p99 of others, while 16 MiB a second arrive',
        `${formatCount(paced)} ms, idle ${formatCount(idle)} ms`,
        `≤ ${pacedTimesMax} × idle`,
        paced <= pacedTimesMax * idle,
      ),
      row(
        `p99 of others, while ${atOnce} arrive unpaced`,
        `${formatCount(many.p99)} ms, the plain copy ${formatCount(manyPlain.p99)} ms`,
        'no more than the plain copy',
        many.p99 <= manyPlain.p99,
      ),
    ]
  } finally {
    await plain.running.stop()
  }
}

async function plainCopy(): Promise<Side> {
  const program = join(repository, 'scripts/bench/peers/plain-copy.ts')
  const running = await startProgram(process.execPath, [program, temporaryFolder()], {
    address: /(http\S+)/,
  })
  const at = (name: string) => `${running.url}/${name}`
  return { running, put: at, get: at, headers: {}, readHeaders: {} }
}

function compared(what: string, ours: number, plain: number): Row {
  const share = ours / plain
  const measured = `${formatCount(share)} ×: ${formatCount(ours)} MB/s, the plain copy ${formatCount(plain)} MB/s`
  return row(what, measured, `≥ ${shareMin} × a plain copy`, share >= shareMin)
}

/** Megabytes of 10^6 bytes a second. */
async function rateOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return recordingBytes / 1_000 / (performance.now() - startedAt)
}

async function upload({ put, headers }: Side, name: string, paceMs = 0): Promise<void> {
  const answer = await fetch(put(name), { method: 'PUT', headers, body: wavOf(recordingBytes, paceMs) })
  if (!answer.ok) throw new Error(`An upload was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Noise, in mebibytes, each after a pause. */
function wavOf(bytes: number, paceMs: number): ReadableStream<Uint8Array> {
  const noise = randomBytes(mebibyte)
  const head = Buffer.from(noise)
  head.write('RIFF    WAVEfmt ')
  let sent = 0
  return new ReadableStream(
    {
      async pull(controller) {
        // Not all at the same moment.
        if (paceMs > 0) await sleep(sent === 0 ? Math.random() * paceMs : paceMs)
        // A salt, so that no two recordings are the same.
        if (sent === 0) head.writeDoubleLE(performance.now(), 64)
        controller.enqueue(sent === 0 ? head : noise)
        sent += mebibyte
        if (sent >= bytes) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

async function download({ get, readHeaders }: Side, name: string): Promise<void> {
  const answer = await fetch(get(name), { headers: readHeaders })
  let bytes = 0
  for await (const part of answer.body ?? []) bytes += part.byteLength
  if (bytes !== recordingBytes) throw new Error(`A download had ${bytes} bytes`)
}

/** 16 MiB a second in all, from several that arrive at once. */
async function uploadPaced(side: Side): Promise<void> {
  const paceMs = (atOnce * mebibyte * 1_000) / pacedBytesPerSecond
  const until = sleep(pacedForMs)
  const bytes = (pacedBytesPerSecond / atOnce) * (pacedForMs / 1_000)
  const some = Array.from({ length: atOnce }, async (_, n) => {
    const body = wavOf(bytes, paceMs)
    await (await fetch(side.put(`paced${n}`), { method: 'PUT', headers: side.headers, body })).arrayBuffer()
  })
  await Promise.all([until, ...some])
}

/** Medians. */
async function uploadManyInTurn(...sides: [Side, Side]): Promise<[Many, Many]> {
  const measured: [Many[], Many[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    measured[0].push(await uploadMany(sides[0]))
    measured[1].push(await uploadMany(sides[1]))
  }
  const middle = (all: Many[]) => ({
    memoryMb: median(all.map(({ memoryMb }) => memoryMb)),
    p99: median(all.map(({ p99 }) => p99)),
  })
  return [middle(measured[0]), middle(measured[1])]
}

interface Many {
  /** At most, above what it was before. */
  memoryMb: number
  /** Of others, meanwhile. */
  p99: number
}

async function uploadMany(side: Side): Promise<Many> {
  const before = memoryOf(side.running.pid).residentMb
  let most = before
  const uploads = Promise.all(Array.from({ length: atOnce }, (_, n) => upload(side, `many${n}`)))
  let isDone = false
  const watching = (async () => {
    while (!isDone) {
      most = Math.max(most, memoryOf(side.running.pid).residentMb)
      await sleep(50)
    }
  })()
  const p99 = await p99While(side, uploads)
  isDone = true
  await watching
  return { memoryMb: most - before, p99 }
}

/** Of a small request every 10 ms, in milliseconds, meanwhile. */
async function p99While({ running, readHeaders }: Side, work: Promise<unknown>): Promise<number> {
  let isDone = false
  const ended = work.finally(() => {
    isDone = true
  })
  const times: number[] = []
  while (!isDone) {
    const startedAt = performance.now()
    await (await fetch(`${running.url}/v1/key`, { headers: readHeaders })).arrayBuffer()
    times.push(performance.now() - startedAt)
    await sleep(10)
  }
  await ended
  times.sort((a, b) => a - b)
  return percentile(times, 0.99)
}
