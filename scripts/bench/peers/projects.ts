import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../../src/services/services.ts'
import { makeDataset, readRows } from '../../dataset.ts'
import { memoryOfTree } from '../../process-use.ts'
import { ask } from '../../requests.ts'
import { temporaryFolder } from '../../temporary.ts'
import { atMost, type Row, row } from '../figures.ts'
import { median } from '../load.ts'
import type { Options } from '../runner.ts'
import { idleMs, restMs } from './rest.ts'

const projectsCount = 1_000
/** At the start and at the end. */
const timedCount = 20
const starts = 3
const pollMs = 20
const removedWithinMs = 60_000

/** Many projects with one item each. */
export async function benchProjects({ start }: Options): Promise<Row[]> {
  const { folder, keys, madeMs, removed } = await makeProjects()
  const fresh = await start(temporaryFolder())
  let service = await start(folder)
  const readyMs = [service.readyInMs]
  while (readyMs.length < starts) {
    await service.stop()
    service = await start(folder)
    readyMs.push(service.readyInMs)
  }
  await sleep(restMs)
  const freshMb = memoryOfTree(fresh.pid)
  const unsearchedMb = memoryOfTree(service.pid) - freshMb
  const [idle = 0] = await idleMs([service])
  for (const key of keys) {
    const body = { query: 'When are refunds paid?', mode: 'hybrid', timeoutMs: 10_000 }
    await ask(service.url, { path: '/v1/knowledge/search', key, body })
  }
  const searchedMb = memoryOfTree(service.pid) - freshMb
  const [first, last] = [median(madeMs.slice(0, timedCount)), median(madeMs.slice(-timedCount))]
  const [only, oneOfMany] = removed
  const making = `${(last / first).toFixed(2)} ×: ${last.toFixed(1)} against ${first.toFixed(1)} ms`
  const erased = ({ ms = 0 } = {}) => `erased after ${Math.round(ms)} ms`
  const aside = `, ${erased(oneOfMany)}; as the only one ${Math.round(only?.processorMs ?? 0)} ms, ${erased(only)}`
  return [
    atMost('1,000 projects of one item: memory above a fresh start', unsearchedMb, 60, 'MB'),
    atMost('  each searched once', searchedMb, 150, 'MB'),
    atMost('  start to ready', median(readyMs), 250, 'ms'),
    atMost('  processor of an idle minute', idle, 100, 'ms'),
    row('  making the 1,000th, against the first', making, '≤ 1.5 ×', last / first <= 1.5),
    atMost('  removing one of them: processor', oneOfMany?.processorMs ?? Number.NaN, 100, 'ms', aside),
  ]
}

interface Removed {
  ms: number
  processorMs: number
}

/** Also removes one project before and one after the others are made. */
async function makeProjects() {
  const keys: string[] = []
  const madeMs: number[] = []
  const removed: Removed[] = []
  const { folder } = await makeDataset({
    async fill(services) {
      const make = async (name: string) => {
        const startedAt = performance.now()
        const { projectId } = await services.projects.create(name)
        madeMs.push(performance.now() - startedAt)
        await services.knowledge.store(projectId, { name, text: `Refunds of ${name} take a week.` })
        services.indexer.wake(projectId)
        await services.indexer.idle()
        return projectId
      }
      removed.push(await remove(services, await make('first')))
      for (let n = 0; n < projectsCount; n++) {
        const projectId = await make(`Project ${n}`)
        const rules = { allowedIps: [], expiresAt: null }
        keys.push((await services.keys.create(projectId, { name: 'bench', kind: 'live', ...rules })).key)
      }
      removed.push(await remove(services, await make('last')))
    },
  })
  return { folder, keys, madeMs, removed }
}

async function remove({ projects, database }: Services, projectId: number): Promise<Removed> {
  const [startedAt, before] = [performance.now(), processorMs()]
  await projects.delete(projectId)
  const open = 'select 1 from project_erasures where done_at is null'
  while (readRows({ databaseFile: database.file }, open).length > 0) {
    if (performance.now() > startedAt + removedWithinMs) throw new Error('A project was not removed in time')
    await sleep(pollMs)
  }
  return { ms: performance.now() - startedAt, processorMs: processorMs() - before }
}

/** Of this process, in which the projects are made. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
