import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOfTree, processOf } from '../memory.ts'
import type { Running } from '../processes.ts'
import { median } from '../rounds.ts'
import type { Options } from '../runner.ts'
import type { Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { startCallbook } from './callbook.ts'
import { startChroma } from './chroma.ts'
import { sideBySide } from './compare.ts'
import { startPocketBase } from './pocketbase.ts'
import { startPostgres } from './postgres.ts'

/** By then what follows a start is done. */
export const restMs = 8_000
const minuteMs = 60_000
const freshMbMax = 90
const readyMsMax = 180
const idleMsMax = 60

/** Servers without data: memory, time until they are ready, and what they use while nobody asks. */
export async function benchRest(_: Texts, { main, rounds }: Options): Promise<Row[]> {
  const all = [
    { name: 'Callbook', start: () => startCallbook(main) },
    { name: 'Postgres', start: startPostgres },
    { name: 'PocketBase', start: startPocketBase },
    { name: 'Chroma', start: startChroma },
  ]
  const servers: { name: string; running: Running; readyMs: number; processorMs: number }[] = []
  for (const { name, start } of all) {
    const starts: { readyMs: number; processorMs: number }[] = []
    let running: Running | undefined
    for (let round = 0; round < rounds; round++) {
      await running?.stop()
      const started = await start()
      if (typeof started === 'string') break
      running = started
      const processorMs = processOf(started.pid).processorSeconds * 1_000
      starts.push({ readyMs: started.readyInMs, processorMs })
    }
    const medianOf = (figure: 'readyMs' | 'processorMs') => median(starts.map((each) => each[figure]))
    if (running)
      servers.push({ name, running, readyMs: medianOf('readyMs'), processorMs: medianOf('processorMs') })
  }
  await sleep(restMs)
  const memories = servers.map(({ running }) => memoryOfTree(running.pid))
  const idle = await idleMs(servers.map(({ running }) => running))
  for (const { running } of servers) await running.stop()
  const row = (what: string, values: number[], unit: string, most: number): Row => {
    const texts = values.map((value) => `${Math.round(value)} ${unit}`)
    const isMet = (values[0] ?? 0) <= most
    return { what, measured: sideBySide(servers, texts), target: `≤ ${most} ${unit}`, isMet }
  }
  const ready = servers.map(({ readyMs }) => readyMs)
  const used = servers.map(({ processorMs }) => `${Math.round(processorMs)} ms`)
  return [
    row('memory of a fresh start', memories, 'MB', freshMbMax),
    row('start to ready', ready, 'ms', readyMsMax),
    { what: '  its processor', measured: sideBySide(servers, used), target: 'reported', isMet: null },
    row('processor of an idle minute', idle, 'ms', idleMsMax),
  ]
}

/** Milliseconds of processor time that each uses in a minute without requests. */
export async function idleMs(servers: readonly Pick<Running, 'pid'>[]): Promise<number[]> {
  const used = () => servers.map(({ pid }) => processOf(pid).processorSeconds * 1_000)
  const before = used()
  await sleep(minuteMs)
  return used().map((ms, index) => ms - (before[index] ?? 0))
}
