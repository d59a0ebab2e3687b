import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { toWav } from '../../scripts/bench/spoken-calls.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'
import {
  apiKey,
  apiSecret,
  jobId,
  startSeconds,
  tokenOf,
  uploadOf,
} from '../sources/otel/livekit-requests.ts'
import {
  callerTurns,
  expectCovers,
  expectSilentWithin,
  isWithin,
  saidWith,
  spoken,
  timeline,
  turns,
  wav,
} from '../support/muted-call.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const [first, second] = [callerTurns[0] ?? 0, callerTurns.at(-1) ?? 0]
const dayMs = 86_400_000
/** When the caller says nothing for longer than a turn's time may be off. */
const quiet = spoken.agent
  .flatMap(([from, to]) => Array.from({ length: Math.ceil(to - from) }, (_, at) => from + at))
  .find((at) => spoken.caller.every(([from, to]) => to < at - 1.5 || from > at + 1.5))

let service: TestService
let project: TestProject
let clock = Date.now()

describe.skipIf(ofFilesOnly)('a project that mutes', () => {
  beforeAll(async () => {
    service = await startService({ env: { ERASE_WITHIN_MS: '400' }, now: () => clock })
    project = await service.mintProject()
    const settings = { redact: ['card' as const], recordings: 'mute' as const, endSilentAfter: null }
    await service.services.settings.change(project.projectId, settings)
  })

  test('keeps a recording from all until its call is completed, and then serves it without what is redacted', async () => {
    await put('muted', { transcript: saidWith(first), details: { timeline } })
    expect((await upload('muted')).status).toBe(201)
    const sent = await rowOf('muted')
    await service.services.peaksBacklog.idle()
    expect(await recordingOf('muted')).toMatchObject({ state: 'waiting', mutedSeconds: null, muted: null })
    expect((await recordingOf('muted')).reason).toContain('made silent')
    for (const [method, path] of [
      ['GET', ''],
      ['HEAD', ''],
      ['POST', '/links'],
    ] as const) {
      const answer = await project.fetch(`/v1/calls/muted/recording${path}`, {
        method,
        ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
      })
      expect([method, answer.status]).toEqual([method, 404])
    }
    await put('muted', { status: 'completed' })
    const { muted, mutedSeconds } = await kept('muted')
    expect(muted).toHaveLength(1)
    expect(mutedSeconds).toBeCloseTo(secondsIn(muted), 2)
    expectCovers(muted, first)
    const served = await bytesOf('muted')
    expectSilentWithin(served, muted)
    // The other file and its key are gone.
    expect((await rowOf('muted')).file).not.toBe(sent.file)
    const files = () => readdirSync(join(service.dataDir, 'recordings'), { recursive: true }).map(String)
    await until(async () => !files().some((name) => name.includes(sent.file)))
    await until(async () => !holds(sent.key))
  })

  test('measures and draws the file that is served', async () => {
    await until(async () => (await detailsOf('muted')).sound.state === 'measured')
    const { caller } = await (await project.fetch('/v1/calls/muted/sound')).json()
    const { muted } = await recordingOf('muted')
    for (const [from, to] of caller) expect(isWithin(muted, from, to)).toBe(false)
    // Somebody spoke there.
    const { deadAir, deadAirs } = await (await project.fetch('/v1/calls/muted/sound')).json()
    expect(deadAirs).toBe(deadAir.length)
    for (const [from, to] of deadAir)
      expect((muted ?? []).some(([start = 0, end = 0]) => start < to && end > from)).toBe(false)
  })

  test('answers the same bytes again with 200, and changes nothing', async () => {
    const before = await rowOf('muted')
    const answer = await upload('muted')
    expect([answer.status, (await answer.json()).sha256]).toEqual([
      200,
      new Bun.CryptoHasher('sha256').update(wav).digest('hex'),
    ])
    expect(await rowOf('muted')).toEqual(before)
  })

  test('mutes more when more is redacted, never less, and its tag is another then', async () => {
    const before = await recordingOf('muted')
    const tag = (await project.fetch('/v1/calls/muted/recording')).headers.get('etag')
    await put('muted', { transcript: saidWith(first, second) })
    await until(async () => ((await recordingOf('muted')).mutedSeconds ?? 0) > (before.mutedSeconds ?? 0))
    const { muted } = await recordingOf('muted')
    for (const turn of [first, second]) expectCovers(muted, turn)
    expectSilentWithin(await bytesOf('muted'), muted)
    expect((await project.fetch('/v1/calls/muted/recording')).headers.get('etag')).not.toBe(tag)
    await put('muted', { transcript: saidWith() })
    await settled()
    expect(await recordingOf('muted')).toMatchObject({ state: 'kept', muted })
  })

  test('mutes a turn once, although nothing is heard of it in the copy', async () => {
    const { file } = await rowOf('muted')
    const said = saidWith(first, second)
    await put('muted', { transcript: said.map((turn) => ({ ...turn, content: `${turn.content} yes` })) })
    await settled()
    expect((await rowOf('muted')).file).toBe(file)
    expect((await bytesOf('muted')).length).toBe(wav.length)
  })

  test('mutes what agents of LiveKit send', async () => {
    const source = { platform: 'livekit' as const, secret: apiSecret, options: { apiKey } }
    await service.services.sources.create(project.projectId, source)
    const items = saidWith(first).map(({ role, content }, turn) => ({
      id: `item_${turn}`,
      type: 'message',
      role,
      content: [content],
      created_at: startSeconds + (turns[turn]?.from ?? 0),
    }))
    const { type, body } = uploadOf({ history: JSON.stringify({ items }), audio: wav })
    const headers = { 'content-type': type, authorization: `Bearer ${tokenOf()}` }
    const path = `${service.url}/observability/recordings/v0`
    expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(200)
    const { muted } = await kept(jobId)
    expectCovers(muted, first)
    expectSilentWithin(await bytesOf(jobId), muted)
  })

  test('keeps a recording as it was sent where nothing is redacted', async () => {
    await put('plain', { status: 'completed', transcript: saidWith(), details: { timeline } })
    await upload('plain')
    expect(await kept('plain')).toMatchObject({ mutedSeconds: 0, muted: [] })
    expect((await bytesOf('plain')).equals(wav)).toBe(true)
  })

  const flac = readFileSync(join(import.meta.dir, 'audio/files/stereo.flac'))
  const oneChannel = Buffer.from(new Uint8Array(toWav(spoken.channels.slice(0, 1))))
  const mixed = Buffer.from(new Uint8Array(toWav([spoken.channels[0], spoken.channels[0]])))
  test.each([
    ['its turns have no times', wav, {}],
    ['its turns have no times', wav, { timeline: timeline.filter(({ turn }) => turn !== first) }],
    [
      'the times of its turns do not fit the sound',
      wav,
      { timeline: timeline.map((entry, at) => ({ ...entry, atSeconds: (at * 37) % 60 })) },
    ],
    [
      'the times of its turns do not fit the sound',
      wav,
      { timeline: timeline.map((entry) => (entry.turn === first ? { ...entry, atSeconds: quiet } : entry)) },
    ],
    ['one channel', oneChannel, { timeline }],
    ['this format', flac, { timeline }],
    ['nobody can be told apart', mixed, { timeline }],
  ])('does not keep what cannot be muted: %s', async (reason, body, details) => {
    const id = `failed-${crypto.randomUUID()}`
    await put(id, { transcript: saidWith(first), details })
    await upload(id, body)
    const { file } = await rowOf(id)
    await put(id, { status: 'completed' })
    await until(async () => (await recordingOf(id)).state === 'failed')
    expect((await recordingOf(id)).reason).toBe(
      `What is redacted in its call could not be made silent: ${reason}.`,
    )
    expect((await project.fetch(`/v1/calls/${id}/recording`)).status).toBe(404)
    await until(async () => !readdirSync(join(service.dataDir, 'recordings')).includes(file))
  })

  test('deletes a recording that can no longer be muted when something in its call is redacted later', async () => {
    await put('late', { status: 'completed', transcript: saidWith() })
    await upload('late')
    await kept('late')
    await put('late', { transcript: saidWith(first) })
    await until(async () => (await recordingOf('late')).state === 'failed')
  })

  test('keeps one that cannot be muted from all while its call is on hold, and deletes it afterwards', async () => {
    await put('held', { transcript: saidWith(first) })
    const hold = await service.services.holds.set(project.projectId, { callId: 'held', reason: 'A case' })
    await upload('held')
    await put('held', { status: 'completed' })
    await settled()
    expect((await recordingOf('held')).state).toBe('waiting')
    expect((await project.fetch('/v1/calls/held/recording')).status).toBe(404)
    await service.services.holds.lift(project.projectId, hold.id)
    clock += dayMs + 60_000
    await service.services.recordingExpiry.run()
    await until(async () => (await recordingOf('held')).state === 'failed')
  })

  test('lets nobody hear a recording on hold any more that cannot be muted when something is redacted later', async () => {
    await put('held-late', { status: 'completed', transcript: saidWith() })
    await upload('held-late')
    await kept('held-late')
    await settled()
    const hold = await service.services.holds.set(project.projectId, {
      callId: 'held-late',
      reason: 'A case',
    })
    await put('held-late', { transcript: saidWith(first) })
    await until(async () => (await recordingOf('held-late')).state === 'waiting')
    expect((await project.fetch('/v1/calls/held-late/recording')).status).toBe(404)
    await service.services.holds.lift(project.projectId, hold.id)
    clock += dayMs + 60_000
    await service.services.recordingExpiry.run()
    await until(async () => (await recordingOf('held-late')).state === 'failed')
  })

  test('deletes a recording whose call does not end within a day', async () => {
    await put('endless', { transcript: saidWith(first) })
    await upload('endless')
    await settled()
    clock += dayMs + 60_000
    await service.services.recordingExpiry.run()
    await until(async () => (await recordingOf('endless')).state === 'failed')
    expect((await recordingOf('endless')).reason).toContain('its call did not end')
  })

  test('leaves what was kept before as it is until its call changes', async () => {
    const other = await service.mintProject()
    const change = (settings: object) => service.services.settings.change(other.projectId, settings)
    await change({ redact: ['card'], recordings: 'keep' })
    await put('before', { status: 'completed', transcript: saidWith(first), details: { timeline } }, other)
    await upload('before', wav, other)
    await kept('before', other)
    await settled()
    await change({ recordings: 'mute' })
    await service.services.recordings.measureAgain(other.projectId)
    await settled()
    expect((await bytesOf('before', other)).equals(wav)).toBe(true)
    await put('before', { transcript: saidWith(first, second) }, other)
    await until(async () => ((await recordingOf('before', other)).mutedSeconds ?? 0) > 0)
    expectSilentWithin(await bytesOf('before', other), (await recordingOf('before', other)).muted)
  })

  test('must redact something', async () => {
    const other = await service.mintProject()
    const change = (settings: object) => service.services.settings.change(other.projectId, settings)
    expect(change({ recordings: 'mute' })).rejects.toThrow(
      'recordings: cannot be mute in a project that redacts nothing',
    )
    expect(await change({ redact: ['card'], recordings: 'mute' })).toMatchObject({ recordings: 'mute' })
    expect(change({ redact: [] })).rejects.toThrow('recordings: cannot be mute')
    expect(await change({ redact: [], recordings: 'off' })).toMatchObject({ recordings: 'off' })
  })
})

type Recording = CallDetails['recording']

function put(id: string, call: object, of = project): Promise<Response> {
  return of.send('PUT', `/ingest/calls/${id}`, call)
}

function upload(id: string, body = wav, of = project): Promise<Response> {
  return of.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
}

async function detailsOf(id: string, of = project): Promise<CallDetails> {
  return await (await of.fetch(`/v1/calls/${id}/details`)).json()
}

async function recordingOf(id: string, of = project): Promise<Recording> {
  return (await detailsOf(id, of)).recording
}

async function kept(id: string, of = project): Promise<Recording> {
  await until(async () => (await recordingOf(id, of)).state === 'kept', `The recording of ${id}`)
  return await recordingOf(id, of)
}

async function bytesOf(id: string, of = project): Promise<Buffer> {
  const answer = await of.fetch(`/v1/calls/${id}/recording`)
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

/** Waits until nothing is to be done about any recording's sound. */
async function settled(): Promise<void> {
  const { read } = service.services.database
  await until(
    async () => (await read.all(sql`select 1 from recordings where sound_due is not null`)).length === 0,
  )
}

async function rowOf(id: string): Promise<{ file: string; key: Buffer }> {
  const [row] = await service.services.database.read.all<{ file: string; key: string }>(sql`
    select file, hex(key) as key from recordings join calls using (seq)
    where calls.project_id = ${project.projectId} and id = ${id}`)
  return { file: row?.file ?? '', key: Buffer.from(row?.key ?? '', 'hex') }
}

/** Whether the bytes are in some file of the database. */
function holds(bytes: Buffer): boolean {
  const names = readdirSync(service.dataDir).filter((name) => name.startsWith('callbook.db'))
  return names.some((name) => readFileSync(join(service.dataDir, name)).includes(bytes))
}

function secondsIn(muted: Recording['muted']): number {
  return (muted ?? []).reduce((sum, [from = 0, to = 0]) => sum + to - from, 0)
}
