import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { settingsColumns } from '../../src/db/project-settings.ts'
import { keys, projects } from '../../src/db/schema.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { core } = service.services
const project = await service.mintProject()

/** How often rows were read that were the same before. */
async function readsAround(change: () => Promise<unknown>): Promise<number> {
  const cached = core.rights.cache<string, object>(10)
  let reads = 0
  const read = async () => {
    reads++
    return {}
  }
  await cached('row', read)
  await change()
  // A later request is handled in a later turn of the event loop: see reader.ts.
  await setImmediate()
  await cached('row', read)
  return reads - 1
}

test('a call that is written leaves what is cached of keys and settings', async () => {
  const write = () => project.send('PUT', '/ingest/calls/a', { status: 'completed' })
  await write()
  expect(await readsAround(write)).toBe(0)
  expect(await readsAround(() => project.fetch('/v1/calls/a', { method: 'DELETE' }))).toBe(0)
})

test("a use of a key that is recorded leaves it, and a change of a key or a project's settings does not", async () => {
  const of = eq(keys.projectId, project.projectId)
  const ofProject = eq(projects.id, project.projectId)
  const { write } = core
  expect(await readsAround(() => write.update(keys).set({ lastUsedAt: 1, lastUsedIp: 'x' }).where(of))).toBe(
    0,
  )
  expect(
    await readsAround(() =>
      write
        .update(keys)
        .set({ allowedIps: ['*'] })
        .where(of),
    ),
  ).toBe(1)
  expect(await readsAround(() => write.update(keys).set({ expiresAt: null }).where(of))).toBe(1)
  expect(await readsAround(() => write.update(projects).set({ retainDays: 9 }).where(ofProject))).toBe(1)
  expect(await readsAround(() => write.update(projects).set({ name: 'Other' }).where(ofProject))).toBe(0)
  const other = await service.mintProject()
  const remove = () => service.services.projects.delete(other.projectId)
  expect(await readsAround(remove)).toBe(1)
})

test('a row that is read while rights change is read again', async () => {
  const cached = core.rights.cache<string, { value: number }>(10)
  const other = cached('row', async () => {
    await core.write.update(keys).set({ allowedIps: [] }).where(eq(keys.projectId, project.projectId))
    await setImmediate()
    // By another request, which sees the change.
    await cached('another', async () => ({ value: 0 }))
    return { value: 1 }
  })
  expect(await other).toEqual({ value: 1 })
  expect(await cached('row', async () => ({ value: 2 }))).toEqual({ value: 2 })
})

test('each column that says what is allowed is watched', async () => {
  const rows = await core.read.all<{ name: string; sql: string }>(
    sql`select name, sql from sqlite_master where type = 'trigger' and name like '%_rights'`,
  )
  const watched = (name: string) =>
    rows.find((row) => row.name === name)?.sql.match(/UPDATE OF (.*) ON/)?.[1] ?? ''
  const { lastUsedAt, lastUsedIp, hint, createdAt, createdBy, replaces, ...allowed } = getTableColumns(keys)
  for (const { name } of Object.values(allowed))
    expect(watched('keys_update_rights')).toContain(`\`${name}\``)
  const { publicId, deletedAt } = projects
  for (const { name } of [...Object.values(settingsColumns), publicId, deletedAt])
    expect(watched('projects_update_rights')).toContain(`\`${name}\``)
})
