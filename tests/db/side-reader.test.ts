import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'drizzle-orm'
import { meta } from '../../src/db/schema.ts'
import { SideReader } from '../../src/db/side-reader.ts'
import { openFreshDatabase } from '../support/database.ts'
import { failureOf, succeeds } from '../support/failure.ts'
import { runScript } from '../support/script.ts'
import { until } from '../support/until.ts'

const { database, folder } = await openFreshDatabase()

describe('the side reader', () => {
  test('answers as the reader of the main thread does, prepared or not', async () => {
    await database.write.insert(meta).values([
      { name: 'a', value: '1' },
      { name: 'b', value: 'é👋' },
    ])
    for (const db of [database.readInBackground, database.read]) {
      const all = db
        .select()
        .from(meta)
        .where(sql`name >= ${sql.placeholder('name')} and name <= 'b'`)
        .orderBy(meta.name)
        .prepare()
      const one = db
        .select({ n: sql<number>`length(value)` })
        .from(meta)
        .where(sql`name = ${sql.placeholder('name')}`)
        .prepare()
      for (let round = 0; round < 3; round++) {
        expect(await all.all({ name: 'a' })).toEqual([
          { name: 'a', value: '1' },
          { name: 'b', value: 'é👋' },
        ])
        expect(await all.all({ name: 'b' })).toHaveLength(1)
        expect(await one.get({ name: 'b' })).toEqual({ n: 2 })
        expect(await one.get({ name: 'none' })).toBeUndefined()
        expect(await one.get({ name: 'a' })).toEqual({ n: 1 })
      }
    }
  })

  test('sees what was just committed', async () => {
    const read = async (name: string) =>
      await database.readInBackground.select().from(meta).where(sql`name = ${name}`)
    for (let n = 0; n < 50; n++) {
      await database.write.insert(meta).values({ name: `committed ${n}`, value: `${n}` })
      expect(await read(`committed ${n}`)).toEqual([{ name: `committed ${n}`, value: `${n}` }])
    }
  })

  test('answers each of many concurrent queries with its own rows, even when one of them fails', async () => {
    const ask = (n: number) =>
      database.readInBackground.select({ n: sql<number>`${n}` }).from(sql`(select 1)`)
    const asked = Array.from({ length: 100 }, async (_, n) => (await ask(n))[0]?.n)
    const failed = failureOf(database.readInBackground.select({ n: sql`1` }).from(sql`nowhere`).execute())
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 100 }, (_, n) => n))
    expect(await failed).toBeInstanceOf(Error)
    expect((await ask(7))[0]?.n).toBe(7)
  })

  test('answers a project after one query of another, however many that one has asked', async () => {
    const reader = new SideReader(database.file)
    const done: string[] = []
    const ask = async (projectId: number, n: number) => {
      const counted = sql`with recursive n(i) as (select 1 union all select i + 1 from n limit 1000) select ${n}, count(*) from n`
      expect(await reader.of(projectId).all<unknown>(counted)).toEqual([[n, 1_000]])
      done.push(`${projectId}`)
    }
    await Promise.all([...Array.from({ length: 60 }, (_, n) => ask(1, n)), ask(2, 0)])
    expect(done.indexOf('2')).toBeLessThanOrEqual(2)
    await reader.close()
  })

  test('answers a program while a query of a person runs', async () => {
    const done: string[] = []
    const count = (limit: number) =>
      sql`select count(*) from (with recursive n(i) as (select 1 union all select i + 1 from n limit ${limit}) select i from n)`
    // Starts both threads.
    await Promise.all([database.readInBackground.all(count(1)), database.readForConsole.all(count(1))])
    const person = database.readForConsole.all(count(5_000_000)).then(() => done.push('person'))
    await database.readInBackground.all(count(1)).then(() => done.push('program'))
    await person
    expect(done).toEqual(['program', 'person'])
  })

  test('writes nothing', async () => {
    const failure = await failureOf(
      database.readInBackground.insert(meta).values({ name: 'written', value: '' }).execute(),
    )
    expect(failure).toBeInstanceOf(Error)
    expect(await database.read.select().from(meta).where(sql`name = 'written'`)).toEqual([])
  })

  test('goes on after its thread has failed, and the process survives', async () => {
    const file = join(folder, 'later', 'callbook.db')
    const reader = new SideReader(file)
    expect(await failureOf(reader.of(null).all(sql`select 1`))).toBeInstanceOf(Error)
    mkdirSync(dirname(file))
    writeFileSync(file, '')
    await until(() => succeeds(reader.of(null).all(sql`select 1`)))
    expect(await reader.of(null).all(sql`select 1`)).toEqual([[1]])
    await reader.close()
  })

  test('rejects waiting queries when it is closed', async () => {
    const reader = new SideReader(database.file)
    const endless = sql`(with recursive n(i) as (select 1 union all select i + 1 from n limit 30000000) select i from n)`
    const asked = failureOf(reader.of(null).select({ n: sql`count(*)` }).from(endless).execute())
    await reader.close()
    expect(await asked).toBeInstanceOf(Error)
    expect(await failureOf(reader.of(null).select().from(meta).execute())).toBeInstanceOf(Error)
  })

  test('can be closed in the middle of a query, and the process survives', async () => {
    const script = runScript(
      `import { sql } from 'drizzle-orm'
       import { SideReader } from './src/db/side-reader.ts'
       const reader = new SideReader(process.argv.at(-1))
       await reader.of(null).all(sql\`select 1\`)
       const long = sql\`with recursive n(i) as (select 1 union all select i + 1 from n limit 10000000) select count(*) from n\`
       const asked = Array.from({ length: 3 }, () => reader.of(null).all(long).catch((error) => error.cause.message))
       await Bun.sleep(100)
       await reader.close()
       console.log(JSON.stringify(await Promise.all(asked)))`,
      database.file,
    )
    // To the end of the process, so to that of the thread as well.
    expect(JSON.parse(await script.ended)).toEqual(Array(3).fill('The side reader is closed'))
  })
})
