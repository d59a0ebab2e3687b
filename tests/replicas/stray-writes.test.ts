import { expect, test } from 'bun:test'
import { createClient } from '@libsql/client'
import { freshFolder } from '../support/at-end.ts'
import { at, type Reached, startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import type { TestProject } from '../support/service.ts'

const ourFolder = freshFolder()
const theirFolder = freshFolder()
const nodeFolder = freshFolder()

// Two databases with a project of the same number, and records of the same row numbers.
const theirs = await fill(theirFolder, 'theirs')
const ours = await fill(ourFolder, 'ours')
expect(theirs.project.projectId).toBe(ours.project.projectId)
const { project, itemId } = ours
const primary = await startPrimary({ folder: ourFolder })

test.each<[string, number, (node: Reached) => Promise<Response>]>([
  ['a new call', 503, (node) => node.send('PUT', '/ingest/calls/new', {})],
  // It notes that something arrived, in a statement of its own, and is answered even if it cannot.
  ['an unchanged call', 200, (node) => node.send('PUT', '/ingest/calls/both', { summary: 'Same' })],
  ['a deleted call', 503, (node) => node.fetch('/v1/calls/ours', { method: 'DELETE' })],
  ['a new item', 503, (node) => node.send('POST', '/v1/knowledge', { name: 'New', text: 'New' })],
  ['a deleted item', 503, (node) => node.fetch(`/v1/knowledge/${itemId}`, { method: 'DELETE' })],
])(
  '%s does not reach the database that replaced the primary since the last sync',
  async (_, status, write) => {
    await primary.restart()
    const env = { DATABASE_SYNC_INTERVAL_MS: '600000' }
    const node = await startNode(primary, { dataDir: nodeFolder, env })
    // These take their leases now: taking one is a write, after which the node syncs.
    await node.services.retention.run()
    await node.services.silence.run()
    await primary.restart(theirFolder)
    const before = await readTheirs()
    expect((await write(at(node, project))).status).toBe(status)
    expect(await readTheirs()).toEqual(before)
    await node.stop()
  },
)

/** Fills the folder of a server. */
async function fill(folder: string, name: string): Promise<{ project: TestProject; itemId: string }> {
  const server = await startPrimary({ folder })
  const node = await startNode(server)
  const project = await node.mintProject()
  for (const id of ['both', name])
    expect((await project.send('PUT', `/ingest/calls/${id}`, { summary: 'Same' })).status).toBe(201)
  const created = await project.send('POST', '/v1/knowledge', { name, text: name })
  expect(created.status).toBe(201)
  await node.stop()
  await server.stop()
  return { project, itemId: (await created.json()).id }
}

/** What a stray write would change there. */
async function readTheirs(): Promise<unknown[][]> {
  const client = createClient({ url: primary.url, intMode: 'number' })
  const tables = ['projects', 'calls', 'knowledge_items', 'erasures', 'audit_events']
  const results = await client.batch(tables.map((table) => `select * from ${table}`))
  client.close()
  return results.map(({ rows }) => rows)
}
