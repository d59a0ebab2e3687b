import { expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { unlessAborted } from '../../../src/knowledge/embedding/unless-aborted.ts'

const aborted = () => new Error('aborted')

test('the signal keeps nothing of work that is done, whatever came of it', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(Promise.resolve(1), signal, aborted)).toBe(1)
  await expect(unlessAborted(Promise.reject(new Error('failed')), signal, aborted)).rejects.toThrow('failed')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('an abort ends the wait for work that goes on', async () => {
  const stop = new AbortController()
  const waiting = unlessAborted(new Promise(() => undefined), stop.signal, aborted)
  stop.abort()
  await expect(waiting).rejects.toThrow('aborted')
})
