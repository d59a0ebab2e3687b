import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { getTableColumns, getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import Database from 'libsql'
import { keepReview } from '../../src/calls/review/kept-review.ts'
import { backUp, restore } from '../../src/db/backup.ts'
import { restoreRules } from '../../src/db/restore-rules.ts'
import * as schema from '../../src/db/schema.ts'
import { freshFolder } from '../support/at-end.ts'
import { CommandLine } from '../support/command-line.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces } from '../support/traces.ts'

const tables = Object.values(schema).filter((value) => is(value, SQLiteTable))
/** Triggers write these, and the service erases what they name after its start. */
const ofTriggers = new Set([
  'call_segments',
  'chunk_segments',
  'word_removals',
  'recording_removals',
  'item_tags',
])
const seeded = tables.filter((table) => !ofTriggers.has(getTableName(table)))
/** Row numbers and ids of a seed's records, which others refer to. */
const rowOf = { kept: 101, gone: 102, doomed: 103 }
type Seed = keyof typeof rowOf
/** Values that a column's type does not tell. */
const special: Record<string, unknown> = {
  'calls.value_list': null,
  'calls.review': null,
  'call_details.details': '{"recording":{"state":"kept"}}',
  'analysis_runs.stopped_at': null,
  'erasures.done_at': 1,
  'project_erasures.done_at': 1,
  'projects.deleted_at': null,
}

test('every table has a rule for what a restore leaves out', () => {
  expect(Object.keys(restoreRules).sort()).toEqual(tables.map(getTableName).sort())
})

test.skipIf(ofFilesOnly)('no row of any table that was erased after the backup is restored', async () => {
  const { dataDir } = await new CommandLine(freshFolder()).withDatabase()
  const file = join(dataDir, 'callbook.db')
  change(file, (connection) => {
    for (const seed of ['kept', 'gone', 'doomed'] as const)
      for (const table of seeded) insert(connection, table, seed)
  })
  const earlier = await backUpOf(dataDir, 1_000)
  change(file, (connection) => {
    connection.exec(`delete from projects where id = ${rowOf.doomed}`)
    for (const table of seeded)
      connection.exec(`delete from ${getTableName(table)} where ${isOf(table, 'gone')}`)
  })
  const later = await backUpOf(dataDir, 2_000)
  const restored = freshFolder()
  const target = join(restored, 'callbook.db')
  const signal = AbortSignal.timeout(60_000)
  const given = { folder: earlier, target, dataDir: restored, keepReview, setupHash: 'hash', signal }
  await restore({ ...given, erasures: later })
  const inLater = new Map<string, boolean>()
  change(join(later, 'callbook.db'), (connection) => {
    for (const table of seeded) inLater.set(getTableName(table), has(connection, table, 'doomed'))
  })
  change(target, (connection) => {
    expect(connection.prepare('pragma foreign_key_check').all()).toEqual([])
    for (const table of seeded) {
      const name = getTableName(table)
      const [isKept, isGone, isDoomed] = (['kept', 'gone', 'doomed'] as const).map((seed) =>
        has(connection, table, seed),
      )
      const isEmptied = Object.entries(restoreRules).some(([of, rule]) => of === name && rule === 'emptied')
      expect({ name, isKept, isGone, isDoomed }).toEqual({
        name,
        isKept: !isEmptied,
        isGone: false,
        isDoomed: !isEmptied && inLater.get(name) === true,
      })
    }
  })
  const words = seeded
    .map(getTableName)
    // Their files' names are noted until the service removes the files.
    .filter((name) => name !== 'recordings')
    .flatMap((name) => [wordOf(name, 'gone'), ...(inLater.get(name) ? [] : [wordOf(name, 'doomed')])])
  const traces = words.map((word) => ({ name: word, bytes: Buffer.from(word) }))
  expect(await findTraces(restored, traces)).toEqual([])
})

function has(connection: Database.Database, table: SQLiteTable, seed: Seed): boolean {
  const rows = connection.prepare(`select 1 from ${getTableName(table)} where ${isOf(table, seed)}`).all()
  return rows.length > 0
}

function wordOf(table: string, seed: Seed): string {
  return `${seed}-${table}-word`
}

/** Rows are told apart by their number, or by the seed that every text begins with. */
function isOf(table: SQLiteTable, seed: Seed): string {
  const columns = Object.values(getTableColumns(table))
  const own = columns.filter(({ primary }) => primary)
  const named = own.length > 0 ? own : columns.filter(({ name }) => !['until', 'number'].includes(name))
  return named
    .slice(0, 1)
    .map(({ name, columnType }) =>
      columnType === 'SQLiteText' && !name.endsWith('_key')
        ? `(${name} like '${seed}-%')`
        : `(${name} = ${rowOf[seed]})`,
    )
    .join()
}

function insert(connection: Database.Database, table: SQLiteTable, seed: Seed): void {
  const name = getTableName(table)
  const columns = Object.values(getTableColumns(table)).filter(({ generated }) => !generated)
  const values = columns.map((column) => {
    const known = special[`${name}.${column.name}`]
    if (known !== undefined) return known
    if (column.enumValues?.[0]) return column.enumValues[0]
    if (column.dataType === 'json' || column.name === 'seqs') return '[]'
    if (column.columnType === 'SQLiteBlobBuffer') return Buffer.from(wordOf(name, seed))
    if (column.columnType === 'SQLiteText') return wordOf(parentOf(column.name) ?? name, seed)
    return rowOf[seed]
  })
  connection
    .prepare(
      `insert into ${name} (${columns.map((column) => column.name).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    )
    .run(...values)
}

/** Whose id a column of texts refers to. */
function parentOf(column: string): string | null {
  const parents: Record<string, string> = {
    user_id: 'people',
    person_id: 'people',
    marked_by: 'people',
    assignee_id: 'people',
    created_by: 'people',
    webhook_id: 'webhooks',
    source_id: 'sources',
    run_id: 'analysis_runs',
    request_id: 'erasure_requests',
    call_id: 'calls',
    item_id: 'knowledge_items',
    wording: 'questions',
  }
  return parents[column] ?? null
}

function change(file: string, use: (connection: Database.Database) => void): void {
  const connection = new Database(file)
  connection.exec(
    'pragma secure_delete = on; pragma foreign_keys = on; begin; pragma defer_foreign_keys = on',
  )
  use(connection)
  connection.exec('commit')
  connection.close()
}

async function backUpOf(dataDir: string, at: number): Promise<string> {
  const folder = join(freshFolder(), 'backup')
  const signal = AbortSignal.timeout(60_000)
  await backUp({
    source: join(dataDir, 'callbook.db'),
    dataDir,
    folder,
    version: 'test',
    now: () => at,
    signal,
  })
  return folder
}
