import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { deleteMeta, readMeta, readSecrets, setMeta } from '../../src/db/meta.ts'
import journal from '../../src/db/migrations/meta/_journal.json' with { type: 'json' }
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { meta } from '../../src/db/schema.ts'
import { freshFolder } from '../support/at-end.ts'
import { runScript } from '../support/script.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = freshFolder()
  file = join(folder, 'callbook.db')
})

describe('a database that four processes open at once', () => {
  test('is migrated once, and has one set of secrets', async () => {
    for (let round = 0; round < 2; round++) {
      const path = join(folder, `${round}.db`)
      const scripts = [1, 2, 3, 4].map(() =>
        runScript(
          `import { openDatabase } from './src/db/open.ts'
           import { readSecrets } from './src/db/meta.ts'
           const { read, write, close } = await openDatabase(process.argv.at(-1))
           console.log(JSON.stringify(await readSecrets(read, write)))
           await close()`,
          path,
        ),
      )
      const secrets = await Promise.all(scripts.map(({ ended }) => ended))
      expect(new Set(secrets).size).toBe(1)
      const values = Object.values(JSON.parse(secrets[0] ?? '{}'))
      expect(values.length).toBe(3)
      for (const value of values) expect(value).toMatch(/^[0-9a-f]{64}$/)
      const database = await openDatabase(path)
      const [row] = await database.read.all<{ n: number }>(
        sql`select count(*) as n from __drizzle_migrations`,
      )
      expect(row?.n).toBe(journal.entries.length)
      await database.close()
    }
  })
})

describe('a database', () => {
  let database: OpenDatabase

  beforeEach(async () => {
    database = await openDatabase(file)
  })

  afterEach(() => database.close())

  test('opened again keeps what it holds and the secrets it made', async () => {
    const secrets = await readSecrets(database.read, database.write)
    await setMeta(database.write, 'kept', 'yes')
    await database.close()
    database = await openDatabase(file)
    expect(await readSecrets(database.read, database.write)).toEqual(secrets)
    expect(await readMeta(database.read, 'kept')).toEqual(new Map([['kept', 'yes']]))
  })

  test('of a newer version is refused with a clear message, and not changed', async () => {
    await database.write.run(
      sql`insert into __drizzle_migrations (hash, created_at) values ('newer', ${Date.UTC(2100, 0)})`,
    )
    const error = await openDatabase(file).catch((error) => error)
    expect(error.message).toBe(
      'The database was written by a newer version of Callbook than this one. ' +
        'Start that version, or point DATA_DIR or DATABASE_URL at another database.',
    )
    const [row] = await database.read.all<{ n: number }>(sql`select count(*) as n from __drizzle_migrations`)
    expect(row?.n).toBe(journal.entries.length + 1)
    // The lock that migrations take turns by is free again.
    await database.write.run(sql`delete from __drizzle_migrations where hash = 'newer'`)
    const again = await openDatabase(file)
    await again.close()
  })

  test('cannot be written by its reader', async () => {
    const insert = sql`insert into meta (name, value) values ('by', 'the reader')`
    expect(() => database.read.all(insert)).toThrow('readonly')
  })

  test("shows its reader what was written, as soon as that is acknowledged, in the writer's order", async () => {
    for (let n = 0; n < 50; n++) {
      await setMeta(database.write, 'counter', String(n))
      expect(await readMeta(database.read, 'counter')).toEqual(new Map([['counter', String(n)]]))
    }
  })

  test('returns any text exactly as it was stored', async () => {
    const text = 'e\u0301 \u{1F600}\u200D \uFEFF\r\n\t \u{10FFFF} " \' \\ %'
    await setMeta(database.write, 'text', text)
    expect((await readMeta(database.read, 'text')).get('text')).toBe(text)
  })

  test('finds entries by the start of their names, taken literally', async () => {
    for (const name of ['job:1', 'job:2', 'jobs', 'JOB:3', 'j%b:4']) await setMeta(database.write, name, 'x')
    expect([...(await readMeta(database.read, 'job:')).keys()].sort()).toEqual(['job:1', 'job:2'])
    await deleteMeta(database.write, 'job:1')
    expect([...(await readMeta(database.read, 'job:')).keys()]).toEqual(['job:2'])
    expect([...(await readMeta(database.read, 'j%')).keys()]).toEqual(['j%b:4'])
  })

  test('keeps the secrets that were stored first', async () => {
    await database.write.insert(meta).values({ name: 'id_hash_key', value: 'of another process' })
    const secrets = await readSecrets(database.read, database.write)
    expect(secrets.idHashKey).toBe('of another process')
    expect(secrets.sessionSecret).toMatch(/^[0-9a-f]{64}$/)
  })
})

test('a process that died while it held the migration lock does not block the next', async () => {
  const other = runScript(
    `import { FolderLock } from './src/db/folder-lock.ts'
     FolderLock.tryAcquire(process.argv.at(-1), 'migrate')
     console.log('holding')
     await Bun.sleep(60_000)`,
    folder,
  )
  await other.said('holding')
  const opening = openDatabase(file)
  await other.kill()
  await (await opening).close()
})
