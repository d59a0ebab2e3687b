import { expect, spyOn, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { KeptSpan } from '../../../src/sources/otel/kept-span.ts'
import { pipecat } from '../../../src/sources/otel/pipecat.ts'
import { finished } from '../../../src/threads/time-slices.ts'
import { startService } from '../../support/service.ts'
import { livekitSession, pipecatSession, requestOf, type TestSpan } from './spans.ts'

const spansMax = 5_000
const service = await startService()
const project = await service.mintProject()

async function send(spans: readonly TestSpan[], traceId: string) {
  const answer = await project.send('POST', '/ingest/otlp/v1/traces', requestOf(spans, traceId))
  expect(answer.status).toBe(200)
  return (await answer.json()).partialSuccess
}

/** A session of one turn, with long answers of the model, and sentences that are in none of them. */
function longAnswers(sentences: number): Record<string, KeptSpan> {
  const span = (name: string, at: number, values: KeptSpan['values']): KeptSpan => ({
    name,
    startMs: at,
    endMs: at + 1,
    parent: 'turn',
    values,
  })
  return {
    turn: span('turn', 1, { conversation: 'a' }),
    ...Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `llm${at}`,
        span('llm', 10 + at, { text: 'y '.repeat(30_000) }),
      ]),
    ),
    ...Object.fromEntries(
      Array.from({ length: sentences }, (_, at) => [
        `tts${at}`,
        span('tts', 200 + at, { text: `word ${at}` }),
      ]),
    ),
  }
}

test('each sentence of a Pipecat session is looked for in a bounded part of what the model said before', () => {
  const session = longAnswers(100)
  const searched = spyOn(String.prototype, 'includes')
  const update = finished(pipecat.read(session, { traceId: 'a', isOver: false }))
  const chars = searched.mock.contexts.reduce((sum: number, text) => sum + String(text).length, 0)
  searched.mockRestore()
  expect(update?.change.transcript).toHaveLength(100)
  expect(chars).toBeLessThan(100 * 70_000)
})

test('mapping a session pauses at every span, so that other requests get a turn', () => {
  const work = pipecat.read(longAnswers(1_000), { traceId: 'a', isOver: false })
  let pauses = 0
  while (!work.next().done) pauses++
  expect(pauses).toBeGreaterThan(1_000)
})

test('a session has at most 5,000 spans and still hears its end; what is too much is refused by number', async () => {
  const traceId = randomBytes(16).toString('hex')
  const word = (at: number): TestSpan => ({
    scope: 'livekit-agents',
    name: 'user_turn',
    id: String(at),
    parent: 'session',
    from: 1,
    to: 2,
    attributes: { 'lk.pii.user_transcript': `word ${at}` },
  })
  expect(
    await send(
      Array.from({ length: spansMax }, (_, at) => word(at)),
      traceId,
    ),
  ).toBeUndefined()
  const refused = { rejectedSpans: '2', errorMessage: 'A session has at most 5000 spans.' }
  expect(
    await send([word(1), word(spansMax), word(spansMax + 1), ...livekitSession.slice(-2)], traceId),
  ).toEqual(refused)
  const call = await (await project.fetch(`/v1/calls/${traceId}`)).json()
  expect([call.status, call.transcript.length]).toEqual(['completed', spansMax])
  expect(await send([word(spansMax)], traceId)).toEqual({ ...refused, rejectedSpans: '1' })
  const [row] = await service.services.database.read.all<{ n: number }>(
    sql`select count(*) as n from call_sessions, json_each(spans) where trace_id = ${traceId}`,
  )
  expect(row?.n).toBe(spansMax + 2)
})

test('what was said is trimmed once, when it arrives', async () => {
  const spans = pipecatSession.map((span) => ({
    ...span,
    attributes: {
      ...span.attributes,
      ...(span.attributes?.text ? { text: ` ${span.attributes.text}\n` } : {}),
    },
  }))
  const of = await service.mintProject()
  expect((await of.send('POST', '/ingest/otlp/v1/traces', requestOf(spans, '7'.repeat(32)))).status).toBe(200)
  const { transcript } = await (await of.fetch('/v1/calls/CA_1')).json()
  expect(transcript.map(({ content }: { content: string }) => content)).toContain('Let me check.')
})
