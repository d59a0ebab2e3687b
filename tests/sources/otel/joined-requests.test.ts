import { expect, spyOn, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { startService } from '../../support/service.ts'
import { requestOf, type TestSpan } from './spans.ts'

const callBytesMax = 8_388_608
const spansMax = 5_000
const service = await startService()
const project = await service.mintProject()

function word(at: number, text = `word ${at}`): TestSpan {
  const attributes = { 'lk.pii.user_transcript': text }
  const times = { from: at, to: at + 1 }
  return {
    scope: 'livekit-agents',
    name: 'user_turn',
    id: String(at),
    parent: 'session',
    ...times,
    attributes,
  }
}

async function send(traceId: string, spans: readonly TestSpan[]) {
  const answer = await project.send('POST', '/ingest/otlp/v1/traces', requestOf(spans, traceId))
  expect(answer.status).toBe(200)
  return (await answer.json()).partialSuccess
}

const long = 'x'.repeat(50_000)

/** Stores a session that is so large that what comes next waits for a second. */
async function storeLarge(longWords = 100, words = 0): Promise<string> {
  const traceId = randomBytes(16).toString('hex')
  const spans = Array.from({ length: longWords + words }, (_, at) =>
    word(at, at < longWords ? long : `early ${at}`),
  )
  expect(await send(traceId, spans)).toBeUndefined()
  return traceId
}

/** Sends requests at once. Returns their answers, and how many writes they took. */
async function sendAtOnce(traceId: string, requests: readonly TestSpan[][]) {
  const written = spyOn(service.services.ingest, 'putAll')
  const answers = await Promise.all(requests.map((spans) => send(traceId, spans)))
  const writes = written.mock.calls.length
  written.mockRestore()
  return { answers, writes }
}

async function wordsOf(traceId: string): Promise<string[]> {
  const { transcript } = await (await project.fetch(`/v1/calls/${traceId}`)).json()
  return transcript
    .map(({ content }: { content: string }) => content)
    .filter((content: string) => content.startsWith('word'))
}

test('what arrives for a large session at once is written together, committed when it is answered', async () => {
  const traceId = await storeLarge()
  const ids = Array.from({ length: 20 }, (_, at) => 1_000 + at)
  const { answers, writes } = await sendAtOnce(
    traceId,
    ids.map((at) => [word(at)]),
  )
  // On a busy machine, some may arrive after the second.
  expect(writes).toBeLessThan(5)
  expect(answers).toEqual(ids.map(() => undefined))
  expect(await wordsOf(traceId)).toEqual(ids.map((at) => `word ${at}`))
})

test('each request hears how many of its own spans were refused', async () => {
  const traceId = await storeLarge(100, spansMax - 108)
  const requests = [0, 1, 2].map((part) => Array.from({ length: 4 }, (_, at) => word(6_000 + 4 * part + at)))
  const { answers } = await sendAtOnce(traceId, requests)
  const words = await wordsOf(traceId)
  expect(words).toHaveLength(8)
  const refused = requests.map((spans) => spans.filter(({ id }) => !words.includes(`word ${id}`)).length)
  expect(answers.map((partial) => Number(partial?.rejectedSpans ?? 0))).toEqual(refused)
})

test('who is refused because of others is not', async () => {
  const traceId = await storeLarge(140)
  const many = Array.from({ length: 40 }, (_, at) => word(8_000 + at, long))
  const { answers } = await sendAtOnce(traceId, [[word(9_001)], many, [word(9_003)]])
  const tooLarge = {
    rejectedSpans: '40',
    errorMessage: `A session has at most ${callBytesMax} bytes (CALL_MAX_BYTES).`,
  }
  expect(answers).toEqual([undefined, tooLarge, undefined])
  expect(await wordsOf(traceId)).toEqual(['word 9001', 'word 9003'])
})

test('a request that fails with another is tried on its own', async () => {
  const traceId = await storeLarge()
  const failing = spyOn(service.services.ingest, 'putAll').mockRejectedValueOnce(
    new Error('The disk is gone.'),
  )
  const statuses = await Promise.all(
    [9_001, 9_002, 9_003].map(async (at) => {
      const request = requestOf([word(at)], traceId)
      return (await project.send('POST', '/ingest/otlp/v1/traces', request)).status
    }),
  )
  failing.mockRestore()
  expect(statuses.toSorted()).toEqual([200, 200, 503])
  expect((await wordsOf(traceId)).length).toBeGreaterThanOrEqual(2)
})
