import { describe, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { sql } from 'drizzle-orm'
import { unavailable } from '../../../src/errors.ts'
import { createServer } from '../../../src/server.ts'
import { type KeepRecording, LiveKitReceiver } from '../../../src/sources/otel/livekit-receiver.ts'
import { failureOf } from '../../support/failure.ts'
import fc from '../../support/fast-check.ts'
import { planOf } from '../../support/query-plan.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { hostileRequests } from './hostile.ts'
import {
  apiKey,
  apiSecret,
  formOf,
  jobId,
  logOf,
  logsOfSession,
  type Sent,
  spansOfSession,
  tokenOf,
  uploadOf,
} from './livekit-requests.ts'
import { livekitHistory } from './spans.ts'

const service = await startService()

/** A project with a source of its own, and the token of its agents. */
async function mint(secret = `${apiSecret} ${performance.now()}`.replace(' ', '-')) {
  const project = await service.mintProject()
  const source = await service.services.sources.create(project.projectId, {
    platform: 'livekit',
    secret,
    options: { apiKey },
  })
  return { project, source, token: tokenOf({}, { secret }) }
}

function post({ way, type, body }: Sent, authorization: string | null, more = {}): Promise<Response> {
  const headers = { 'content-type': type, ...(authorization === null ? {} : { authorization }), ...more }
  return fetch(`${service.url}/observability/${way}/v0`, { method: 'POST', headers, body })
}

async function send(sent: readonly Sent[], token: string): Promise<void> {
  for (const each of sent) {
    const answer = await post(each, `Bearer ${token}`)
    expect([each.way, answer.status, answer.headers.get('content-type')]).toEqual([
      each.way,
      200,
      'application/x-protobuf',
    ])
    expect((await answer.bytes()).byteLength).toBe(0)
  }
}

async function callOf(project: TestProject) {
  const parts = ['', '/details'].map(async (part) =>
    (await project.fetch(`/v1/calls/${jobId}${part}`)).json(),
  )
  const [call, details] = await Promise.all(parts)
  return { call, details }
}

/** A google.rpc.Status: its message, and the seconds of its RetryInfo. */
function statusOf(bytes: Uint8Array) {
  const fieldsOf = (message: Uint8Array) => {
    const [reader, fields] = [new BinaryReader(message), new Map<number, Uint8Array | number>()]
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag()
      fields.set(number, type === 2 ? reader.bytes() : Number(reader.int64()))
    }
    return fields
  }
  const bytesAt = (fields: Map<number, Uint8Array | number>, number: number) => {
    const value = fields.get(number)
    return value instanceof Uint8Array ? value : new Uint8Array()
  }
  const status = fieldsOf(bytes)
  const detail = fieldsOf(bytesAt(status, 3))
  const delay = fieldsOf(bytesAt(fieldsOf(bytesAt(detail, 2)), 1))
  return {
    message: Buffer.from(bytesAt(status, 2)).toString(),
    type: Buffer.from(bytesAt(detail, 1)).toString(),
    retrySeconds: delay.get(1),
  }
}

describe('a token', () => {
  const seconds = Math.floor(Date.now() / 1_000)
  const [head, body, signature] = tokenOf().split('.')

  test.each([
    ['is missing', null],
    ['is empty', 'Bearer '],
    ['is a key of Callbook', 'Bearer ck_live_0000'],
    ['is not a token', 'Bearer a.b.c'],
    ['has another part', `Bearer ${tokenOf()}.x`],
    ['is not signed', `Bearer ${tokenOf({}, { alg: 'none' })}`],
    ['has no signature', `Bearer ${head}.${body}.`],
    ['is signed by another algorithm', `Bearer ${tokenOf({}, { alg: 'HS512' })}`],
    ['is signed with another secret', `Bearer ${tokenOf({}, { secret: 'another' })}`],
    ['is of an API key that no source has', `Bearer ${tokenOf({ iss: 'APIother' })}`],
    ['is of no API key', `Bearer ${tokenOf({ iss: undefined })}`],
    [
      'has other claims than were signed',
      `Bearer ${head}.${tokenOf({ exp: seconds + 9 }).split('.')[1]}.${signature}`,
    ],
    ['has expired', `Bearer ${tokenOf({ exp: seconds - 61 })}`],
    ['never expires', `Bearer ${tokenOf({ exp: undefined })}`],
    ['is not valid yet', `Bearer ${tokenOf({ nbf: seconds + 120 })}`],
    ['has no grant', `Bearer ${tokenOf({ observability: undefined, video: { roomJoin: true } })}`],
    ['is longer than any', `Bearer ${tokenOf({ name: 'a'.repeat(4_096) })}`],
    ['may not write', `Bearer ${tokenOf({ observability: { write: false } })}`],
  ])('that %s is 401, on every path', async (_, authorization) => {
    const { project } = await mint(apiSecret)
    for (const way of ['traces/otlp', 'logs/otlp', 'metrics/otlp', 'recordings']) {
      const answer = await post(
        { way, type: 'application/x-protobuf', body: new Uint8Array() },
        authorization,
      )
      expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/x-protobuf'])
      const bytes = await answer.bytes()
      expect(statusOf(bytes).message).toContain('API key and secret')
      // LiveKit's SDK would give up the session.
      expect(Buffer.from(bytes).toString().toLowerCase()).not.toMatch(
        /recording is disabled|disabled by owner/,
      )
    }
    expect((await (await project.fetch('/v1/calls')).json()).data).toEqual([])
    await service.services.sources.delete(project.projectId, (await sourcesOf(project))[0]?.id ?? '')
  })

  async function sourcesOf({ projectId }: TestProject) {
    return await service.services.sources.list(projectId)
  }

  test('tells by its secret which of the projects with its API key is meant', async () => {
    const [one, other] = [await mint(), await mint()]
    await send(spansOfSession(), other.token)
    expect((await one.project.fetch(`/v1/calls/${jobId}`)).status).toBe(404)
    expect((await other.project.fetch(`/v1/calls/${jobId}`)).status).toBe(200)
  })

  test('that is signed with the previous secret is accepted for a day', async () => {
    const { project, source, token } = await mint()
    await service.services.sources.rotate(project.projectId, source.id, 'the-next-secret')
    await send(logsOfSession(), token)
    await send(logsOfSession(), tokenOf({}, { secret: 'the-next-secret' }))
    await service.services.sources.delete(project.projectId, source.id)
    expect((await post(uploadOf(), `Bearer ${token}`)).status).toBe(401)
  })
})

describe('a source', () => {
  /** A source of a project of its own. */
  async function sourceOf(key: string, secret: string) {
    const { projectId } = await service.mintProject()
    await service.services.sources.create(projectId, {
      platform: 'livekit',
      secret,
      options: { apiKey: key },
    })
  }

  test('has an API key of its own within its project', async () => {
    const { sources } = service.services
    const { project, source } = await mint()
    const create = (key: string) =>
      sources.create(project.projectId, { platform: 'livekit', secret: 'a', options: { apiKey: key } })
    const refusal = {
      errors: [{ field: 'options.apiKey', message: 'is that of another source of the project' }],
    }
    expect(await failureOf(create(apiKey))).toMatchObject(refusal)
    const other = await create('APIother-of-project')
    expect(
      await failureOf(sources.change(project.projectId, other.id, { options: { apiKey } })),
    ).toMatchObject(refusal)
    // Its own is no other's.
    await sources.change(project.projectId, source.id, { options: { apiKey } })
    await sources.create(project.projectId, { platform: 'vapi', options: { apiKey } })
  })

  test('that has received something is tried before any number of others, of which 20 are tried', async () => {
    const key = `API${performance.now()}`
    const token = (secret: string) => tokenOf({ iss: key }, { secret })
    const statusFor = async (secret: string) =>
      (await post(spansOfSession()[0] as Sent, `Bearer ${token(secret)}`)).status
    await sourceOf(key, 'of-the-first')
    expect(await statusFor('of-the-first')).toBe(200)
    await service.services.eventCounts.flush()
    await sourceOf(key, 'of-the-second')
    for (let at = 0; at < 19; at++) await sourceOf(key, `made to keep others out ${at}`.replaceAll(' ', '-'))
    expect(await statusFor('of-the-second')).toBe(200)
    await service.services.database.write.run(
      sql`update sources set events = 0 where secret = 'of-the-second'`,
    )
    await sourceOf(key, 'one-too-many')
    expect([await statusFor('of-the-first'), await statusFor('of-the-second')]).toEqual([200, 401])
  })

  test('is found by an index', async () => {
    const query = sql`select 1 from sources where platform = 'livekit' and options ->> 'apiKey' = 'a'`
    expect(await planOf(join(service.dataDir, 'callbook.db'), query)).toContain('INDEX sources_by_api_key')
  })

  test('is looked for by at most 200 requests that are not verified', async () => {
    const { sources } = service.services
    const { promise, resolve } = Promise.withResolvers<void>()
    const search = spyOn(sources, 'openByApiKey').mockImplementation(async () => {
      await promise
      return []
    })
    const sent = spansOfSession()[0] as Sent
    const send = () => post(sent, `Bearer ${tokenOf()}`)
    const waiting = Array.from({ length: 200 }, send)
    await until(async () => search.mock.calls.length === 200)
    expect((await send()).status).toBe(503)
    search.mockRestore()
    // Those of another key have room.
    expect((await post(sent, `Bearer ${tokenOf({ iss: 'APIof-others' })}`)).status).toBe(401)
    resolve()
    const answers = await Promise.all(waiting)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
  })

  test('needs an API key, and has no address for webhooks', async () => {
    const { projectId } = await service.mintProject()
    const { sources } = service.services
    await expect(sources.create(projectId, { platform: 'livekit', secret: 'a' })).rejects.toMatchObject({
      errors: [{ field: 'options.apiKey', message: 'is required' }],
    })
    const { source } = await mint()
    expect((await fetch(`${service.url}/ingest/from/${source.id}`, { method: 'POST' })).status).toBe(404)
  })

  test('waits for its first session', async () => {
    const { project, source, token } = await mint()
    const eventsOf = async () => {
      await service.services.eventCounts.flush()
      return (await service.services.sources.get(project.projectId, source.id)).events
    }
    await send(
      [logOf('my_agent', 'chat item', {}), { ...spansOfSession()[0], way: 'metrics/otlp' } as Sent],
      token,
    )
    expect(await eventsOf()).toBe(0)
    await send(spansOfSession().slice(0, 1), token)
    expect(await eventsOf()).toBe(1)
  })
})

describe('one call', () => {
  const all = [...spansOfSession(), ...logsOfSession(), uploadOf()]
  const expected = {
    id: jobId,
    status: 'completed',
    duration: 62.5,
    evaluation: 'success',
    endedReason: 'participant_disconnected',
    callerNumber: '+15550100001',
    calledNumber: '+15550100002',
    createdAt: '2023-11-14T22:13:20.000Z',
    transcript: livekitHistory.map(([role, content]) => ({ role, content })),
    callAnalysis: {
      livekit_accuracy: 'pass',
      livekit_accuracy_reasoning: 'All is right.',
      livekit_outcome_reason: 'She knows the hours.',
      'livekit_tag_language:en': true,
      'livekit_tag_appointment:booked': true,
    },
  }

  test('has what its spans, its logs and its upload say, and nothing more', async () => {
    const { project, token } = await mint()
    await send(all, token)
    const { call, details } = await callOf(project)
    expect(call).toMatchObject(expected)
    expect(details).toMatchObject({
      source: 'livekit',
      direction: 'inbound',
      agent: { id: 'ada' },
      usage: [
        {
          kind: 'llm',
          provider: 'fake',
          model: 'fake-1',
          inputTokens: 40,
          outputTokens: 12,
          cachedTokens: 8,
          cacheWriteTokens: 2,
          audioInputTokens: 4,
          audioOutputTokens: 3,
        },
        { kind: 'stt', provider: 'fake', model: 'ears-1', seconds: 58 },
        { kind: 'tts', provider: 'fake', model: 'voice-1', characters: 46, seconds: 4.25, inputTokens: null },
      ],
      metadata: { jobId, roomId: 'RM_1', inputTokens: 40, outputTokens: 12, models: ['fake-1'] },
    })
    const stored = await service.services.database.read.all(
      sql`select spans from call_sessions where project_id = ${project.projectId}`,
    )
    expect(stored).toHaveLength(1)
    expect(JSON.stringify({ call, details, stored })).not.toContain('never-store-this')
  })

  test('is the same in any order, with repeats', async () => {
    const first = await mint()
    await send(all, first.token)
    const { call, details } = await callOf(first.project)
    const { updatedAt: _, ...same } = call
    const positions = [...all.keys()]
    const orders = fc.tuple(
      fc.shuffledSubarray(positions, { minLength: positions.length }),
      fc.subarray(positions),
    )
    await fc.assert(
      fc.asyncProperty(orders, async ([order, again]) => {
        const { project, token } = await mint()
        await send(
          [...order, ...again].flatMap((at) => all[at] ?? []),
          token,
        )
        expect((await (await project.fetch('/v1/calls')).json()).data).toHaveLength(1)
        const other = await callOf(project)
        expect(other.call).toMatchObject(same)
        expect(other.details).toEqual(details)
      }),
      { numRuns: 15 },
    )
  })

  test.each([
    ['its spans alone', spansOfSession(), 62.5],
    ['its logs alone', logsOfSession(), 65],
    ['its upload alone', [uploadOf()], 65],
  ])('needs no more than %s', async (_, sent, duration) => {
    const { project, token } = await mint()
    await send(sent, token)
    const { call, details } = await callOf(project)
    expect(call).toMatchObject({ status: 'completed', duration, transcript: expected.transcript })
    expect(details.agent).toMatchObject({ id: 'ada' })
    expect(details.timeline.at(-1)).toMatchObject({ kind: 'turn', turn: 5, interrupted: true })
  })

  test('has the words that its history alone has', async () => {
    const { project, token } = await mint()
    const spoken = spansOfSession().filter((_, at) => ![3, 4].includes(at))
    await send([...spoken, uploadOf()], token)
    expect((await callOf(project)).call.transcript).toEqual(expected.transcript)
  })

  test('is not made by other logs, nor again after it was deleted', async () => {
    const { project, token } = await mint()
    await send([logOf('livekit.agents', 'session report', { 'session.tags': ['a'] })], token)
    await send([logOf('chat_history', 'my own line', { outcome: { outcome: 'success' } })], token)
    expect((await project.fetch(`/v1/calls/${jobId}`)).status).toBe(404)
    await send(all, token)
    await project.fetch(`/v1/calls/${jobId}`, { method: 'DELETE' })
    await send(all, token)
    expect((await project.fetch(`/v1/calls/${jobId}`)).status).toBe(404)
  })

  test('is redacted as its project says', async () => {
    const { project, token } = await mint()
    await service.services.settings.change(project.projectId, { redact: ['email'] })
    const item = {
      id: 'item_x',
      type: 'message',
      role: 'user',
      content: ['Write to ada@example.com'],
      created_at: 1_700_000_001,
    }
    await send([uploadOf({ history: JSON.stringify({ items: [item] }) })], token)
    const { call } = await callOf(project)
    expect(call.transcript).toHaveLength(1)
    expect(JSON.stringify(call)).not.toContain('ada@example.com')
  })
})

describe('a body', () => {
  test('may be compressed', async () => {
    const { project, token } = await mint()
    for (const each of [...spansOfSession(), ...logsOfSession()]) {
      const zipped = { ...each, body: new Uint8Array(gzipSync(each.body)) }
      expect((await post(zipped, `Bearer ${token}`, { 'content-encoding': 'gzip' })).status).toBe(200)
    }
    expect((await callOf(project)).call.transcript).toHaveLength(6)
  })

  test('of lists within lists is taken, without what is too deep', async () => {
    const { project, token } = await mint()
    let deep: unknown = 'a'
    for (let level = 0; level < 2_000; level++) deep = [deep]
    await send(
      [logOf('evaluations', 'outcome', { outcome: { outcome: 'success' }, deep }), uploadOf()],
      token,
    )
    expect((await callOf(project)).call.evaluation).toBe('success')
  })

  test.each([
    ['traces', { way: 'traces/otlp', type: 'application/x-protobuf', body: new Uint8Array([255]) }, 400],
    ['logs', { way: 'logs/otlp', type: 'application/x-protobuf', body: new Uint8Array([10, 99, 1]) }, 400],
    ['logs in JSON', { way: 'logs/otlp', type: 'application/json', body: new Uint8Array([123, 125]) }, 415],
    ['an upload that is no form', { way: 'recordings', type: 'audio/ogg', body: new Uint8Array(9) }, 415],
    ['a form without a boundary', { ...uploadOf(), type: 'multipart/form-data' }, 400],
    ['a form that is cut off', { ...uploadOf(), body: uploadOf().body.slice(0, -20) }, 400],
    ['a form without parts', formOf([]), 400],
    ['a form whose header comes late', formOf([['audio', 'audio/ogg', new Uint8Array(9)]]), 400],
    ['a header without a job', uploadOf({ header: { job_id: '' } }), 400],
    [
      'a header that is no protobuf',
      formOf([['header', 'application/protobuf', new Uint8Array([255])]]),
      400,
    ],
    [
      'a second history',
      formOf([
        ['header', 'application/protobuf', new Uint8Array([0x42, 1, 0x61])],
        ['chat_history', 'application/json', Buffer.from('{}')],
        ['chat_history', 'application/json', Buffer.from('{}')],
      ]),
      400,
    ],
    [
      'a second recording',
      formOf([
        ['header', 'application/protobuf', new Uint8Array([0x42, 1, 0x61])],
        ['audio', 'audio/ogg', new Uint8Array(9)],
        ['audio', 'audio/ogg', new Uint8Array(9)],
      ]),
      400,
    ],
    ['a history that is no JSON', uploadOf({ history: '{' }), 400],
    ['a header that is too long', uploadOf({ header: { room_id: 'a'.repeat(2 ** 20) } }), 413],
    ['a history of too many members', uploadOf({ history: `{"items":[${'1,'.repeat(300_000)}1]}` }), 413],
    ['a history that is too long', uploadOf({ history: `{}${' '.repeat(2 ** 25)}` }), 413],
  ])('that cannot be read is refused: %s', async (_, sent, status) => {
    const { token } = await mint()
    const answer = await post(sent, `Bearer ${token}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/x-protobuf'])
    const { message, type } = statusOf(await answer.bytes())
    expect(message).not.toBe('')
    expect(type).toBe('')
  })
})

test.each([
  ...hostileRequests('livekit-agents', 9).map((each) => ['traces', ...each] as const),
  ...hostileRequests('chat_history', 6).map((each) => ['logs', ...each] as const),
])('%s of more fields than anybody sends are refused: %s', async (way, _, body) => {
  const { token } = await mint()
  const answer = await post(
    { way: `${way}/otlp`, type: 'application/x-protobuf', body: new Uint8Array(gzipSync(body)) },
    `Bearer ${token}`,
    { 'content-encoding': 'gzip' },
  )
  expect(answer.status).toBe(400)
  expect(statusOf(await answer.bytes()).message).toContain('500000 fields, and 20000 in a span')
})

describe('a recording', () => {
  /** The service with something that keeps recordings. */
  function keeping(keepRecording: KeepRecording, keeps = true) {
    const { core, sources, callSessions, eventCounts } = service.services
    const livekitReceiver = new LiveKitReceiver(core, {
      sources,
      callSessions,
      counts: eventCounts,
      keepsRecording: async () => keeps,
      keepRecording,
    })
    const app = createServer({ ...service.services, livekitReceiver }, () => null)
    return (sent: Sent, token: string, body: BodyInit = sent.body) =>
      app.handle(
        new Request('http://localhost/observability/recordings/v0', {
          method: 'POST',
          headers: { 'content-type': sent.type, authorization: `Bearer ${token}` },
          body,
        }),
      )
  }

  const audio = new Uint8Array(1_000_000).map((_, at) => (at % 97 === 0 ? 13 : at % 251))

  test('is handed on as it arrives, after the history', async () => {
    const { project, token } = await mint()
    const kept: { of: unknown[]; bytes: Buffer; turns: number }[] = []
    const upload = keeping(async (projectId, callId, chunks) => {
      const turns = (await callOf(project)).call.transcript.length
      const bytes: Uint8Array[] = []
      for await (const chunk of chunks) bytes.push(chunk)
      kept.push({ of: [projectId, callId], bytes: Buffer.concat(bytes), turns })
    })
    expect((await upload(uploadOf({ audio }), token)).status).toBe(200)
    expect(kept).toHaveLength(1)
    expect(kept[0]).toMatchObject({ of: [project.projectId, jobId], turns: 6 })
    expect(kept[0]?.bytes.equals(audio)).toBe(true)
  })

  /** What a player recognizes as Ogg, with other bytes behind. */
  const ogg = new Uint8Array(Buffer.concat([Buffer.from('OggS'), audio]))

  async function recordingOf(project: TestProject): Promise<Response> {
    return await project.fetch(`/v1/calls/${jobId}/recording`)
  }

  test('is kept, and stays away once it is deleted', async () => {
    const { project, token } = await mint()
    await send([uploadOf({ audio: ogg })], token)
    expect((await recordingOf(project)).status).toBe(404)
    await service.services.settings.change(project.projectId, { recordings: 'keep' })
    await send([uploadOf({ audio: ogg }), uploadOf({ audio: ogg })], token)
    expect(Buffer.from(await (await recordingOf(project)).bytes()).equals(ogg)).toBe(true)
    expect((await callOf(project)).details.recording).toMatchObject({
      state: 'kept',
      contentType: 'audio/ogg',
    })
    await project.fetch(`/v1/calls/${jobId}/recording`, { method: 'DELETE' })
    await send([uploadOf({ audio: ogg })], token)
    expect((await recordingOf(project)).status).toBe(404)
    await project.fetch(`/v1/calls/${jobId}`, { method: 'DELETE' })
    await send([uploadOf({ audio: ogg })], token)
    expect((await project.fetch(`/v1/calls/${jobId}`)).status).toBe(404)
  })

  test('of a call that was deleted is dropped', async () => {
    const { project, token } = await mint()
    await service.services.settings.change(project.projectId, { recordings: 'keep' })
    await project.send('PUT', `/ingest/calls/${jobId}`, {})
    await project.fetch(`/v1/calls/${jobId}`, { method: 'DELETE' })
    await send([uploadOf({ audio: ogg })], token)
    expect((await recordingOf(project)).status).toBe(404)
  })

  test.each([
    ['the project keeps none', false, {}],
    ['its sender expects redaction', true, { redaction: true }],
  ])('is let by if %s, and the history is kept', async (_, keeps, more) => {
    const { project, token } = await mint()
    let isKept = false
    const upload = keeping(async () => {
      isKept = true
    }, keeps)
    expect((await upload(uploadOf({ audio, ...more }), token)).status).toBe(200)
    expect(isKept).toBe(false)
    expect((await callOf(project)).call.transcript).toHaveLength(6)
  })

  test('that nobody reads, or not to its end, is let by', async () => {
    const { token } = await mint()
    expect((await keeping(async () => undefined)(uploadOf({ audio }), token)).status).toBe(200)
    const readOne = keeping(async (_, __, chunks) => {
      for await (const _chunk of chunks) break
    })
    expect((await readOne(uploadOf({ audio }), token)).status).toBe(200)
  })

  test('that cannot be kept now is sent again, when a RetryInfo says', async () => {
    const { token } = await mint()
    const upload = keeping(async () => {
      throw unavailable('The disk is full.')
    })
    const answer = await upload(uploadOf({ audio }), token)
    expect(answer.status).toBe(503)
    expect(statusOf(await answer.bytes())).toEqual({
      message: 'The disk is full.',
      type: 'type.googleapis.com/google.rpc.RetryInfo',
      retrySeconds: 15,
    })
  })

  test('that is cut off ends with an error', async () => {
    const { token } = await mint()
    let failure: unknown
    const upload = keeping(async (_, __, chunks) => {
      try {
        for await (const _chunk of chunks);
      } catch (error) {
        failure = error
        throw error
      }
    })
    const sent = uploadOf({ audio })
    expect((await upload(sent, token, sent.body.slice(0, 500_000))).status).toBe(400)
    expect(failure).toMatchObject({ code: 'invalid_request' })
  })
})
