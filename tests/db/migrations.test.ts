import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { countMigrations, oldRecords, writeOldDatabase } from '../../scripts/torture/old-database.ts'
import { at } from '../support/node.ts'
import { freshFolder } from '../support/script.ts'
import { startService, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'

setDefaultTimeout(60_000)
const folders: { remove(): void }[] = []
afterAll(() => {
  for (const { remove } of folders) remove()
})

async function startOn(appliedMigrations: number): Promise<TestService> {
  const made = freshFolder()
  folders.push(made)
  if (appliedMigrations > 0) writeOldDatabase(join(made.folder, 'callbook.db'), appliedMigrations)
  return await startService({ dataDir: made.folder })
}

/** Every table and index but those that each project has of its own. */
async function schemaOf({ services }: TestService): Promise<unknown[]> {
  return await services.database.read.all(sql`
    select type, name, sql from sqlite_master
    where name not like '#_#_drizzle%' escape '#' and name not like 'chunk#_words#_%' escape '#' and name not like 'call#_words#_%' escape '#' order by name`)
}

describe.skipIf(ofFilesOnly)('a database of an older version', () => {
  const versions = Array.from({ length: countMigrations() - 1 }, (_, n) => n + 1)

  test.each(versions)(
    'that had %d migrations has the schema of a new one, its records, and takes more',
    async (applied) => {
      const [fresh, service] = [await startOn(0), await startOn(applied)]
      expect(await schemaOf(service)).toEqual(await schemaOf(fresh))
      const { key, callId, call } = oldRecords
      const [project] = await service.services.projects.list()
      const projectId = project?.projectId ?? 0
      const kind = 'ingest' as const
      const { key: ingestKey } = await service.services.keys.create(projectId, {
        name: kind,
        kind,
        allowedIps: [],
        expiresAt: null,
      })
      const { fetch, send } = at(service, { key, ingestKey })

      const old = await fetch(`/v1/calls/${callId}`)
      expect([old.status, await old.text()]).toEqual([200, call])
      expect((await send('PUT', '/ingest/calls/new', { summary: 'from this version' })).status).toBe(201)
      const page = await (await fetch('/v1/calls')).json()
      expect(page.pagination.total).toBe(2)
      expect(page.data.map(({ id }: { id: string }) => id)).toEqual(['new', callId])
      expect(
        (await send('POST', '/v1/knowledge', { name: 'Refunds', text: 'They take a week.' })).status,
      ).toBe(201)
      const found = await send('POST', '/v1/knowledge/search', { query: 'refunds', timeoutMs: 10_000 })
      expect(await found.json()).toMatchObject({ mode: 'hybrid', data: [{ name: 'Refunds' }] })
      expect((await fetch(`/v1/calls/${callId}`, { method: 'DELETE' })).status).toBe(200)
      await service.stop()
      await fresh.stop()
    },
  )
})
