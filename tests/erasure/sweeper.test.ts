import { beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'libsql'
import { Sweeper } from '../../src/erasure/sweeper.ts'
import { freshFolder } from '../support/at-end.ts'
import { failureOf, succeeds } from '../support/failure.ts'
import { logTo } from '../support/part-log.ts'
import { until } from '../support/until.ts'

/** The smallest there are: many of them make no large file. */
const pageBytes = 512
const pagesOfSeveralAnswers = 50_000
let folder: string
let file: string

beforeEach(() => {
  folder = freshFolder()
  file = join(folder, 'data', 'callbook.db')
})

describe('a sweep', () => {
  test('that fails does so at once, and affects neither the next one nor closing', async () => {
    const sweeper = sweeperOf()
    expect(await failureOf(sweeper.finish())).toMatchObject({
      cause: { message: expect.stringContaining('Unable to open') },
    })
    makeDatabase()
    await until(() => succeeds(sweeper.finish()))
    await sweeper.close()
  })

  test('is aborted when the sweeper is closed in the middle of a large file without stale pages', async () => {
    makeDatabase(pagesOfSeveralAnswers)
    const sweeper = sweeperOf()
    const failed = failureOf(sweeper.finish())
    // It has asked for the first pages then, and nothing is answered yet.
    await Bun.sleep(0)
    await sweeper.close()
    expect(String(await failed)).toContain('is closed')
    expect(ended).toEqual([])
  })

  test('is made again if something was written to the file meanwhile, and only by the owner', async () => {
    makeDatabase()
    const owner = { isOwner: false }
    const sweeper = sweeperOf(owner)
    notice()
    await Bun.sleep(100)
    expect(ended).toEqual([])
    owner.isOwner = true
    state.hasMore = true
    notice()
    await until(() => ended.length === 2)
    expect(ended).toEqual([1, 2])
    await sweeper.close()
  })
})

/** What there is to sweep, as in checkpoints.ts, and whether more comes during the next sweep. */
let state: { gaps: number; swept: number; hasMore: boolean }
let ended: number[]
let notice: () => void

function sweeperOf(owner = { isOwner: true }): Sweeper {
  state = { gaps: 1, swept: 0, hasMore: false }
  ended = []
  return new Sweeper({
    owner,
    database: {
      file,
      clearStalePages: async () => undefined,
      gaps: async () => (state.gaps === state.swept ? null : state.gaps),
      endSweep: async (gaps) => {
        ended.push(gaps)
        state = { gaps: state.gaps + Number(state.hasMore), swept: gaps, hasMore: false }
        return state.gaps === gaps
      },
      onUnswept: (listener) => {
        notice = listener
      },
    },
    log: logTo(() => undefined),
  })
}

function makeDatabase(pages = 0): void {
  mkdirSync(dirname(file))
  const database = new Database(file)
  database.exec(`pragma page_size = ${pageBytes}`)
  database.exec('create table notes (id integer primary key, note blob not null)')
  database.exec(`insert into notes (note) values (zeroblob(${pages * pageBytes}))`)
  database.close()
}
