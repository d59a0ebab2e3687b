import { expect, test } from 'bun:test'
import { createLimit } from '../../src/threads/limit.ts'

test('what waits for its place is given up at once when its signal aborts, and takes no place', async () => {
  const limited = createLimit({ atOnce: 1, perMinute: 0 })
  const forever = new AbortController()
  const first = Promise.withResolvers<string>()
  const running = limited(1, () => first.promise, forever.signal)
  const controller = new AbortController()
  const waiting = limited(1, async () => 'given up', controller.signal)
  const last = limited(1, async () => 'last', forever.signal)
  const reason = new Error('The call was erased')
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  first.resolve('first')
  expect(await Promise.all([running, last])).toEqual(['first', 'last'])
  expect(await limited(1, async () => 'another', forever.signal)).toBe('another')
  await expect(limited(1, async () => 'never', controller.signal)).rejects.toBe(reason)
})

test('projects take turns, however many works of one wait', async () => {
  const limited = createLimit({ atOnce: 1, perMinute: 0 })
  const { signal } = new AbortController()
  const given = new AbortController()
  const done: string[] = []
  const run = (projectId: number, name: string, until = signal) =>
    limited(projectId, async () => done.push(name), until)
  const mine = ['a', 'b', 'c', 'd'].map((name) => run(1, name))
  const aborted = run(2, 'aborted', given.signal).catch(() => 0)
  given.abort()
  const theirs = ['e', 'f'].map((name) => run(2, name))
  await Promise.all([...mine, aborted, ...theirs, run(3, 'g')])
  expect(done).toEqual(['a', 'b', 'e', 'g', 'c', 'f', 'd'])
})
