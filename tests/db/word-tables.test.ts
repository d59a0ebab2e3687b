import { afterAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { chunkWords } from '../../src/db/word-tables.ts'
import { Erasure } from '../../src/erasure/erasure.ts'
import { segmentNames } from '../../src/erasure/word-segments.ts'
import { openFreshDatabase } from '../support/database.ts'
import { noFailures } from '../support/part-log.ts'
import { projectsOf } from '../support/projects.ts'

const { database, close } = await openFreshDatabase()
afterAll(close)
const projects = projectsOf(database)

describe('the word tables of a project', () => {
  test('are there as soon as the project is', async () => {
    const { projectId } = await projects.create('with tables')
    expect(await find(chunkWords(projectId), 'anything')).toEqual([])
  })

  test('are not made for a project that does not exist', async () => {
    await projects.create('taken')
    const before = await tableNames()
    expect(await projects.create('taken').catch((error) => error.code)).toBe('invalid_request')
    expect(await tableNames()).toEqual(before)
  })

  test("hold no other project's words", async () => {
    const [one, two] = [await projects.create('one'), await projects.create('two')]
    await insert(one.projectId, 1, 'refunds take thirty days')
    await insert(two.projectId, 1, 'shipping is free')
    expect(await find(chunkWords(one.projectId), 'refund')).toEqual([1])
    expect(await find(chunkWords(two.projectId), 'refund')).toEqual([])
  })

  test('find a word in any of its forms, without regard to case and diacritics', async () => {
    const { projectId } = await projects.create('forms')
    await insert(projectId, 7, 'Cancelling the Crème brûlée subscriptions')
    for (const word of ['cancel', 'CANCELLED', 'creme', 'BRÛLÉE', 'subscription']) {
      expect(await find(chunkWords(projectId), `"${word}"`)).toEqual([7])
    }
  })

  test('can delete a row by its number alone', async () => {
    const { projectId } = await projects.create('forgetful')
    await insert(projectId, 1, 'apples')
    await insert(projectId, 2, 'apples and pears')
    await database.write.run(sql`delete from ${chunkWords(projectId)} where rowid = 2`)
    expect(await find(chunkWords(projectId), 'apples')).toEqual([1])
    expect(await find(chunkWords(projectId), 'pears')).toEqual([])
  })
})

describe('the segments of a word table', () => {
  test('are none when it is empty', async () => {
    const { projectId } = await projects.create('no segments')
    expect(await segments(projectId)).toEqual([])
  })

  test('get names that were never used before', async () => {
    const { projectId } = await projects.create('segments')
    await insert(projectId, 99, 'one that stays')
    const seen: string[] = []
    for (let round = 1; round <= 10; round++) {
      const before = await segments(projectId)
      await insert(projectId, round, `round ${round}`)
      seen.push(...(await segments(projectId)).filter((name) => !before.includes(name)))
      await optimize(projectId)
      seen.push(...(await segments(projectId)))
    }
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('are counted as FTS5 counts them', async () => {
    const { projectId } = await projects.create('three segments')
    for (let n = 1; n <= 3; n++) await insert(projectId, n, `row ${n}`)
    expect((await segments(projectId)).length).toBe(3)
  })

  test('of an unknown kind of table are an error, not none', () => {
    expect(() => segmentNames(new Uint8Array(12))).toThrow('a format that this version cannot read')
  })
})

describe('an erasure', () => {
  const erasure = () =>
    new Erasure({
      owner: { isOwner: true },
      database,
      index: { eraseDeleted: async () => undefined },
      eraseWithinMs: 5_000,
      now: Date.now,
      log: noFailures,
    })

  test('leaves no word of a deleted row, also when other writes keep adding segments meanwhile', async () => {
    const { projectId } = await projects.create('busy')
    let lastRow = 0
    const add = (texts: string[]) =>
      insertAll(
        projectId,
        texts.map((text) => [++lastRow, text]),
      )
    for (let round = 0; round < 4; round++) {
      await add(Array.from({ length: 1_500 }, (_, n) => fillerText(round * 10_000 + n)))
    }
    for (let round = 0; round < 4; round++) {
      const markers = Array.from({ length: 20 }, () => newMarker())
      const firstRow = lastRow + 1
      await add(markers.map((marker) => `${fillerText(lastRow)} ${marker}`))
      // One large segment: the case in which FTS5 takes a merge that other writes interrupt for finished.
      if (round % 2 === 0) await optimize(projectId)
      await database.write.batch([
        database.write.run(sql`delete from ${chunkWords(projectId)} where rowid >= ${firstRow}`),
        ledgerRow(projectId, 'item'),
      ])
      let isDone = false
      const load = (async () => {
        for (; !isDone; await Bun.sleep(round * 5)) await add([fillerText(lastRow)])
      })()
      await erasure().finish()
      isDone = true
      await load
      expect(await traces(projectId, markers)).toEqual([])
    }
    expect((await find(chunkWords(projectId), fillerWord(20_001))).length).toBeGreaterThan(0)
  })

  test('leaves no word of a row that was deleted while its segment was being merged', async () => {
    const { projectId } = await projects.create('merging')
    const table = chunkWords(projectId)
    for (let round = 0; round < 4; round++) {
      const rows = Array.from({ length: 1_000 }, (_, n): [number, string] => [
        round * 1_000 + n + 1,
        fillerText(round * 1_000 + n),
      ])
      await insertAll(projectId, rows)
    }
    // The first in the alphabet: what is merged first.
    const marker = `aaaa${newMarker()}`
    await insert(projectId, 9_999, marker)
    await database.write.run(sql`insert into ${table} (${table}, rank) values ('merge', -8)`)
    await database.write.batch([
      database.write.run(sql`delete from ${table} where rowid = 9999`),
      ledgerRow(projectId, 'item'),
    ])
    expect(await traces(projectId, [marker])).toEqual([marker])
    await erasure().finish()
    expect(await traces(projectId, [marker])).toEqual([])
  })

  test('of a row of which nothing is left is marked as done, too', async () => {
    const { projectId } = await projects.create('empty')
    await database.write.batch([ledgerRow(projectId, 'item')])
    await database.write.batch([ledgerRow(projectId, 'call')])
    await erasure().finish()
    const open = await database.read.all(sql`select * from erasures where done_at is null`)
    expect(open).toEqual([])
  })
})

function ledgerRow(projectId: number, kind: 'call' | 'item') {
  return database.write.run(sql`
    insert into erasures (project_id, kind, id_hash, record, change_seq, requested_at)
    values (${projectId}, ${kind}, ${crypto.randomUUID()}, 1, 1, 1)`)
}

function insert(projectId: number, row: number, text: string) {
  return insertAll(projectId, [[row, text]])
}

async function insertAll(projectId: number, rows: [number, string][]): Promise<void> {
  await database.write.batch([
    database.write.run(sql`
      insert into ${chunkWords(projectId)} (rowid, heading, text)
      select value ->> 0, '', value ->> 1 from json_each(${JSON.stringify(rows)})`),
  ])
}

async function find(table: SQL, match: string): Promise<number[]> {
  const rows = await database.read.all<{ rowid: number }>(
    sql`select rowid from ${table} where ${table} match ${match} order by rowid`,
  )
  return rows.map(({ rowid }) => rowid)
}

async function optimize(projectId: number): Promise<void> {
  const table = chunkWords(projectId)
  await database.write.run(sql`insert into ${table} (${table}) values ('optimize')`)
}

async function tableNames(): Promise<string[]> {
  const rows = await database.read.all<{ name: string }>(sql`select name from sqlite_master order by name`)
  return rows.map(({ name }) => name)
}

async function segments(projectId: number): Promise<string[]> {
  const [row] = await database.read.all<{ block: ArrayBuffer }>(
    sql`select block from ${chunkWords(projectId)}_data where id = 10`,
  )
  return segmentNames(new Uint8Array(row?.block ?? new ArrayBuffer()))
}

/** Those of the words whose ends (FTS5 shares the beginnings of neighbours) are in the table's own rows. */
async function traces(projectId: number, words: string[]): Promise<string[]> {
  const table = chunkWords(projectId)
  const blocks = await database.read.all<{ block: ArrayBuffer }>(sql`select block from ${table}_data`)
  const terms = await database.read.all<{ term: ArrayBuffer }>(
    sql`select cast(term as blob) as term from ${table}_idx`,
  )
  const bytes = Buffer.concat(
    [...blocks.map(({ block }) => block), ...terms.map(({ term }) => term)].map((part) => Buffer.from(part)),
  ).toString('latin1')
  return words.filter((word) => bytes.includes(word.slice(-10)))
}

function newMarker(): string {
  return `q${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}7`
}

function fillerText(seed: number): string {
  return Array.from({ length: 60 }, (_, n) => fillerWord(seed * 31 + n * n * 17)).join(' ')
}

function fillerWord(n: number): string {
  return `w${((n * 7_919) % 30_011).toString(36)}`
}
