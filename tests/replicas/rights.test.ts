import { describe, expect, test } from 'bun:test'
import { Figures } from '../../src/calls/figures/figures.ts'
import { Passes } from '../../src/calls/figures/passes.ts'
import { putCalls } from '../calls/put-calls.ts'
import { CommandLine } from '../support/command-line.ts'
import { at, startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const primary = await startPrimary()
const env = { DATABASE_URL: primary.url }
const [first, second] = await Promise.all([startService({ env }), startService({ env })])
const edge = await startNode(primary)
const callbook = new CommandLine()

/** What a node's caches hold of a project, read as each request reads it. */
const settingsAt = ({ services }: TestService, { projectId }: TestProject) =>
  services.core.settingsOf(projectId)

/** How often a node reads a cached row again, of `looks` at it. */
async function readsOf(
  { services }: TestService,
  looks: readonly (() => Promise<unknown>)[],
): Promise<number> {
  const cached = services.core.rights.cache<string, object>(10)
  let reads = 0
  for (const before of looks) {
    await before()
    await cached('row', async () => {
      reads++
      return {}
    })
  }
  return reads
}

describe('of a server and its replica', () => {
  test('a key that a command revokes is refused at the next request, at the edge from the next sync on', async () => {
    const project = await first.mintProject()
    const nodes = [first, second, edge].map((node) => at(node, project))
    const statuses = () => Promise.all(nodes.map(async (node) => (await node.fetch('/v1/calls')).status))
    await until(async () => (await statuses()).join() === '200,200,200')
    const revoke = ['key', 'revoke', project.keyId]
    expect(await callbook.run(revoke, { env })).toMatchObject({ code: 0, err: '' })
    expect((await statuses()).slice(0, 2)).toEqual([401, 401])
    await until(async () => (await statuses()).join() === '401,401,401')
  })

  test('settings that a command changes hold for the next request, at the edge from the next sync on', async () => {
    const project = await first.mintProject()
    const days = () =>
      Promise.all([first, second, edge].map(async (node) => (await settingsAt(node, project)).retainDays))
    await until(async () => (await days().catch(() => [])).join() === ',,')
    const set = ['project', 'set', project.name, '--retain-days', '30']
    expect(await callbook.run(set, { env })).toMatchObject({ code: 0, err: '' })
    expect((await days()).slice(0, 2)).toEqual([30, 30])
    await until(async () => (await days()).join() === '30,30,30')
  })

  test('rows are not read again because of a call that any node writes', async () => {
    const project = await first.mintProject()
    const there = at(edge, project)
    await until(async () => (await there.fetch('/v1/calls')).status === 200)
    const nothing = async () => undefined
    for (const [n, node] of [first, second, edge].entries()) {
      const write = async () => {
        expect((await project.send('PUT', `/ingest/calls/${n}`, {})).status).toBe(201)
        await until(async () => (await there.fetch(`/v1/calls/${n}`)).status === 200)
      }
      expect(await readsOf(node, [nothing, write])).toBe(1)
    }
    for (const [n, node] of [first, second].entries()) {
      const change = () => second.services.settings.change(project.projectId, { retainDays: n + 1 })
      expect(await readsOf(node, [nothing, change, nothing])).toBe(2)
    }
  })
})

test("of many calls on a server, another node's calls are in the figures within a minute, and few are exact", async () => {
  const { projectId } = await first.mintProject()
  const clock = { ms: Date.UTC(2026, 0, 1) }
  const { core } = second.services
  const figuresAbove = (callsOfServer: number) =>
    new Figures(core, { passes: new Passes({ ...core, now: () => clock.ms }, { callsOfServer }) })
  const [many, few] = [figuresAbove(1), figuresAbove(9)]
  const put = (id: string) => putCalls(first.services, projectId, [{ id }])
  for (const id of ['a', 'b']) await put(id)
  const asOf = new Date(clock.ms).toISOString()
  expect(await many.read(projectId, {})).toMatchObject({ total: 2, asOf })
  await put('c')
  expect(await few.read(projectId, {})).toMatchObject({ total: 3 })
  expect(await few.read(projectId, {})).not.toHaveProperty('asOf')
  clock.ms += 59_999
  expect(await many.read(projectId, {})).toMatchObject({ total: 2, asOf })
  clock.ms += 1
  expect(await many.read(projectId, {})).toMatchObject({ total: 3 })
})
