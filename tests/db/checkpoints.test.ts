import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { FileSession } from '../../src/db/file-session.ts'
import { openReader } from '../../src/db/reader.ts'
import { findStalePages } from '../../src/db/stale-cells.ts'
import { freshFolder } from '../support/at-end.ts'
import { runScript } from '../support/script.ts'
import { findTraces } from '../support/traces.ts'

const table = 'create table if not exists notes (id text primary key, note text not null)'
let folder: string
let file: string
/** What the sessions of this test have said about the file. */
let told: boolean[]
const sessions: FileSession[] = []

beforeEach(() => {
  folder = freshFolder()
  file = join(folder, 'test.db')
  writeFileSync(file, '')
  told = []
})

afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close()
})

describe('the database file', () => {
  test('has no stale cells after writes that delete nothing, unlike one that SQLite alone has written', async () => {
    const plain = new Database(file)
    plain.exec(`pragma journal_mode = wal; pragma secure_delete = on; ${table}`)
    for (let n = 0; n < 600; n++)
      plain.prepare('insert into notes values (?, ?)').run(crypto.randomUUID(), 'x'.repeat(n))
    plain.exec('pragma wal_checkpoint(truncate)')
    expect((await stalePages()).length).toBeGreaterThan(0)
    plain.exec('drop table notes')
    plain.close()

    file = join(folder, 'ours.db')
    writeFileSync(file, '')
    const session = open()
    await insert(session, 600)
    expect(logBytes()).toBeGreaterThan(0)
    await session.close()
    sessions.pop()
    expect(await stalePages()).toEqual([])
    expect(told).toEqual([])
  })

  test('has none while a reader of an earlier state keeps the log from being moved whole', async () => {
    const session = open()
    await insert(session, 100)
    const reader = new Database(file)
    reader.exec('begin')
    reader.prepare('select count(*) from notes').all([])
    await insert(session, 600)
    expect(await emptyLog(session)).toBe(false)
    reader.exec('commit')
    reader.close()
    expect(await emptyLog(session)).toBe(true)
    expect(await stalePages()).toEqual([])
    expect(told).toEqual([])
  })

  test('has none, and the log is emptied, behind the frames of a process that was killed before its commit was known', async () => {
    const session = open()
    await insert(session, 100)
    // Its frames end with a commit, but the log's index, which processes share, does not have them.
    const [page = 0, frames] = [4_096 + 24, Math.floor(logBytes() / (4_096 + 24))]
    const lastFrame = readFileSync(`${file}-wal`).subarray(32 + (frames - 1) * page)
    for (let n = 0; n < 5; n++) appendFileSync(`${file}-wal`, lastFrame)
    await insert(session, 1)
    expect(await emptyLog(session)).toBe(true)
    expect(logBytes()).toBeLessThan(2 * page)
    expect(await stalePages()).toEqual([])
    expect(told).toEqual([])
  })

  test('need not be swept after two processes have written to it and moved the log in turn', async () => {
    const session = open()
    await insert(session, 10)
    const other = runScript(
      `import { FileSession } from './src/db/file-session.ts'
       const session = new FileSession('file:' + process.argv.at(-1), (isSwept) => console.log('swept', isSwept))
       for (let n = 0; n < 600; n++) {
         const args = [crypto.randomUUID(), 'x'.repeat(n)]
         await session.run({ method: 'batch', statements: [{ sql: 'insert into notes values (?, ?)', args }] }, false)
         if (n % 100 === 99) await session.run({ method: 'emptyLog', holdUpMs: 50 }, true)
       }
       await session.close()`,
      file,
    )
    for (let n = 0; n < 6; n++) {
      await insert(session, 100)
      await emptyLog(session)
    }
    expect(await other.ended).toBe('')
    while (!(await emptyLog(session))) await Bun.sleep(50)
    expect(await stalePages()).toEqual([])
    expect(told).toEqual([])
  })
})

describe('after kill -9', () => {
  const steps = {
    'before the log is looked at': "kill(LogFrames, 'visit', 1, () => true)",
    'before pages are cleared':
      "kill(WriteConnection, 'execute', 1, (sql) => sql.startsWith('update sqlite_dbpage'))",
    'between clearing and moving': "kill(WriteConnection, 'execute', 1, (sql) => sql.includes('PASSIVE'))",
    'before what was moved is recorded': "kill(SweepRecordFile, 'fileNow', 2, () => true)",
    'before the log is emptied': "kill(WriteConnection, 'execute', 1, (sql) => sql.includes('RESTART'))",
    'after the log is emptied':
      "kill(WriteConnection, 'execute', 2, (sql) => sql.includes('journal_size_limit'))",
  }
  test.each(Object.entries(steps))('%s, the next process clears all that is left', async (_step, patch) => {
    const victim = runScript(
      `import { FileSession } from './src/db/file-session.ts'
       import { LogFrames } from './src/db/log-frames.ts'
       import { SweepRecordFile } from './src/db/sweep-record.ts'
       import { WriteConnection } from './src/db/write-connection.ts'
       function kill({ prototype }, name, times, isStep) {
         const original = prototype[name]
         let left = times
         prototype[name] = function (first, ...rest) {
           if (isWriting && isStep(first?.sql ?? first) && --left === 0) process.kill(process.pid, 'SIGKILL')
           return original.call(this, first, ...rest)
         }
       }
       let isWriting = false
       ${patch}
       const session = new FileSession('file:' + process.argv.at(-1), (isSwept) => console.log('swept', isSwept))
       const run = (sql, args) => session.run({ method: 'batch', statements: [{ sql, args }] }, false)
       await run('${table}', [])
       isWriting = true
       for (let n = 0; ; n++) {
         const id = crypto.randomUUID()
         await run('insert into notes values (?, ?)', [id, 'gone-' + 'x'.repeat(n)])
         await run('insert into notes values (?, ?)', [crypto.randomUUID(), 'kept-' + 'x'.repeat(n)])
         await run('delete from notes where id = ?', [id])
         if (n === 300) await session.run({ method: 'emptyLog', holdUpMs: 50 }, true)
       }`,
      file,
    )
    expect(await victim.ended.catch(String)).toContain('137')
    const session = open()
    // The victim may have died before it deleted the last one.
    await session.run({ method: 'batch', statements: ["delete from notes where note like 'gone-%'"] }, true)
    expect(await emptyLog(session)).toBe(true)
    expect(told).toEqual([])
    expect(await stalePages()).toEqual([])
    expect(await findTraces(folder, [{ name: 'gone', bytes: Buffer.from('gone-') }])).toEqual([])
    const [ok] = await rows(session, 'pragma integrity_check')
    expect(ok).toEqual(['ok'])
  })
})

describe('a program that moves the log itself', () => {
  test.each(['while the file is open', 'while it is closed'])(
    'is noticed %s, until the file is swept',
    async (when) => {
      let session = open()
      await insert(session, 100)
      if (when === 'while it is closed') {
        await session.close()
        sessions.pop()
      }
      const other = new Database(file)
      other.prepare('insert into notes values (?, ?)').run('theirs', 'x')
      other.exec('pragma wal_checkpoint(truncate)')
      other.close()
      if (when === 'while it is closed') session = open()
      await insert(session, 1)
      expect(await emptyLog(session)).toBe(false)
      const gaps = await session.run({ method: 'gaps' }, true)
      expect([told, gaps]).toEqual([[false], 1])

      const again = new Database(file)
      again.exec("insert into notes values ('more', 'x'); pragma wal_checkpoint(truncate)")
      again.close()
      // The sweep may have gone over its pages before.
      expect(await session.run({ method: 'endSweep', gaps: 1 }, true)).toBe(false)
      expect(await session.run({ method: 'endSweep', gaps: 2 }, true)).toBe(true)
      expect(told).toEqual([false, true])
      expect(await emptyLog(session)).toBe(true)
      await session.close()
      sessions[0] = open()
      expect(await emptyLog(sessions[0])).toBe(true)
      expect(told).toEqual([false, true])
    },
  )
})

function open(): FileSession {
  const session = new FileSession(`file:${file}`, (isSwept) => told.push(isSwept))
  sessions.push(session)
  return session
}

async function insert(session: FileSession, count: number): Promise<void> {
  await session.run({ method: 'batch', statements: [table] }, false)
  for (let n = 0; n < count; n++) {
    const args = [crypto.randomUUID(), 'x'.repeat(n)]
    await session.run(
      { method: 'batch', statements: [{ sql: 'insert into notes values (?, ?)', args }] },
      false,
    )
  }
}

async function rows(session: FileSession, sql: string): Promise<unknown[][]> {
  const result = await session.run({ method: 'execute', statement: sql }, false)
  return result !== null && typeof result === 'object' && 'rows' in result ? result.rows : []
}

async function emptyLog(session: FileSession): Promise<boolean> {
  return (await session.run({ method: 'emptyLog', holdUpMs: 50 }, true)) === true
}

/** As they are in the database with its log. */
async function stalePages(): Promise<number[]> {
  const reader = openReader(file)
  try {
    return await findStalePages(reader.db, 1, Math.ceil(statSync(file).size / 4_096))
  } finally {
    reader.close()
  }
}

function logBytes(): number {
  return statSync(`${file}-wal`).size
}
