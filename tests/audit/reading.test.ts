import { expect, test } from 'bun:test'
import { ReadingNotes } from '../../src/audit/reading.ts'
import { ProjectWasDeleted } from '../../src/errors.ts'

test.each([
  ['cannot be read are reported in the log', new Error('broken on purpose'), 1],
  ['are gone with their project are not reported', new ProjectWasDeleted(), 0],
])('readings whose settings %s', async (_, error, reports) => {
  const logged: unknown[] = []
  const reading = new ReadingNotes({
    settingsOf: () => Promise.reject(error),
    recordHash: () => 'hash',
    audit: { record: () => Promise.reject(new Error('nothing is noted')) },
    now: () => 0,
    log: { error: (fields: object) => void logged.push(fields) },
  })
  await reading.opened(1, undefined, 'call')
  expect(logged).toEqual(Array.from({ length: reports }, () => ({ error })))
})
