import { expect, test } from 'bun:test'
import { createLimit } from '../../src/threads/limit.ts'

test('what waits for its place is given up at once when its signal aborts, and takes no place', async () => {
  const limited = createLimit({ atOnce: 1, perMinute: 0 })
  const forever = new AbortController()
  const first = Promise.withResolvers<string>()
  const running = limited(() => first.promise, forever.signal)
  const controller = new AbortController()
  const waiting = limited(async () => 'given up', controller.signal)
  const last = limited(async () => 'last', forever.signal)
  const reason = new Error('The call was erased')
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  first.resolve('first')
  expect(await Promise.all([running, last])).toEqual(['first', 'last'])
  expect(await limited(async () => 'another', forever.signal)).toBe('another')
  await expect(limited(async () => 'never', controller.signal)).rejects.toBe(reason)
})
