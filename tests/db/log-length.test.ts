import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { freshFolder } from '../support/at-end.ts'
import { until } from '../support/until.ts'

const rowChars = 100_000
const megabyte = 1_048_576
let folder: string
let file: string
let database: OpenDatabase

beforeEach(async () => {
  folder = freshFolder()
  file = join(folder, 'callbook.db')
  database = await openDatabase(file)
  await database.write.run(sql`create table texts (text text not null)`)
})

afterEach(async () => {
  await database.close()
})

test('the log stays short while writes go on, and its pages are in the database file', async () => {
  let longest = 0
  for (let n = 0; n < 800; n++) {
    await write(n)
    longest = Math.max(longest, logBytes())
  }
  expect(longest).toBeLessThan(32 * megabyte)
  await until(() => statSync(file).size > 40 * megabyte)
})

test('the log grows while somebody reads an older state, and begins anew afterwards', async () => {
  const reader = new Database(file)
  await write(0)
  reader.exec('begin')
  expect(reader.prepare('select count(*) as n from texts').get()).toMatchObject({ n: 1 })
  for (let n = 1; n < 500; n++) await write(n)
  const held = logBytes()
  expect(held).toBeGreaterThan(40 * megabyte)
  expect(reader.prepare('select count(*) as n from texts').get()).toMatchObject({ n: 1 })
  reader.exec('commit')
  reader.close()
  for (let n = 500; n < 1_000; n++) await write(n)
  // The file keeps its length; its first pages are written again.
  expect(logBytes()).toBeLessThan(held + 32 * megabyte)
})

async function write(n: number): Promise<void> {
  await database.write.run(sql`insert into texts values (${`${n} `.repeat(rowChars).slice(0, rowChars)})`)
}

function logBytes(): number {
  return statSync(`${file}-wal`).size
}
