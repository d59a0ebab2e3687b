import { expect, test } from 'bun:test'
import { spansOfLogs } from '../../../src/sources/otel/livekit-report.ts'
import { spansOf } from '../../../src/sources/otel/otlp.ts'
import type { Work } from '../../../src/threads/time-slices.ts'
import { startService } from '../../support/service.ts'
import { message, requestIn } from './hostile.ts'

const service = await startService()

const empty = message(3)
const record = message(2, Buffer.alloc(10_000 * empty.byteLength, empty))

test.each([
  ['spans', 'livekit-agents', (bytes: Uint8Array) => spansOf(bytes, new Set(['livekit-agents']))],
  ['logs', 'chat_history', spansOfLogs],
] as const)('%s pause at every record, and every 1,000 fields beside them', (_, scope, read) => {
  const skipped = Buffer.alloc(200_000 * empty.byteLength, message(15))
  const bytes = Buffer.concat([requestIn(scope, ...Array.from({ length: 20 }, () => record)), skipped])
  let pauses = 0
  const work: Work<unknown> = read(new Uint8Array(bytes))
  while (!work.next().done) pauses++
  expect(pauses).toBeGreaterThanOrEqual(200 + 20)
})

/** Takes longer than a slice between its beginning and its end, which it notes. */
function* noting(name: string, notes: string[]): Work<void> {
  notes.push(`${name} begins`)
  for (let step = 0; step < 3; step++) {
    const endsAt = performance.now() + 6
    while (performance.now() < endsAt) notes.length
    yield
  }
  notes.push(`${name} ends`)
}

test('large requests of a sender are read one at a time, in turns with those of others', async () => {
  const { callSessions } = service.services
  const large = new Uint8Array(1_000_000)
  const notes: string[] = []
  const read = (sender: string, name: string, bytes = large) =>
    callSessions.read(sender, bytes, noting(name, notes))
  await Promise.all([
    read('a', 'one'),
    read('a', 'two'),
    read('a', 'small', new Uint8Array(9)),
    read('b', 'other'),
  ])
  const at = (note: string) => notes.indexOf(note)
  expect(at('two begins')).toBeGreaterThan(at('one ends'))
  expect(at('other begins')).toBeLessThan(at('one ends'))
  expect(at('small begins')).toBeLessThan(at('one ends'))
})
