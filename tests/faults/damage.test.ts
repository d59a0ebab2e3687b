import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { freshFolder } from '../support/at-end.ts'
import { startService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { spawnService } from '../support/spawned.ts'
import { until } from '../support/until.ts'

const pageBytes = 4_096
/** A database of this size is checked while the service runs. */
const fillerBytes = 20_000_000
const sound = freshFolder()

const service = await startService({ dataDir: sound })
const project = await service.mintProject()
for (let n = 0; n < 60; n++)
  await project.send('PUT', `/ingest/calls/c${n}`, { summary: 'words '.repeat(700) })
await service.stop()

/** A copy of the folder whose database was changed behind the service's back. */
function damaged(change: (database: Buffer) => Buffer): string {
  const copy = freshFolder()
  cpSync(sound, copy, { recursive: true })
  const file = join(copy, 'callbook.db')
  writeFileSync(file, change(readFileSync(file)))
  rmSync(`${file}-wal`, { force: true })
  return copy
}

function filled(from: number, to: number) {
  return (bytes: Buffer) => bytes.fill(0x55, from, to)
}

describe('a damaged database stops the start with a sentence, and is not changed', () => {
  const cases: [string, (bytes: Buffer) => Buffer][] = [
    ['whose first page is not one', filled(100, pageBytes)],
    ['whose header is gone', filled(0, 100)],
    ['with a page of noise', filled(8 * pageBytes, 9 * pageBytes)],
    ['of which half is missing', (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2))],
    ['that is something else', () => Buffer.from('This is no database at all. '.repeat(500))],
  ]
  test.each(cases)('%s', async (_, change) => {
    const folder = damaged(change)
    const file = join(folder, 'callbook.db')
    const before = readFileSync(file)
    const service = await spawnService({ DATA_DIR: folder })
    expect(await service.stop()).toBe(1)
    expect(service.url).toBe('')
    expect(service.stderr()).toContain('is damaged')
    expect(service.stderr()).toContain('bun callbook restore')
    expect(service.stderr()).not.toContain('words words')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('but an intact one starts', async () => {
    const service = await spawnService({ DATA_DIR: damaged((bytes) => bytes) })
    expect((await fetch(`${service.url}/health`)).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })
})

test('a request that meets damage is 503, as is readiness from then on', async () => {
  const folder = damaged((bytes) => bytes)
  const service = await startService({ dataDir: folder })
  const project = await service.mintProject()
  await project.send('PUT', '/ingest/calls/c', { summary: 'before' })
  // What is written afterwards would stand in the log, from which it is read whole.
  const { read: rows } = service.services.database
  await until(async () => (await rows.all(sql`select 1 from calls_without_words limit 1`)).length === 0)
  const file = join(folder, 'callbook.db')
  const connection = new Database(file)
  const roots = connection
    .prepare("select rootpage from sqlite_schema where name in ('calls', 'calls_by_id')")
    .pluck()
    .all()
    .map(Number)
  await until(() => connection.prepare('pragma wal_checkpoint(truncate)').pluck().all()[0] === 0)
  connection.close()
  expect((await fetch(`${service.url}/ready`)).status).toBe(200)
  const bytes = readFileSync(file)
  for (const root of roots) filled((root - 1) * pageBytes, root * pageBytes)(bytes)
  writeFileSync(file, bytes)
  const read = await project.fetch('/v1/calls/c')
  expect([read.status, await read.json()]).toMatchObject([
    503,
    { code: 'unavailable', detail: 'The database is damaged.' },
  ])
  const written = await project.send('PUT', '/ingest/calls/d', { summary: 'after' })
  expect([written.status, (await written.json()).detail]).toMatchObject([
    503,
    expect.stringContaining('damaged'),
  ])
  const ready = await fetch(`${service.url}/ready`)
  expect([ready.status, (await ready.json()).detail]).toMatchObject([
    503,
    expect.stringContaining('restore a backup'),
  ])
  expect(service.logs.filter(({ msg }) => String(msg).includes('is damaged'))).toHaveLength(1)
  await service.stop()
})

test('an empty database beside indexes is not taken for a new one', async () => {
  const folder = freshFolder()
  const index = join(folder, 'indexes', '1.index')
  mkdirSync(join(folder, 'indexes'))
  writeFileSync(index, 'vectors')
  for (const content of [null, '']) {
    const file = join(folder, 'callbook.db')
    if (content !== null) writeFileSync(file, content)
    const service = await spawnService({ DATA_DIR: folder })
    expect(await service.stop()).toBe(1)
    expect(service.stderr()).toMatch(/callbook\.db is empty or missing, but .*indexes holds indexes of one/)
    expect(readFileSync(index, 'utf8')).toBe('vectors')
    expect(existsSync(file)).toBe(content !== null)
  }
})

test('damage in a large database ends the process, which has not changed it', async () => {
  const folder = damaged((bytes) => bytes)
  const file = join(folder, 'callbook.db')
  const connection = new Database(file)
  connection.exec(`create table filler as select zeroblob(${fillerBytes})`)
  const [root] = connection
    .prepare("select rootpage from sqlite_schema where name = 'call_documents'")
    .pluck()
    .all()
  connection.exec('pragma wal_checkpoint(truncate)')
  connection.close()
  const page = (Number(root) - 1) * pageBytes
  writeFileSync(file, filled(page, page + pageBytes)(readFileSync(file)))
  const before = readFileSync(file)
  const service = await spawnService({ DATA_DIR: folder })
  expect(await service.ended).toBe(1)
  expect(service.stderr()).toContain('is damaged')
  expect(readFileSync(file).equals(before)).toBe(true)
})

test('a folder that cannot be written stops the start with a sentence', async () => {
  const disk = mountSmallDisk(64)
  if (!disk) return skipped('no disk can be mounted that is read-only')
  cpSync(sound, disk, { recursive: true })
  Bun.spawnSync(['mount', '-o', 'remount,ro', disk])
  const service = await spawnService({ DATA_DIR: disk })
  expect(await service.stop()).toBe(1)
  expect(service.stderr()).toMatch(/Callbook cannot start: .*(readonly|read-only|EROFS|unable to open)/i)
})
