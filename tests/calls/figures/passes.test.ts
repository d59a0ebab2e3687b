import { afterAll, expect, test } from 'bun:test'
import { Figures } from '../../../src/calls/figures/figures.ts'
import { Passes } from '../../../src/calls/figures/passes.ts'
import { startService } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'

const service = await startService()
const { core } = service.services
const clock = { ms: Date.UTC(2026, 0, 1) }
const now = () => clock.ms
const opened: Passes[] = []
afterAll(() => Promise.all(opened.map((passes) => passes.close())))

/** Figures of a service whose database is a server's, which has few calls. */
function figuresOfServer(callsOfServer: number): Figures {
  const readsAt = { kind: 'remote', url: 'http://127.0.0.1:1', authToken: null } as const
  const passes = new Passes({ ...core, now, database: { ...core.database, readsAt } }, { callsOfServer })
  opened.push(passes)
  return new Figures(core, { passes })
}

test('of many calls of a server, figures may be a minute old, and say so', async () => {
  const { projectId } = await service.mintProject()
  const put = (id: string) => putCalls(service.services, projectId, [{ id, duration: 2 }])
  await put('a')
  await put('b')
  const read = (figures: Figures) => figures.read(projectId, {})
  const [many, few] = [figuresOfServer(1), figuresOfServer(2)]
  const asOf = new Date(clock.ms).toISOString()
  expect(await read(many)).toMatchObject({ total: 2, asOf })
  expect(await read(few)).not.toHaveProperty('asOf')
  await put('c')
  expect(await read(few)).toMatchObject({ total: 3 })
  clock.ms += 59_999
  expect(await read(many)).toMatchObject({ total: 2, asOf })
  clock.ms += 1
  expect(await read(many)).toMatchObject({ total: 3, asOf: new Date(clock.ms).toISOString() })
})

test('what is asked at once shares a pass, and what is asked again is kept until something changes', async () => {
  const { projectId } = await service.mintProject()
  await putCalls(service.services, projectId, [{ id: 'a', evaluation: 'success' }, { id: 'b' }])
  let reads = 0
  const counted = (db: object) =>
    new Proxy(db, {
      get(target, name, receiver) {
        if (name === 'values') reads++
        return Reflect.get(target, name, receiver)
      },
    }) as typeof core.read
  const store: typeof core.store = (id) => {
    const own = core.store(id)
    return { ...own, read: own.read, readInBackground: counted(own.readInBackground) }
  }
  const readsAt = { kind: 'remote', url: 'http://127.0.0.1:1', authToken: null } as const
  const passes = new Passes({ ...core, store, database: { ...core.database, readsAt } })
  opened.push(passes)
  const figures = new Figures(core, { passes })
  const ask = () =>
    Promise.all(
      ['endedReason', 'source', 'evaluation', 'source'].map((by) => figures.read(projectId, { by })),
    )
  const first = await ask()
  const readsOfOne = reads
  expect(first.map(({ total }) => total)).toEqual([2, 2, 2, 2])
  // Where the slice ends, and its columns.
  expect(readsOfOne).toBe(2)
  expect(await ask()).toEqual(first)
  expect(reads).toBe(readsOfOne)
  await putCalls(service.services, projectId, [{ id: 'c' }])
  expect((await ask()).map(({ total }) => total)).toEqual([3, 3, 3, 3])
  expect(reads).toBeGreaterThan(readsOfOne)
})

test('long lists of values, and what stands in them, are read whole', async () => {
  const { projectId } = await service.mintProject()
  const odd = 'a]"b\n\\"],"["analysis.k","c'
  const agents = Array.from({ length: 45 }, (_, n) => `agent "${n}" ${'x'.repeat(n * 5)}`)
  const step = (agentId: string) => ({ atSeconds: 1, kind: 'other' as const, agentId })
  await putCalls(service.services, projectId, [
    { id: 'a', callAnalysis: { k: odd, kk: 'no' }, details: { timeline: agents.map(step) } },
    { id: 'b', callAnalysis: { k: 'z'.repeat(170) } },
    { id: 'c', callAnalysis: { kk: 'no' } },
    { id: 'd', callAnalysis: Object.fromEntries([...'abcdefghij'].map((key) => [key, 'y'.repeat(90)])) },
  ])
  const read = async (by: string) => (await service.services.figures.read(projectId, { by })).data
  expect((await read('analysis.k')).map(({ key, calls }) => [key, calls])).toEqual([
    [odd, 1],
    ['z'.repeat(170), 1],
  ])
  expect((await read('analysis.j')).map(({ key, calls }) => [key, calls])).toEqual([['y'.repeat(90), 1]])
  // The first one is the call's own agent. The hash of a long id has no group.
  const found = agents.filter((agent) => JSON.stringify(['otherAgentId', agent]).length <= 200)
  expect((await read('agentId')).map(({ key }) => key).sort()).toEqual(['none', ...found].sort())
})
