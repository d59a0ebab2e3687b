import { describe, expect, spyOn, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { sql } from 'drizzle-orm'
import { AppError } from '../../../src/errors.ts'
import { Admission } from '../../../src/http/admission.ts'
import { otlpProtocol } from '../../../src/sources/otel/otlp-routes.ts'
import { startService } from '../../support/service.ts'
import { hostileRequests } from './hostile.ts'
import { capturedBody, joined, livekitHistory, livekitSession, requestOf } from './spans.ts'

const path = '/ingest/otlp/v1/traces'
const protobuf = 'application/x-protobuf'
const bodyBytesMax = 200_000
const callBytesMax = 20_000
const env = { BODY_MAX_BYTES: String(bodyBytesMax), CALL_MAX_BYTES: String(callBytesMax) }
const service = await startService({ env })
const project = await service.mintProject()

function post(body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return project.fetch(path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** A service that takes large bodies. */
const large = await startService()
const ofLarge = await large.mintProject()

function newTraceId(): string {
  return randomBytes(16).toString('hex')
}

/** The message of a Status in protobuf. */
async function messageOf(answer: Response): Promise<string> {
  const reader = new BinaryReader(new Uint8Array(await answer.arrayBuffer()))
  expect(reader.tag()).toEqual([2, WireType.LengthDelimited])
  return reader.string()
}

async function transcriptOf(id: string) {
  return (await (await project.fetch(`/v1/calls/${id}`)).json()).transcript
}

describe('a request', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['GZIP', gzipSync],
  ] as const)('may be compressed with %s', async (encoding, compress) => {
    const traceId = newTraceId()
    const body = compress(JSON.stringify(requestOf(livekitSession, traceId)))
    const answer = await post(body, { 'content-encoding': encoding })
    expect([answer.status, await answer.text()]).toEqual([200, '{}'])
    expect(await transcriptOf(traceId)).toHaveLength(livekitHistory.length)
  })

  test('in protobuf is answered in protobuf, without a byte', async () => {
    const captured = capturedBody()
    if (!captured) console.log('the captured request is not here: an empty one is sent')
    const answer = await post(captured ?? new Uint8Array(), { 'content-type': protobuf })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, protobuf])
    expect((await answer.arrayBuffer()).byteLength).toBe(0)
    if (!captured) return
    const { data } = await (await project.fetch('/v1/calls?number=%2B15550100001&limit=1000')).json()
    expect(data).toContainEqual(
      expect.objectContaining({
        status: 'completed',
        transcript: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello.' },
        ],
      }),
    )
  })

  test('without spans, or with those of something else, is accepted', async () => {
    const other = requestOf([{ scope: 'my-app', name: 'GET', id: 'a', from: 0, to: 1 }], newTraceId())
    const unknown = requestOf(
      [{ scope: 'pipecat', name: 'unheard of', id: 'a', from: 0, to: 1 }],
      newTraceId(),
    )
    for (const body of [{}, { resourceSpans: [] }, { resourceSpans: [{}] }, other, unknown]) {
      const answer = await post(JSON.stringify({ ...body, unknownField: [1, 2] }))
      expect([answer.status, await answer.text()]).toEqual([200, '{}'])
    }
  })
})

describe('spans that cannot be taken', () => {
  test('are counted and named, and the others are taken', async () => {
    const traceId = newTraceId()
    const bad = requestOf([{ scope: 'pipecat', name: 'turn', id: 'a', from: 0, to: 1 }], 'no id')
    const body = JSON.stringify(joined([requestOf(livekitSession, traceId), bad]))
    const answer = await post(body)
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedSpans: '1',
          errorMessage: 'A span needs traceId, spanId, name, startTimeUnixNano and endTimeUnixNano.',
        },
      },
    ])
    expect(await transcriptOf(traceId)).toHaveLength(livekitHistory.length)
  })

  test('are those that make a session too large', async () => {
    const [traceId, other] = [newTraceId(), newTraceId()]
    const first = requestOf(livekitSession.slice(0, 4), traceId)
    expect((await post(JSON.stringify(first))).status).toBe(200)
    const words = { 'lk.pii.user_transcript': 'x'.repeat(callBytesMax) }
    const large = {
      scope: 'livekit-agents',
      name: 'user_turn',
      id: 'large',
      from: 9,
      to: 10,
      attributes: words,
    }
    const body = joined([requestOf([large], traceId), requestOf(livekitSession, other)])
    const answer = await post(JSON.stringify(body))
    expect(await answer.json()).toEqual({
      partialSuccess: {
        rejectedSpans: '1',
        errorMessage: `A session has at most ${callBytesMax} bytes (CALL_MAX_BYTES).`,
      },
    })
    expect(await transcriptOf(traceId)).toHaveLength(2)
    expect(await transcriptOf(other)).toHaveLength(livekitHistory.length)
  })

  test('are those of a call that has no room for them, and nothing is kept of them', async () => {
    const traceId = newTraceId()
    const analysis = { notes: 'x'.repeat(callBytesMax - 700) }
    const put = await project.send('PUT', `/ingest/calls/${traceId}`, { callAnalysis: analysis })
    expect(put.status).toBe(201)
    const answer = await post(JSON.stringify(requestOf(livekitSession, traceId)))
    expect((await answer.json()).partialSuccess.errorMessage).toContain(`${callBytesMax} bytes`)
    const kept = sql`select 1 from call_sessions where trace_id = ${traceId}`
    expect(await service.services.database.read.all(kept)).toEqual([])
  })

  test('are counted in protobuf, too', async () => {
    // resourceSpans → scopeSpans → scope.name and a span without anything.
    const within = (field: number, bytes: Uint8Array) =>
      new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish()
    const scope = within(1, within(1, Buffer.from('pipecat')))
    const body = within(1, within(2, Buffer.concat([scope, within(2, new Uint8Array())])))
    const answer = await post(body, { 'content-type': protobuf })
    expect(answer.status).toBe(200)
    const reader = new BinaryReader(new Uint8Array(await answer.arrayBuffer()))
    expect(reader.tag()).toEqual([1, WireType.LengthDelimited])
    const partial = new BinaryReader(reader.bytes())
    expect([partial.tag(), Number(partial.int64())]).toEqual([[1, WireType.Varint], 1])
    expect([partial.tag(), partial.string()]).toEqual([
      [2, WireType.LengthDelimited],
      'A span needs traceId, spanId, name, startTimeUnixNano and endTimeUnixNano.',
    ])
  })
})

describe('what cannot be read is answered by a Status in the type of the request', () => {
  test.each([
    ['not JSON', '{', 400, 'body: must be valid JSON: the error is at column 2'],
    ['null', 'null', 400, 'body: must be an object'],
    ['an empty string', '""', 400, 'body: must be an object'],
    [
      'an empty string in its list',
      '{"resourceSpans":[""]}',
      400,
      'resourceSpans: must be an array of objects',
    ],
    ['null in its list', '{"resourceSpans":[null]}', 400, 'resourceSpans: must be an array of objects'],
    ['of another form', '{"resourceSpans":7}', 400, 'resourceSpans: must be an array'],
    [
      'with a member of another form',
      '{"resourceSpans":[{"scopeSpans":[{"scope":{"name":7}}]}]}',
      400,
      'resourceSpans.0.scopeSpans.0.scope.name: must be a string',
    ],
    [
      'with U+0000',
      '{"resourceSpans":[{"schemaUrl":"\\u0000"}]}',
      400,
      'resourceSpans.0.schemaUrl: must not contain U+0000',
    ],
  ])('%s', async (_, body, status, message) => {
    const answer = await post(body)
    expect([answer.status, await answer.json()]).toEqual([status, { message }])
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  test('not protobuf', async () => {
    const answer = await post(Buffer.from('rubbish'), { 'content-type': protobuf })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, protobuf])
    expect(await messageOf(answer)).toBe('body: must be an ExportTraceServiceRequest in protobuf')
  })

  test('of more members than anybody sends', async () => {
    const bomb = gzipSync(`{"resourceSpans":[${'{},'.repeat(250_000)}{}]}`)
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const answer = await ofLarge.fetch(path, { method: 'POST', body: bomb, headers })
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { message: expect.stringContaining('250000 members') },
    ])
  })

  test.each(hostileRequests('pipecat', 9))('of more fields than anybody sends: %s', async (_, body) => {
    const headers = { 'content-type': protobuf, 'content-encoding': 'gzip' }
    const answer = await ofLarge.fetch(path, { method: 'POST', body: gzipSync(body), headers })
    const message = 'body: must have at most 500000 fields, and 20000 in a span or a record'
    expect([answer.status, await messageOf(answer)]).toEqual([400, message])
  })

  test('with a group, whose fields would not count', async () => {
    const group = [(9 << 3) | WireType.StartGroup, (9 << 3) | WireType.EndGroup]
    expect((await post(new Uint8Array(group), { 'content-type': protobuf })).status).toBe(400)
  })

  test('not what its encoding says, or too large once expanded', async () => {
    const broken = await post('{}', { 'content-encoding': 'gzip' })
    expect([broken.status, await broken.json()]).toEqual([
      400,
      { message: 'body: must be valid gzip, as its Content-Encoding says' },
    ])
    const bomb = gzipSync(Buffer.alloc(bodyBytesMax + 1, ' '))
    expect(bomb.byteLength).toBeLessThan(1_000)
    const large = await post(bomb, { 'content-encoding': 'gzip', 'content-type': protobuf })
    expect([large.status, await messageOf(large)]).toEqual([
      413,
      `The body has more than ${bodyBytesMax} bytes, the most that is accepted.`,
    ])
  })

  test('in gzip whose trailer lies, whichever way, and a second member is a lie', async () => {
    const liar = (bytes: number) => {
      const body = gzipSync('{}'.padEnd(1_000))
      body.writeUInt32LE(bytes, body.length - 4)
      return body
    }
    const bodies = [
      liar(999),
      liar(1_001),
      liar(0),
      Buffer.concat([gzipSync('{'), gzipSync('}')]),
      Buffer.of(1),
    ]
    for (const body of bodies) {
      const answer = await post(new Uint8Array(body), { 'content-encoding': 'gzip' })
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { message: 'body: must be valid gzip, as its Content-Encoding says' },
      ])
    }
    expect((await post(new Uint8Array(liar(1_000)), { 'content-encoding': 'gzip' })).status).toBe(200)
  })

  test('in an encoding takes room for what it says, or may become, before it is inflated', async () => {
    const room = spyOn(Admission.prototype, 'holdWithin')
    const sentOf = async (body: Buffer, encoding: string) => {
      expect((await post(new Uint8Array(body), { 'content-encoding': encoding })).status).toBe(200)
      return (room.mock.lastCall?.[2] ?? 0) - body.length
    }
    expect(await sentOf(gzipSync('{}'.padEnd(60_000)), 'gzip')).toBe(60_000)
    expect(await sentOf(deflateSync('{}'), 'deflate')).toBe(deflateSync('{}').length * 1_032)
    expect(await sentOf(deflateSync('{}'.padEnd(199_000)), 'deflate')).toBe(bodyBytesMax)
    room.mockRestore()
  })

  test('of another type or encoding', async () => {
    const text = await post('{}', { 'content-type': 'text/plain' })
    expect([text.status, await text.json()]).toEqual([
      415,
      { message: 'Send the body with Content-Type: application/x-protobuf or application/json.' },
    ])
    const zstd = await post('{}', { 'content-encoding': 'zstd' })
    expect([zstd.status, zstd.headers.get('accept-encoding')]).toEqual([415, 'gzip, deflate, identity'])
  })
})

test('our own trouble is 503 with a short wait, since clients throw away what is answered 500 or 507', async () => {
  const request = new Request(`http://localhost${path}`, { headers: { 'content-type': 'application/json' } })
  for (const error of [
    new AppError('internal', 'Internal error'),
    new AppError('insufficient_storage', 'Insufficient storage'),
    new AppError('unavailable', 'Service unavailable', { retryAfterSeconds: 30 }),
  ]) {
    const answer = otlpProtocol.errorAnswer?.(error, request)
    expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([503, '1'])
  }
})
