import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOfTree, processOf } from '../../process-use.ts'
import type { Running } from '../../processes.ts'
import { type Row, row } from '../figures.ts'
import { median } from '../load.ts'
import type { Options } from '../runner.ts'
import { startCallbook } from './callbook.ts'
import { startChroma } from './chroma.ts'
import { sideBySide } from './compare.ts'
import { startPocketBase } from './pocketbase.ts'
import { startPostgres } from './postgres.ts'

/** By then what follows a start is done. */
export const restMs = 8_000
const minuteMs = 60_000

const all: { name: string; start: () => Promise<Running | string> }[] = [
  { name: 'Callbook', start: startCallbook },
  { name: 'Postgres', start: startPostgres },
  { name: 'PocketBase', start: startPocketBase },
  { name: 'Chroma', start: startChroma },
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
      processorMs.push(processOf(started.pid).processorSeconds * 1_000)
    }
    if (running) servers.push({ name, running, readyMs: median(readyMs), processorMs: median(processorMs) })
  }
  await sleep(restMs)
  const memories = servers.map(({ running }) => memoryOfTree(running.pid))
  const idle = await idleMs(servers.map(({ running }) => running))
  for (const { running } of servers) await running.stop()
  const compared = (what: string, values: number[], unit: string, most?: number): Row => {
    const measured = sideBySide(
      servers,
      values.map((value) => `${Math.round(value)} ${unit}`),
    )
    return most === undefined
      ? row(what, measured)
      : row(what, measured, `≤ ${most} ${unit}`, (values[0] ?? 0) <= most)
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

/** Milliseconds of processor time that each uses in a minute without requests. */
export async function idleMs(servers: readonly Pick<Running, 'pid'>[]): Promise<number[]> {
  const used = () => servers.map(({ pid }) => processOf(pid).processorSeconds * 1_000)
  const before = used()
  await sleep(minuteMs)
  return used().map((ms, index) => ms - (before[index] ?? 0))
}
