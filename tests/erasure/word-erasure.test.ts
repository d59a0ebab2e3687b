import { describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { createCallSegment, segmentTable } from '../../src/db/word-segments.ts'
import { eraseWords } from '../../src/erasure/word-erasure.ts'
import { openFreshDatabase } from '../support/database.ts'
import { projectsOf } from '../support/projects.ts'

const { database } = await openFreshDatabase()
const { read, write } = database
const { projectId } = await projectsOf(database).create('one')
const { signal } = new AbortController()

describe('the words of deleted calls', () => {
  test('are in no row of their segment afterwards, and other segments stay as they are', async () => {
    const fillers = Array.from({ length: 300 }, (_, n) => n + 1)
    for (const seq of fillers) await index(seq, `filler${seq % 50}`)
    await index(9_000, 'elsewhere')
    const gone = Array.from({ length: 20 }, newMarker)
    for (const [at, word] of gone.entries()) await index(1_000 + at, `${word} filler1`)
    const elsewhere = await structureOf(1)
    await write.run(sql`delete from calls where seq between 1000 and 1019`)
    expect(await traces(gone)).toEqual(gone)
    await eraseWords(database, signal)
    expect(await traces(gone)).toEqual([])
    expect((await find(0, 'filler1')).length).toBe(6)
    expect(await structureOf(1)).toEqual(elsewhere)
    expect(await read.all(sql`select * from word_removals`)).toEqual([])
  })

  test('leave nothing of a segment that has no calls any more, but for the newest', async () => {
    await index(100_000, 'newest')
    await write.run(sql`delete from calls where seq >= 9000`)
    await eraseWords(database, signal)
    expect(await tables()).toEqual(['call_words_0', 'call_words_1', 'call_words_12'])
    // Until now, a search may still have read it.
    await eraseWords(database, signal)
    expect(await tables()).toEqual(['call_words_0', 'call_words_12'])
    expect(await read.all(sql`select segment from call_segments`)).toEqual([{ segment: 0 }])
  })
})

/** Stores a call, and indexes its word. */
async function index(seq: number, words: string): Promise<void> {
  const segment = Math.floor(seq / 8_192)
  await write.batch({
    call: sql`
      insert into calls (seq, project_id, id, created_at, updated_at, status, is_engaged, duration, document_chars,
        change_seq)
      values (${seq}, ${projectId}, ${`call ${seq}`}, 1, 1, 'live', 0, 0, 0, ${seq})`,
    table: createCallSegment(segment),
    segment: sql`insert or ignore into call_segments (project_id, segment) values (${projectId}, ${segment})`,
    words: sql`insert into ${segmentTable('call', segment)} (rowid, words) values (${seq}, ${words})`,
  })
}

async function find(segment: number, word: string): Promise<unknown[]> {
  const table: SQL = segmentTable('call', segment)
  return await read.all(sql`select rowid from ${table} where ${table} match ${word}`)
}

async function structureOf(segment: number): Promise<unknown> {
  return await read.all(sql`select hex(block) from ${segmentTable('call', segment)}_data where id = 10`)
}

async function tables(): Promise<string[]> {
  const rows = await read.all<{ name: string }>(sql`
    select name from sqlite_master where name glob 'call_words_*' and sql like 'create virtual%' order by name`)
  return rows.map(({ name }) => name)
}

/** Those of the words whose ends (FTS5 shares the beginnings of neighbours) are in the first segment's own rows. */
async function traces(words: string[]): Promise<string[]> {
  const blocks = await read.all<{ block: ArrayBuffer }>(sql`select block from call_words_0_data`)
  const terms = await read.all<{ term: ArrayBuffer }>(
    sql`select cast(term as blob) as term from call_words_0_idx`,
  )
  const parts = [...blocks.map(({ block }) => block), ...terms.map(({ term }) => term)]
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part))).toString('latin1')
  return words.filter((word) => bytes.includes(word.slice(-10)))
}

function newMarker(): string {
  return `q${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}7`
}
