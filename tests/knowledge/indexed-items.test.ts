import { describe, expect, test } from 'bun:test'
import { indexStatus } from '../../src/knowledge/indexed-items.ts'

const now = Date.parse('2026-01-31T09:30:00.000Z')
const left = { chunks: 12, pending: 3, untried: 0, nextTryAt: now + 1_000, lastError: 'It failed' }

describe('an item', () => {
  test('without pending chunks is ready, also one without chunks', () => {
    const none = { pending: 0, untried: 0, nextTryAt: null, lastError: null }
    expect(indexStatus({ ...none, chunks: 12 }, now)).toEqual({ state: 'ready' })
    expect(indexStatus({ ...none, chunks: 0 }, now)).toEqual({ state: 'ready' })
  })

  test('is being indexed as long as a chunk was never tried', () => {
    expect(indexStatus({ ...left, untried: 1 }, now)).toEqual({ state: 'indexing', ready: 9 })
  })

  test('waits when all that is left has failed, and says until when', () => {
    expect(indexStatus(left, now)).toEqual({
      state: 'waiting',
      ready: 9,
      reason: 'It failed.',
      nextTryAt: '2026-01-31T09:30:01.000Z',
    })
  })

  test.each([now, now - 1, null])('that is due (%p) has no time of a next try', (nextTryAt) => {
    expect(indexStatus({ ...left, nextTryAt }, now)).toMatchObject({ state: 'waiting', nextTryAt: null })
  })

  test.each([
    ['It failed', 'It failed.'],
    ['It failed.', 'It failed.'],
    ['It failed (503)', 'It failed (503).'],
    [null, 'The last attempt failed.'],
  ])('with the error %p gives the sentence %p', (lastError, reason) => {
    expect(indexStatus({ ...left, lastError }, now)).toMatchObject({ reason })
  })
})
