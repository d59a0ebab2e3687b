import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { freshFolder } from '../support/at-end.ts'
import { addMarkedCall, addMarkedItem, type Marked } from '../support/marked.ts'
import { at, type Reached, startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import type { TestService } from '../support/service.ts'
import { findTraces, searchTraces } from '../support/traces.ts'
import { until } from '../support/until.ts'

const records = 6
const env = { ERASE_WITHIN_MS: '1000' }
const home = freshFolder()

const primary = await startPrimary({ folder: home })
const nodes = await Promise.all([startNode(primary, { env }), startNode(primary, { env })])
const [first] = nodes
if (!first) throw new Error('No node')
const project = await first.mintProject()
const reached = nodes.map((node) => at(node, project))

afterAll(async () => {
  for (const node of nodes) await node.stop()
})

test('a record that one node deletes is unreachable there at once, soon at the other, and its vectors leave the index files', async () => {
  const [first = project, second = project] = reached
  const [kept, ...gone] = await addAll(first, records + 1)
  const calls = await Promise.all(gone.map(() => addMarkedCall(first)))
  const all = [...gone, ...calls]
  await until(async () => (await statusesAt(second, all)).every((status) => status === 200))
  for (const node of reached) await until(async () => (await foundAt(node, gone)).length === records)
  const vectors = tracesOf(gone).filter(({ name }) => name.includes('of the index'))
  for (const node of nodes)
    await until(async () => {
      await node.services.index.eraseDeleted(project.projectId)
      const found = await findTraces(indexesOf(node), vectors)
      return vectors.every(({ name }) => found.some((line) => line.startsWith(name)))
    }, 'Saving the vectors')

  for (const { path } of all) {
    expect((await first.fetch(path, { method: 'DELETE' })).status).toBe(200)
    expect((await first.fetch(path)).status).toBe(404)
  }
  expect(await foundAt(first, gone)).toEqual([])
  const from = performance.now()
  await until(async () => (await statusesAt(second, all)).every((status) => status === 404))
  const goneMs = Math.round(performance.now() - from)
  expect(await foundAt(second, gone)).toEqual([])

  for (const node of nodes)
    await until(async () => (await findTraces(indexesOf(node), vectors)).length === 0, 'Scrubbing the index')
  for (const { id } of all) {
    await until(async () => (await (await first.fetch(`/v1/erasures/${id}`)).json()).status === 'done')
    expect((await second.fetch(`/v1/erasures/${id}`)).status).toBe(200)
  }
  for (const node of reached) expect(await statusesAt(node, kept ? [kept] : [])).toEqual([200])

  // Nobody promises these: pages of a server's database, and of its copies, are the server's to clear.
  const traces = tracesOf(all)
  const left = []
  for (const folder of [...nodes.map(({ dataDir }) => dataDir), home]) {
    const { found, bytes } = await searchTraces(folder, traces)
    const names = new Set(found.map((line) => line.slice(0, line.lastIndexOf(' in '))))
    expect(found.filter((line) => /\.hnsw(\.tmp)?$/.test(line))).toEqual([])
    left.push(`${names.size} of ${traces.length} traces in ${bytes} bytes`)
  }
  console.info(
    `Gone at the other node after ${goneMs} ms. Left in free pages: ${left.join(', ')} (the last is the primary)`,
  )
})

async function addAll(sender: Reached, count: number): Promise<Marked[]> {
  const made: Marked[] = []
  for (let n = 0; n < count; n++) made.push(await addMarkedItem(sender))
  return made
}

function statusesAt(node: Reached, all: Marked[]): Promise<number[]> {
  return Promise.all(all.map(async ({ path }) => (await node.fetch(path)).status))
}

/** Which of the items a search finds, by word or by vector. */
async function foundAt(node: Reached, items: Marked[]): Promise<string[]> {
  const ids = new Set<string>()
  for (const { words } of items) {
    for (const mode of ['keyword', 'vector']) {
      const request = { query: words.join(' '), mode, limit: 50, timeoutMs: 5_000 }
      const answer = await node.send('POST', '/v1/knowledge/search', request)
      const { data }: { data: { itemId: string }[] } = await answer.json()
      for (const { itemId } of data) ids.add(itemId)
    }
  }
  return items.map(({ id }) => id).filter((id) => ids.has(id))
}

function indexesOf({ dataDir }: TestService): string {
  return join(dataDir, 'indexes')
}

function tracesOf(all: Marked[]) {
  return all.flatMap(({ traces }) => traces)
}

test('an erasure by number takes the calls that the node has not heard of yet', async () => {
  const slow = await startNode(primary, { env: { ...env, DATABASE_SYNC_INTERVAL_MS: '3600000' } })
  const there = at(slow, project)
  // The note of when the key was used is a write, which syncs.
  await there.fetch('/v1/calls/unheard')
  const used = sql`select 1 from keys where id = ${project.keyId} and last_used_at is not null`
  await until(async () => (await slow.services.database.read.all(used)).length > 0)
  expect((await project.send('PUT', '/ingest/calls/unheard', { callerNumber: '+15557294053' })).status).toBe(
    201,
  )
  const answer = await there.send('POST', '/v1/erasures', { number: '+15557294053', dryRun: true })
  expect(await answer.json()).toEqual({ calls: 1 })
})
