import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { emptyWriteAheadLog } from '../../src/erasure/write-ahead-log.ts'
import { freshFolder } from '../support/at-end.ts'
import { failureOf } from '../support/failure.ts'

/** Less than a write waits for a lock, and far more than a try to empty the log takes. */
const readsForMs = 4_000
/** A header, and a frame with the first page, which has no rows. */
const emptyLogBytes = 32 + 24 + 4_096
let folder: string
let database: OpenDatabase

beforeEach(async () => {
  folder = freshFolder()
  database = await openDatabase(join(folder, 'callbook.db'))
})

afterEach(async () => {
  await database.close()
})

describe('the write-ahead log', () => {
  test('is not emptied during a read, and other writes go on', async () => {
    const reader = startReading()
    const events: string[] = []
    const timer = setTimeout(() => events.push('the reader ended'), readsForMs)
    await Promise.all([
      database.emptyLog(50).then((isEmpty) => events.push(isEmpty ? 'emptied' : 'not emptied')),
      write('meanwhile').then(() => events.push('written')),
    ])
    clearTimeout(timer)
    expect(events.toSorted()).toEqual(['not emptied', 'written'])
    expect(await database.write.all(sql`pragma busy_timeout`)).toEqual([{ timeout: 5_000 }])
    reader.end()
    expect(await database.emptyLog(50)).toBe(true)
    expect(logBytes()).toBe(emptyLogBytes)
  })

  test('is emptied once no query reads it', async () => {
    const reader = startReading()
    let tries = 0
    const tryOnce = async () => {
      const isEmpty = await database.emptyLog(50)
      // The next one finds nobody.
      if (++tries === 2) reader.end()
      return isEmpty
    }
    await emptyWriteAheadLog(tryOnce, new AbortController().signal)
    expect(tries).toBe(3)
    expect(logBytes()).toBe(emptyLogBytes)
  })

  test('is emptied in the end even while queries overlap without a gap', async () => {
    const stop = new AbortController()
    const reading = readAllTheTime(stop.signal)
    const writing = (async () => {
      for (let n = 0; !stop.signal.aborted; n++, await Bun.sleep(50)) await write(`row ${n}`)
    })()
    await emptyWriteAheadLog(database.emptyLog, new AbortController().signal)
    stop.abort()
    await Promise.all([reading, writing])
  })

  test('is not waited for after an abort', async () => {
    const closing = new AbortController()
    const reason = new Error('closing')
    const emptying = emptyWriteAheadLog(async () => {
      setImmediate(() => closing.abort(reason))
      return false
    }, closing.signal)
    expect(await failureOf(emptying)).toBe(reason)
  })
})

/** Queries of half a second, two of them under way at any moment, each of which begins in the middle of another. */
async function readAllTheTime(signal: AbortSignal): Promise<void> {
  const readAgain = async (delayMs: number) => {
    await Bun.sleep(delayMs)
    while (!signal.aborted) {
      const reader = startReading()
      await Bun.sleep(500)
      reader.end()
    }
  }
  await Promise.all([readAgain(0), readAgain(250)])
}

/** Keeps what the log holds now from leaving it. */
function startReading(): { end(): void } {
  const connection = new Database(database.file)
  connection.exec('BEGIN')
  connection.prepare('select count(*) from meta').all([])
  return {
    end() {
      connection.exec('COMMIT')
      connection.close()
    },
  }
}

async function write(name: string): Promise<void> {
  await database.write.run(sql`insert into meta (name, value) values (${name}, '')`)
}

function logBytes(): number {
  return statSync(`${database.file}-wal`).size
}
