import { afterAll, expect, test } from 'bun:test'
import { ReadingNotes } from '../../src/audit/reading.ts'
import { ProjectWasDeleted } from '../../src/errors.ts'
import { coreOver } from '../support/core.ts'
import { openFreshDatabase } from '../support/database.ts'
import { noFailures } from '../support/part-log.ts'

const { database, close } = await openFreshDatabase()
afterAll(close)

test.each([
  ['cannot be read are reported in the log', new Error('broken on purpose'), 1],
  ['are gone with their project are not reported', new ProjectWasDeleted(), 0],
])('readings whose settings %s', async (_, error, reports) => {
  const logged: unknown[] = []
  const reading = new ReadingNotes({
    ...(await coreOver(database, () => undefined)),
    settingsOf: () => Promise.reject(error),
    log: { ...noFailures, info: () => undefined, error: (fields: object) => void logged.push(fields) },
  })
  await reading.opened(1, undefined, 'call')
  expect(logged).toEqual(Array.from({ length: reports }, () => ({ error })))
})
