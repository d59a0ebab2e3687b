import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'libsql'
import { Sweeper } from '../../src/erasure/sweeper.ts'
import { failureOf, succeeds } from '../support/failure.ts'
import { freshFolder } from '../support/script.ts'
import { until } from '../support/until.ts'

/** The smallest there are: many of them make no large file. */
const pageBytes = 512
const pagesOfSeveralAnswers = 50_000
let folder: ReturnType<typeof freshFolder>
let file: string

beforeEach(() => {
  folder = freshFolder()
  file = join(folder.folder, 'data', 'callbook.db')
})

afterEach(() => folder.remove())

describe('a sweep', () => {
  test('that fails does so at once, and affects neither the next one nor closing', async () => {
    const sweeper = new Sweeper({ file, clearStalePages: async () => undefined })
    expect(await failureOf(sweeper.sweep())).toMatchObject({
      cause: { message: expect.stringContaining('Unable to open') },
    })
    makeDatabase()
    await until(() => succeeds(sweeper.sweep()))
    await sweeper.close()
  })

  test('is aborted when the sweeper is closed in the middle of a large file without stale pages', async () => {
    makeDatabase(pagesOfSeveralAnswers)
    const sweeper = new Sweeper({ file, clearStalePages: async () => undefined })
    const failed = failureOf(sweeper.sweep())
    // It has asked for the first pages then, and nothing is answered yet.
    await Bun.sleep(0)
    await sweeper.close()
    expect(String(await failed)).toContain('The sweeper is closed')
  })

  test('is aborted with the reason of its signal, and the next one runs', async () => {
    makeDatabase(pagesOfSeveralAnswers)
    const sweeper = new Sweeper({ file, clearStalePages: async () => undefined })
    const [closing, reason] = [new AbortController(), new Error('closing')]
    const failed = failureOf(sweeper.sweep(closing.signal))
    const next = sweeper.sweep()
    await Bun.sleep(0)
    closing.abort(reason)
    expect(await failed).toBe(reason)
    await next
    await sweeper.close()
  })
})

function makeDatabase(pages = 0): void {
  mkdirSync(dirname(file))
  const database = new Database(file)
  database.exec(`pragma page_size = ${pageBytes}`)
  database.exec('create table notes (id integer primary key, note blob not null)')
  database.exec(`insert into notes (note) values (zeroblob(${pages * pageBytes}))`)
  database.close()
}
