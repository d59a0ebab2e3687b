import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOfTree, processOf } from '../../process-use.ts'
import { type Running, startService } from '../../processes.ts'
import { temporaryFolder } from '../../temporary.ts'
import { type Row, row } from '../figures.ts'
import { median } from '../load.ts'
import type { Options } from '../runner.ts'
import { sideBySide } from './compare.ts'
import { startPostgres } from './postgres.ts'

/** By then what follows a start is done. */
const restMs = 8_000
const minuteMs = 60_000

const all: { name: string; start: () => Promise<Running | string> }[] = [
  { name: 'Callbook', start: () => startService(temporaryFolder('run')) },
  { name: 'Postgres', start: startPostgres },
]

/** Servers without data: memory, time until they are ready, and what they use while nobody asks. */
export async function benchRest({ rounds }: Options): Promise<Row[]> {
  const servers: { name: string; running: Running; readyMs: number; processorMs: number }[] = []
  for (const { name, start } of all) {
    const [readyMs, processorMs]: [number[], number[]] = [[], []]
    let running: Running | undefined
    for (let round = 0; round < rounds; round++) {
      await running?.stop()
      const started = await start()
      if (typeof started === 'string') break
      running = started
      readyMs.push(started.readyInMs)
      processorMs.push(processorMsOf(started))
    }
    if (running) servers.push({ name, running, readyMs: median(readyMs), processorMs: median(processorMs) })
  }
  await sleep(restMs)
  const memories = servers.map(({ running }) => memoryOfTree(running.pid))
  const before = servers.map(({ running }) => processorMsOf(running))
  await sleep(minuteMs)
  const idle = servers.map(({ running }, at) => processorMsOf(running) - (before[at] ?? 0))
  for (const { running } of servers) await running.stop()
  const compared = (what: string, values: number[], unit: string, most = Number.POSITIVE_INFINITY): Row => {
    const texts = values.map((value) => `${Math.round(value)} ${unit}`)
    const measured = sideBySide(servers, texts)
    if (most === Number.POSITIVE_INFINITY) return row(what, measured)
    return row(what, measured, `≤ ${most} ${unit}`, (values[0] ?? 0) <= most)
  }
  const ready = servers.map(({ readyMs }) => readyMs)
  const used = servers.map(({ processorMs }) => processorMs)
  return [
    compared('memory of a fresh start', memories, 'MB', 90),
    compared('start to ready', ready, 'ms', 180),
    compared('  its processor', used, 'ms'),
    compared('processor of an idle minute', idle, 'ms', 60),
  ]
}

function processorMsOf({ pid }: Running): number {
  return processOf(pid).processorSeconds * 1_000
}
