import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'libsql'
import { Sweeper } from '../../src/db/sweeper.ts'
import { failureOf } from '../support/failure.ts'
import { freshFolder } from '../support/script.ts'

let folder: ReturnType<typeof freshFolder>
let file: string

beforeEach(() => {
  folder = freshFolder()
  file = join(folder.folder, 'data', 'callbook.db')
})

afterEach(() => folder.remove())

describe('a sweep', () => {
  test('that fails does so at once, and leaves the next one and the closing alone', async () => {
    const sweeper = new Sweeper({ file, clearPages: async () => undefined })
    expect(String(await failureOf(sweeper.sweep()))).toContain('Unable to open')
    makeDatabase()
    await sweeper.sweep()
    await sweeper.close()
  })
})

function makeDatabase(): void {
  mkdirSync(dirname(file))
  const database = new Database(file)
  database.exec('create table notes (id integer primary key, note text not null)')
  database.close()
}
