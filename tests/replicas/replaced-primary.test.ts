import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'drizzle-orm'
import { freshFolder } from '../support/at-end.ts'
import { at, startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import type { TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const calls = 20
const empty = 'The primary is empty, so this node keeps its copy, and neither syncs nor writes.'
const another =
  'The primary has another database than this replica, so this node keeps its copy, and neither syncs nor writes.'
const replacement = freshFolder()
const home = freshFolder()
let first: TestService
let fresh: TestService

const primary = await startPrimary()
first = await startNode(primary, { dataDir: home })
const second = await startNode(primary)
const project = await first.mintProject()
for (let n = 0; n < calls; n++) await put(first, `call-${n}`)
await until(async () => (await countCalls(second)) === calls)
// What is left to index would be written, too.
const toIndex = sql`select 1 from calls_without_words limit 1`
for (const { services } of [first, second])
  await until(async () => (await services.database.read.all(toIndex)).length === 0)
/** Does not sync by itself while the tests run. */
const lagging = await startNode(primary, { env: { DATABASE_SYNC_INTERVAL_MS: '60000' } })

afterAll(async () => {
  for (const node of [first, second, lagging, fresh]) await node.stop()
})

describe('when an empty server takes the place of the primary', () => {
  beforeAll(() => primary.restart(replacement))

  test('its nodes keep their calls, and say so in one line each', async () => {
    for (const node of [first, second]) {
      await until(async () => (await readiness(node)).detail === empty)
      expect((await readiness(node)).status).toBe(503)
      await furtherSyncs(node)
      expect(await countCalls(node)).toBe(calls)
      expect(linesOfError(node)).toEqual(['The replica has stopped'])
    }
  })

  test('writes are 503 with the reason, even before the first sync', async () => {
    for (const node of [lagging, first]) {
      for (const answer of [await put(node, 'new'), await remove(node, 'call-1')]) {
        expect(answer.status).toBe(503)
        expect(await answer.json()).toMatchObject({ code: 'unavailable', detail: empty })
      }
    }
    expect((await readiness(lagging)).detail).toBe(empty)
  })

  test('a node that starts again keeps its copy, too', async () => {
    await first.stop()
    first = await startNode(primary, { dataDir: home })
    expect((await readiness(first)).detail).toBe(empty)
    await furtherSyncs(first)
    expect(await countCalls(first)).toBe(calls)
    expect(linesOfError(first)).toEqual(['The replica has stopped'])
  })
})

describe('when a new node has filled the empty server', () => {
  beforeAll(async () => {
    fresh = await startNode(primary)
  })

  test('that one works, and the others keep what they have', async () => {
    const own = await fresh.mintProject()
    expect((await own.send('PUT', '/ingest/calls/new', {})).status).toBe(201)
    expect((await readiness(fresh)).status).toBe(200)
    for (const node of [first, second]) {
      await until(async () => (await readiness(node)).detail === another)
      await furtherSyncs(node)
      expect(await countCalls(node)).toBe(calls)
      expect(await (await put(node, 'new')).json()).toMatchObject({ detail: another })
      expect(linesOfError(node)).toEqual(['The replica has stopped'])
    }
  })

  test('nothing of the old nodes has reached it', async () => {
    expect(await fresh.services.database.read.all(sql`select id from calls`)).toEqual([{ id: 'new' }])
  })
})

test('once the primary is back, its nodes follow it again', async () => {
  await primary.restart()
  for (const node of [first, second]) {
    await until(async () => (await readiness(node)).status === 200)
    await until(async () => (await put(node, 'after')).ok)
  }
  await until(async () => (await countCalls(second)) === calls + 1)
})

test("a server that was made from a node's copy is a primary that its nodes follow", async () => {
  const copied = freshFolder()
  await first.stop()
  const [from, to] = [join(home, 'callbook.db'), join(copied, 'dbs/default/data')]
  mkdirSync(dirname(to), { recursive: true })
  for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
  await primary.restart(copied)
  first = await startNode(primary, { dataDir: home })
  await until(async () => (await put(second, 'from-a-copy')).ok)
  for (const node of [first, second]) await until(async () => (await countCalls(node)) === calls + 2)
})

/** Resolves when the node has tried to sync several times more. */
async function furtherSyncs({ services: { database } }: TestService): Promise<void> {
  const failures = () => database.replication()?.failures ?? 0
  const before = failures()
  await until(() => failures() >= before + 3)
}

function linesOfError({ logs }: TestService): unknown[] {
  return logs.filter(({ level }) => Number(level) >= 50).map(({ msg }) => msg)
}

function put(node: TestService, id: string): Promise<Response> {
  return at(node, project).send('PUT', `/ingest/calls/${id}`, { summary: 'Kept' })
}

function remove(node: TestService, id: string): Promise<Response> {
  return at(node, project).fetch(`/v1/calls/${id}`, { method: 'DELETE' })
}

async function countCalls(node: TestService): Promise<number | undefined> {
  const answer = await at(node, project).fetch('/v1/calls?limit=0')
  return answer.ok ? (await answer.json()).pagination.total : undefined
}

async function readiness({ url }: TestService): Promise<{ status: number; detail?: string }> {
  const answer = await fetch(`${url}/ready`)
  const { detail } = await answer.json()
  return { status: answer.status, detail }
}
