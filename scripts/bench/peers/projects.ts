import { setTimeout as sleep } from 'node:timers/promises'
import { buildDataset } from '../dataset.ts'
import { memoryOfTree } from '../memory.ts'
import { readRows } from '../project.ts'
import { bodyOf } from '../requests.ts'
import { median } from '../rounds.ts'
import type { Options } from '../runner.ts'
import type { Row } from '../table.ts'
import { temporaryFolder } from '../temporary.ts'
import type { Texts } from '../texts.ts'
import { idleMs, restMs } from './rest.ts'

const projectsCount = 1_000
/** At the start and at the end. */
const timedCount = 20
const starts = 3
const pollMs = 20
const removedWithinMs = 60_000

/** Many projects with one item each. */
export async function benchProjects(_: Texts, { start }: Options): Promise<Row[]> {
  const keys: string[] = []
  const madeMs: number[] = []
  const removed: { ms: number; processorMs: number }[] = []
  const folder = temporaryFolder()
  const dataset = await buildDataset(
    folder,
    async ({ projects, keys: made, knowledge, indexer, database }) => {
      const remove = async (projectId: number) => {
        const [startedAt, before] = [performance.now(), processorMs()]
        await projects.delete(projectId)
        const open = 'select count(*) as n from project_erasures where done_at is null'
        while ((readRows<{ n: number }>(database.file, open)[0]?.n ?? 0) > 0) {
          if (performance.now() > startedAt + removedWithinMs)
            throw new Error('A project was not removed in time')
          await sleep(pollMs)
        }
        return { ms: performance.now() - startedAt, processorMs: processorMs() - before }
      }
      const make = async (name: string) => {
        const startedAt = performance.now()
        const { projectId } = await projects.create(name)
        madeMs.push(performance.now() - startedAt)
        await knowledge.store(projectId, { name, text: `Refunds of ${name} take a week.` })
        indexer.wake(projectId)
        await indexer.idle()
        return projectId
      }
      removed.push(await remove(await make('first')))
      for (let n = 0; n < projectsCount; n++) {
        const projectId = await make(`Project ${n}`)
        const rules = { allowedIps: [], expiresAt: null }
        keys.push((await made.create(projectId, { name: 'bench', kind: 'live', ...rules })).key)
      }
      removed.push(await remove(await make('last')))
    },
  )
  const fresh = await start({ folder: temporaryFolder() })
  const readyMs: number[] = []
  let service = await start(dataset)
  readyMs.push(service.readyInMs)
  while (readyMs.length < starts) {
    await service.stop()
    service = await start(dataset)
    readyMs.push(service.readyInMs)
  }
  await sleep(restMs)
  const freshMb = memoryOfTree(fresh.pid)
  const unsearchedMb = memoryOfTree(service.pid) - freshMb
  const [idle = 0] = await idleMs([service])
  for (const key of keys) {
    const body = { query: 'When are refunds paid?', mode: 'hybrid', timeoutMs: 10_000 }
    await bodyOf(service.url, { method: 'POST', path: '/v1/knowledge/search', key, body })
  }
  const searchedMb = memoryOfTree(service.pid) - freshMb
  const [first, last] = [median(madeMs.slice(0, timedCount)), median(madeMs.slice(-timedCount))]
  const row = (what: string, value: number, unit: string, most: number): Row => ({
    what,
    measured: `${Math.round(value)} ${unit}`,
    target: `≤ ${most} ${unit}`,
    isMet: value <= most,
  })
  return [
    row('1,000 projects of one item: memory above a fresh start', unsearchedMb, 'MB', 60),
    row('  each searched once', searchedMb, 'MB', 150),
    row('  start to ready', median(readyMs), 'ms', 250),
    row('  processor of an idle minute', idle, 'ms', 100),
    {
      what: '  making the 1,000th, against the first',
      measured: `${(last / first).toFixed(2)} ×: ${last.toFixed(1)} against ${first.toFixed(1)} ms`,
      target: '≤ 1.5 ×',
      isMet: last / first <= 1.5,
    },
    {
      ...row('  removing one of them: processor', removed.at(-1)?.processorMs ?? Number.NaN, 'ms', 100),
      measured: removed
        .toReversed()
        .map(({ ms, processorMs }) => `${Math.round(processorMs)} ms, erased after ${Math.round(ms)} ms`)
        .join('; as the only one '),
    },
  ]
}

/** Of this process, in which the projects are made. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
