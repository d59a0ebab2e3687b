import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOfTree, processOf } from '../memory.ts'
import type { Running } from '../processes.ts'
import { median } from '../rounds.ts'
import type { Options } from '../runner.ts'
import type { Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { startCallbook } from './callbook.ts'
import { startChroma } from './chroma.ts'
import { startPocketBase } from './pocketbase.ts'
import { startPostgres } from './postgres.ts'

/** By then what follows a start is done. */
export const restMs = 8_000
export const minuteMs = 60_000
const freshMbMax = 90
const readyMsMax = 180
const idleMsMax = 60

/** Servers without data: memory, time until they are ready, and what they use while nobody asks. */
export async function benchRest(_: Texts, { main, rounds }: Options): Promise<Row[]> {
  const starts = [
    { name: 'Callbook', start: () => startCallbook(main) },
    { name: 'Postgres', start: startPostgres },
    { name: 'PocketBase', start: startPocketBase },
    { name: 'Chroma', start: startChroma },
  ]
  const readyMs = new Map<string, number[]>()
  const running = new Map<string, Running>()
  for (let round = 0; round < rounds; round++) {
    for (const { name, start } of starts) {
      await running.get(name)?.stop()
      const server = await start()
      if (typeof server === 'string') continue
      running.set(name, server)
      readyMs.set(name, [...(readyMs.get(name) ?? []), server.readyInMs])
    }
  }
  await sleep(restMs)
  const servers = [...running]
  const memories = servers.map(([, { pid }]) => memoryOfTree(pid))
  const idle = await idleMs(servers.map(([, server]) => server))
  for (const [, { stop }] of servers) await stop()
  const row = (what: string, values: number[], unit: string, most: number): Row => ({
    what,
    measured: values
      .map((value, at) => `${at === 0 ? '' : `${servers[at]?.[0]} `}${Math.round(value)} ${unit}`)
      .join('; '),
    target: `≤ ${most} ${unit}`,
    isMet: (values[0] ?? 0) <= most,
  })
  return [
    row('memory of a fresh start', memories, 'MB', freshMbMax),
    row(
      'start to ready',
      servers.map(([name]) => median(readyMs.get(name) ?? [])),
      'ms',
      readyMsMax,
    ),
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
