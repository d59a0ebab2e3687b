import { afterAll, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { sql } from 'drizzle-orm'
import pino from 'pino'
import { openDatabase } from '../../src/db/open.ts'
import { freshFolder } from '../support/at-end.ts'
import { startPrimary } from '../support/primary.ts'
import { until } from '../support/until.ts'

const told: (string | null)[] = []
const folder = freshFolder()

const primary = await startPrimary()
const location = {
  kind: 'replica',
  file: join(folder, 'callbook.db'),
  primary: { kind: 'remote', url: primary.url, authToken: null },
  syncIntervalMs: 200,
} as const
const log = pino({ level: 'silent' })
log.warn = (fields: object) => told.push('problem' in fields ? String(fields.problem) : '')
log.info = () => told.push(null)
const database = await openDatabase(location, { log })
afterAll(async () => {
  await database.close()
})

test('a replica whose thread ends fails the current sync, logs it, and syncs again with a new thread', async () => {
  for (const name of ['one', 'two']) {
    told.length = 0
    await endAtNextSync()
    await until(() => told.length > 0)
    expect(told[0]).toStartWith('The sync thread has failed')
    await until(() => told.at(-1) === null)
    await until(() => write(name))
    expect(await database.read.all(sql`select value from meta where name = ${name}`)).toHaveLength(1)
  }
  expect(database.replication()?.failures).toBeGreaterThanOrEqual(2)
})

/** The thread ends instead of doing what it is asked next. */
async function endAtNextSync(): Promise<void> {
  const ending = Promise.withResolvers<void>()
  const post = Worker.prototype.postMessage
  const spy = spyOn(Worker.prototype, 'postMessage').mockImplementation(function (
    this: Worker,
    message,
    ...rest
  ) {
    if (message?.method !== 'sync') return post.call(this, message, ...rest)
    spy.mockRestore()
    this.terminate()
    ending.resolve()
  })
  await ending.promise
}

/** False when the answer was that it may still arrive: a slow machine's. */
function write(name: string): Promise<boolean> {
  return database.write.run(sql`insert or replace into meta (name, value) values (${name}, '1')`).then(
    () => true,
    () => false,
  )
}
