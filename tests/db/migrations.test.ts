import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { appendFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { Dataset } from '../../scripts/dataset.ts'
import { buildOldDatabase, makeNextVersion, oldCallId, oldItem } from '../../scripts/torture/next-version.ts'
import { startVictim, untilReady, type Victim } from '../../scripts/torture/victim.ts'
import { freshFolder } from '../support/at-end.ts'
import { CommandLine } from '../support/command-line.ts'
import { at } from '../support/node.ts'
import { startService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

let fresh: string
let dataDir: string
let next: string
let old: Dataset
let started: Victim[]

describe.skipIf(ofFilesOnly)('the next version', () => {
  beforeEach(async () => {
    fresh = freshFolder()
    dataDir = join(fresh, 'data')
    next = makeNextVersion(fresh)
    old = await buildOldDatabase(dataDir)
    started = []
  })

  afterEach(async () => {
    for (const { kill } of started) await kill()
  })

  test('has every record of this one after an upgrade, and takes more', async () => {
    const here = await startService({ dataDir })
    const before = at(here, old)
    const call = await (await before.fetch(`/v1/calls/${oldCallId}`)).text()
    const items = await (await before.fetch('/v1/knowledge')).text()
    await here.stop()

    const { fetch, send } = at({ url: await upgrade() }, old)
    expect(await (await fetch(`/v1/calls/${oldCallId}`)).text()).toBe(call)
    expect(await (await fetch('/v1/knowledge')).text()).toBe(items)
    const search = async () =>
      await (await send('POST', '/v1/knowledge/search', { query: 'refund week' })).json()
    expect((await search()).data[0]).toMatchObject(oldItem)
    expect((await send('PUT', '/ingest/calls/new', { summary: 'from the next' })).status).toBe(201)
    expect((await (await fetch('/v1/calls')).json()).pagination.total).toBe(2)
    expect((await send('POST', '/v1/knowledge', { name: 'New', text: 'Hours.' })).status).toBe(201)
    const { id } = JSON.parse(items).find(({ name }: { name: string }) => name === oldItem.name)
    expect((await fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    // Its words do not match, so it is found once its vector is there.
    await until(async () => (await search()).data.length > 0)
    expect((await search()).data).toMatchObject([{ name: 'New' }])
  })

  test('leaves a database as it was when its migration fails half-way', async () => {
    appendFileSync(
      join(next, 'src/db/migrations/9999_next.sql'),
      '\n--> statement-breakpoint\nINSERT INTO nowhere VALUES (1);',
    )
    const victim = startVictim(dataDir, next)
    started.push(victim)
    expect(await victim.address).toBe(null)
    const service = await startService({ dataDir })
    expect((await at(service, old).fetch(`/v1/calls/${oldCallId}`)).status).toBe(200)
    await service.stop()
  })

  test('migrates once when two of its processes start at once', async () => {
    const urls = await Promise.all([upgrade(), upgrade()])
    for (const url of urls) expect((await at({ url }, old).fetch(`/v1/calls/${oldCallId}`)).status).toBe(200)
    const database = new Database(join(dataDir, 'callbook.db'))
    const migrations = readdirSync(join(next, 'src/db/migrations')).filter((name) => name.endsWith('.sql'))
    const run = database.prepare('select count(*) from __drizzle_migrations').pluck().all()
    expect(run).toEqual([migrations.length])
    database.close()
  })

  test('leaves a database that this version refuses', async () => {
    await upgrade()
    expect(String(await startService({ dataDir }).catch(String))).toContain('newer version of Callbook')
  })
})

test.skipIf(ofFilesOnly)(
  'a database that an earlier form of a migration made is refused in a sentence',
  async () => {
    const folder = freshFolder()
    const [data, backup, restored] = [join(folder, 'data'), join(folder, 'backup'), join(folder, 'restored')]
    await (await startService({ dataDir: data })).stop()
    const database = new Database(join(data, 'callbook.db'))
    database.exec(
      "alter table projects drop column end_silent_after; update __drizzle_migrations set hash = 'earlier'",
    )
    database.close()
    const refused = 'was written by an earlier development version of Callbook'
    expect(String(await startService({ dataDir: data }).catch(String))).toContain(refused)
    const callbook = new CommandLine(data)
    const { code, err } = await callbook.run(['project', 'list'])
    expect([code, err]).toEqual([1, expect.stringContaining(refused)])
    const { value } = await callbook.json(['doctor'])
    expect(value.at(-1)).toMatchObject({
      detail: expect.stringContaining(refused),
      advice: 'Start that version, or point DATA_DIR or DATABASE_URL at another database.',
    })
    await callbook.run(['backup', backup])
    const ran = await new CommandLine(restored).run(['restore', backup])
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(refused)])
    expect(existsSync(join(restored, 'callbook.db'))).toBe(false)
  },
)

async function upgrade(): Promise<string> {
  const victim = startVictim(dataDir, next)
  started.push(victim)
  const url = (await victim.address) ?? ''
  expect(await untilReady(url, victim)).toBe(true)
  return url
}
