import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommitWatch } from '../../src/db/commit-watch.ts'
import { silentLog } from '../../src/db/log.ts'
import { setMeta } from '../../src/db/meta.ts'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { freshFolder } from '../support/at-end.ts'

const folder = freshFolder()
const ours = await openDatabase(join(folder, 'callbook.db'))
const theirs = await openDatabase(join(folder, 'callbook.db'))

afterAll(async () => {
  await ours.close()
  await theirs.close()
})

/** Whose calls of the listener can be awaited. */
function listen(watched: Pick<OpenDatabase, 'onCommit'>) {
  let called = Promise.withResolvers<void>()
  watched.onCommit(() => {
    called.resolve()
    called = Promise.withResolvers()
  })
  return () => called.promise
}

test('a listener hears of what is there already, of our commits and of those of another connection', async () => {
  const next = listen(ours)
  await next()
  const ofOurs = next()
  await setMeta(ours.write, 'ours', '1')
  await ofOurs
  const ofTheirs = next()
  await setMeta(theirs.write, 'theirs', '1')
  await ofTheirs
})

test('an own commit is not looked for while nobody listens, and one look serves commits close together', async () => {
  let looks = 0
  const watch = new CommitWatch({ dataVersion: () => ++looks, pollMs: 3_600_000, log: silentLog })
  watch.committed()
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(looks).toBe(0)
  const next = listen(watch)
  const first = next()
  watch.committed()
  await first
  for (let commit = 0; commit < 100; commit++) watch.committed()
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(looks).toBe(1)
  await watch.close()
})
