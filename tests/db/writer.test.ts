import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { Writer } from '../../src/db/writer.ts'
import { AppError } from '../../src/errors.ts'
import { freshFolder } from '../support/at-end.ts'
import { runScript } from '../support/script.ts'
import { skipped } from '../support/skipped.ts'

let folder: string
let file: string
let writer: Writer

beforeEach(async () => {
  folder = freshFolder()
  file = join(folder, 'callbook.db')
  writeFileSync(file, '')
  writer = new Writer({ kind: 'file', url: `file:${file}` })
  await writer.client.execute('create table notes (id integer primary key, note text not null unique)')
  await writer.client.execute('create table parents (id integer primary key)')
  await writer.client.execute('create table children (parent integer references parents)')
})

afterEach(async () => {
  await writer.close()
})

describe('writes to a file that is being checked', () => {
  test('wait until it is found sound, in their order', async () => {
    const check = Promise.withResolvers<void>()
    const held = new Writer({ kind: 'file', url: `file:${file}` }, { untilSound: check.promise })
    const written = numbers(3).map((n) =>
      held.client.execute(`insert into notes (note) values ('held ${n}')`),
    )
    await held.keepBallast(1_048_576)
    expect(await count('notes')).toBe(0)
    check.resolve()
    await Promise.all(written)
    const { rows } = await writer.client.execute('select note from notes order by id')
    expect(rows.map((row) => row.note)).toEqual(['held 0', 'held 1', 'held 2'])
    await held.close()
  })

  test('are refused when it is damaged', async () => {
    const held = new Writer(
      { kind: 'file', url: `file:${file}` },
      { untilSound: Promise.reject(new Error('is damaged')) },
    )
    const written = held.client.execute("insert into notes (note) values ('held')")
    expect(await written.catch((error) => error)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 })
    expect(held.refusesBecause()).toContain('is damaged')
    expect(await count('notes')).toBe(0)
    await held.close()
  })
})

describe('the connection that writes', () => {
  test('has write-ahead log, full sync, foreign keys, secure delete and a busy timeout', async () => {
    expect(await readPragmas()).toEqual(promised)
  })

  test('keeps them while many writes run at once', async () => {
    const inserts = numbers(200).map((n) => insert(`note ${n}`))
    const seen = await Promise.all(numbers(20).map(readPragmas))
    await Promise.all(inserts)
    for (const pragmas of [...seen, await readPragmas()]) expect(pragmas).toEqual(promised)
  })

  test('keeps them after a batch that failed', async () => {
    const failed = writer.client.batch([note('once'), note('once')])
    expect(failed).rejects.toThrow('UNIQUE')
    await failed.catch(() => undefined)
    expect(await readPragmas()).toEqual(promised)
  })

  test('has them again after a failed statement, whatever that has changed', async () => {
    for (const pragma of ['synchronous', 'secure_delete', 'foreign_keys'])
      await writer.client.execute(`pragma ${pragma} = off`)
    const failed = writer.client.execute('select * from nowhere')
    expect(await failed.catch(String)).toContain('nowhere')
    expect(await readPragmas()).toEqual(promised)
  })

  test('keeps them after migrations, which switch foreign keys off meanwhile, even after a failed one', async () => {
    await writer.client.migrate(['create table more (id integer)'])
    expect(await readPragmas()).toEqual(promised)
    expect(await writer.client.migrate(['create table more (id integer)']).catch(String)).toContain('exists')
    expect(await readPragmas()).toEqual(promised)
  })

  test('refuses a row whose parent is not there', async () => {
    const failed = writer.client.execute('insert into children (parent) values (1)')
    expect(await failed.catch(String)).toContain('FOREIGN KEY')
  })

  test('leaves no byte of a deleted row once the log is emptied', async () => {
    const marker = 'a-note-that-is-to-leave-no-trace'
    await insert(marker)
    await writer.client.execute({ sql: 'delete from notes where note = ?', args: [marker] })
    await writer.client.execute('pragma wal_checkpoint(truncate)')
    const found = runScript(
      `const [folder, marker] = process.argv.slice(-2)
       for (const name of require('node:fs').readdirSync(folder))
         if (require('node:fs').readFileSync(folder + '/' + name).includes(marker)) console.log(name)`,
      folder,
      marker,
    )
    expect(await found.ended).toBe('')
  })
})

test('a write that meets damage is 503, and the writer says so until it is opened again', async () => {
  for (const n of numbers(500)) await insert(`note ${n} ${'x'.repeat(200)}`)
  await writer.close()
  const bytes = readFileSync(file)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 7)]))
  writer = new Writer({ kind: 'file', url: `file:${file}` })
  const error = await insert('lost').catch((error) => error)
  expect(error).toBeInstanceOf(AppError)
  expect([error.status, error.detail]).toEqual([503, expect.stringContaining('is damaged')])
  expect(writer.refusesBecause()).toContain('is damaged')
})

describe('a batch', () => {
  test('is written whole', async () => {
    await writer.client.batch(numbers(50).map((n) => note(`note ${n}`)))
    expect(await count('notes')).toBe(50)
  })

  test('writes nothing when one of its statements fails', async () => {
    const failed = writer.client.batch([note('first'), note('second'), note('first')])
    expect(await failed.catch(String)).toContain('UNIQUE')
    expect(await count('notes')).toBe(0)
  })

  test('that fails does not affect the batches before and after it', async () => {
    const outcomes = await Promise.allSettled([
      writer.client.batch([note('a')]),
      writer.client.batch([note('b'), note('b')]),
      writer.client.batch([note('c')]),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await count('notes')).toBe(2)
  })

  test('shares its commit with those that wait with it, in their order, and each is whole or absent', async () => {
    const before = commitsIn(file)
    const release = lock()
    const batches = numbers(100).map((n) =>
      writer.client.batch(n % 10 === 3 ? [note(`note ${n}`), note('note 0')] : [note(`note ${n}`)]),
    )
    const outcomes = Promise.allSettled(batches)
    await Bun.sleep(50)
    release()
    const failed = (await outcomes).flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))
    expect(failed).toEqual(numbers(10).map((n) => n * 10 + 3))
    const { rows } = await writer.client.execute('select note from notes order by id')
    const written = numbers(100).filter((n) => n % 10 !== 3)
    expect(rows.map(({ note }) => note)).toEqual(written.map((n) => `note ${n}`))
    expect(commitsIn(file) - before).toBeLessThan(20)
  })

  test('that frees space goes before those that wait', async () => {
    const release = lock()
    const first = insert('first')
    await Bun.sleep(50)
    const waiting = numbers(100).map((n) => insert(`note ${n}`))
    const urgent = writer.writeWhenFull.run(sql`insert into notes (note) values ('urgent')`)
    await Bun.sleep(50)
    release()
    await Promise.all([first, ...waiting, urgent])
    const { rows } = await writer.client.execute("select id from notes where note = 'urgent'")
    // In the order of their arrival it would be 102.
    expect(Number(rows[0]?.id)).toBeLessThan(102)
  })

  test("waits for another process's write to end", async () => {
    const other = holdWriteLock(300)
    await other.said('holding')
    await insert('waited')
    await other.ended
    expect(await count('notes')).toBe(2)
  })

  test('is 503 when another process keeps its lock, and nothing is written', async () => {
    const other = holdWriteLock(60_000)
    await other.said('holding')
    const error = await insert('refused').catch((error) => error)
    await other.kill()
    expect(error).toBeInstanceOf(AppError)
    expect({ status: error.status, retry: error.retryAfterSeconds }).toEqual({ status: 503, retry: 1 })
    expect(await count('notes')).toBe(0)
    // The statement that met the lock would stay open, and every later one would fail at once.
    for (const text of ['after', 'and again']) await insert(text)
    expect(await count('notes')).toBe(2)
    expect(await readPragmas()).toEqual(promised)
    const [emptied] = (await writer.client.execute('pragma wal_checkpoint(truncate)')).rows
    expect(emptied?.busy).toBe(0)
  })

  test('loses nothing when two processes write at once', async () => {
    const other = runScript(
      `import { Writer } from './src/db/writer.ts'
       const writer = new Writer({ kind: 'file', url: 'file:' + process.argv.at(-1) })
       console.log('open')
       for (let n = 0; n < 150; n++)
         await writer.client.batch([{ sql: 'insert into notes (note) values (?)', args: ['theirs ' + n] }])
       await writer.close()`,
      file,
    )
    await other.said('open')
    for (const n of numbers(150)) await insert(`ours ${n}`)
    await other.ended
    expect(await count('notes')).toBe(300)
  })
})

describe('the queue of writes', () => {
  test('is bounded: writes beyond the limit are 503 at once, and the others are done', async () => {
    const outcomes = await Promise.allSettled(numbers(2_100).map(() => writer.client.execute('select 1')))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused.length).toBe(100)
    for (const { reason } of refused) expect(reason.status).toBe(503)
    await insert('room again')
  })

  test('is bounded in size too: large writes beyond the limit are 503, and small ones are accepted', async () => {
    const large = (n: number) => insert(`${n}${'x'.repeat(10_000_000)}`)
    const outcomes = Promise.allSettled(numbers(10).map(large))
    const small = insert('small')
    const refused = (await outcomes).filter((outcome) => outcome.status === 'rejected')
    expect(refused.map(({ reason }) => [reason.status, reason.retryAfterSeconds])).toEqual(
      Array(4).fill([503, 1]),
    )
    await small
    // Alone any size is taken, and what is written counts no more.
    await insert('y'.repeat(100_000_000))
    await Promise.all(numbers(6).map((n) => large(n + 10)))
    expect(await count('notes')).toBe(14)
  })

  test('is finished before the writer closes, however full it is', async () => {
    const writes = [...numbers(20).map((n) => insert(`note ${n}`))]
    while (writes.length < 2_000) writes.push(writer.client.batch(['select 1']))
    await writer.close()
    await Promise.all(writes)
    const reader = new Database(file)
    expect(reader.prepare('select count(*) as n from notes').get()).toMatchObject({ n: 20 })
    reader.close()
  })

  test('takes nothing after closing', async () => {
    await writer.close()
    expect(await insert('late').catch((error) => error.code)).toBe('CLIENT_CLOSED')
  })
})

describe('a full disk', () => {
  const isPossible = canMount()
  if (!isPossible) skipped('no disk can be mounted that fills up')
  test.skipIf(!isPossible)('is 507, and nothing is written', async () => {
    const small = freshFolder()
    mount(small)
    writeFileSync(join(small, 'callbook.db'), '')
    try {
      const full = new Writer({ kind: 'file', url: `file:${join(small, 'callbook.db')}` })
      await full.client.execute('create table notes (note text)')
      const error = await full.client
        .batch([{ sql: 'insert into notes values (?)', args: ['x'.repeat(2_000_000)] }])
        .catch((error) => error)
      expect(error.status).toBe(507)
      expect((await full.client.execute('select count(*) as n from notes')).rows[0]?.n).toBe(0)
      const add = (text: string) =>
        full.client.batch([{ sql: 'insert into notes values (?)', args: [text] }]).then(
          () => 'written',
          ({ status }) => status,
        )
      // These share a transaction until one of them ends it.
      const answers = await Promise.all([add('before'), add('x'.repeat(2_000_000)), add('after')])
      expect(answers).toEqual(['written', 507, 'written'])
      expect((await full.client.execute('select count(*) as n from notes')).rows[0]?.n).toBe(2)
      await full.client.execute("insert into notes values ('fits')")
      await full.close()
    } finally {
      unmount(small)
    }
  })
})

test('a write is there after kill -9, right after it was acknowledged', async () => {
  const other = runScript(
    `import { Writer } from './src/db/writer.ts'
     const writer = new Writer({ kind: 'file', url: 'file:' + process.argv.at(-1) })
     for (let n = 0; ; n++) {
       await writer.client.batch([{ sql: 'insert into notes (note) values (?)', args: ['note ' + n] }])
       require('node:fs').writeSync(1, 'acknowledged ' + n + '\\n')
       if (n === 40) process.kill(process.pid, 'SIGKILL')
     }`,
    file,
  )
  await other.said('acknowledged 40')
  await other.ended.catch(() => undefined)
  const rows = await writer.client.execute('select note from notes order by id')
  expect(rows.rows.map(({ note }) => note)).toEqual(numbers(41).map((n) => `note ${n}`))
  expect((await writer.client.execute('pragma integrity_check')).rows[0]?.integrity_check).toBe('ok')
})

test('kill -9 between two batches of a commit leaves neither, and keeps what was acknowledged', async () => {
  const other = runScript(
    `import { Writer } from './src/db/writer.ts'
     const writer = new Writer({ kind: 'file', url: 'file:' + process.argv.at(-1) })
     const say = (text) => require('node:fs').writeSync(1, text + '\\n')
     const note = (text) => writer.client.batch([{ sql: 'insert into notes (note) values (?)', args: [text] }])
     await note('acknowledged')
     let state = 'between'
     // While it runs, the others arrive, so that these two share a commit.
     const counting = 'with recursive n(at) as (select 1 union all select at + 1 from n limit 300000) '
     const before = writer.client.batch([counting + "insert into notes (note) select 'before' from n where at = 300000"])
     note('of the killed commit').then(() => { state = 'after' })
     const endless = 'with recursive n(at) as (select 1 union all select at + 1 from n) insert into notes (note) select max(at) from n'
     writer.client.batch([endless])
     before.then(() => setTimeout(() => { say('killed ' + state); process.kill(process.pid, 'SIGKILL') }, 500))`,
    file,
  )
  expect(await other.said('killed')).toBe('between')
  await other.ended.catch(() => undefined)
  const { rows } = await writer.client.execute('select note from notes')
  expect(rows.map(({ note }) => note)).toEqual(['acknowledged', 'before'])
})

const promised = {
  journal_mode: 'wal',
  synchronous: 2,
  foreign_keys: 1,
  secure_delete: 1,
  busy_timeout: 5_000,
}

async function readPragmas(): Promise<Record<string, unknown>> {
  const entries = await Promise.all(
    Object.keys(promised).map(async (name) => {
      const { rows } = await writer.client.execute(`pragma ${name}`)
      return [name, rows[0]?.[0]] as const
    }),
  )
  return Object.fromEntries(entries)
}

function holdWriteLock(ms: number) {
  return runScript(
    `import Database from 'libsql'
     const [file, ms] = process.argv.slice(-2)
     const db = new Database(file)
     db.exec("begin immediate; insert into notes (note) values ('theirs')")
     console.log('holding')
     await Bun.sleep(Number(ms))
     db.exec('commit')
     db.close()`,
    file,
    String(ms),
  )
}

/** Keeps the writer waiting until the returned function is called. */
function lock(): () => void {
  const other = new Database(file)
  other.exec('begin immediate')
  return () => {
    other.exec('commit')
    other.close()
  }
}

/** Transactions in the write-ahead log (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). */
function commitsIn(databaseFile: string): number {
  const log = readFileSync(`${databaseFile}-wal`)
  const frameBytes = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes)
    if (log.readUInt32BE(at + 4) > 0) commits++
  return commits
}

function note(text: string) {
  return { sql: 'insert into notes (note) values (?)', args: [text] }
}

function insert(text: string) {
  return writer.client.batch([note(text)])
}

async function count(table: string): Promise<unknown> {
  return (await writer.client.execute(`select count(*) as n from ${table}`)).rows[0]?.n
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const probe = freshFolder()
  const isMounted = mount(probe)
  if (isMounted) unmount(probe)
  return isMounted
}

function mount(path: string): boolean {
  return Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', path]).success
}

/** Lazily: libsql closes its files some time after `close()`. */
function unmount(path: string): void {
  Bun.spawnSync(['umount', '--lazy', path])
}
