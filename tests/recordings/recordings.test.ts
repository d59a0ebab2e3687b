import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { unavailable } from '../../src/errors.ts'
import { AudioThreads } from '../../src/recordings/audio/audio-threads.ts'
import { CommandLine } from '../support/command-line.ts'
import { expectProblem } from '../support/problem.ts'
import { madeWav, secondsOf } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const recordingBytesMax = 3_000_000
const wav = madeWav()
const json = { 'Content-Type': 'application/json' }
let service: TestService
let project: TestProject

describe.skipIf(ofFilesOnly)('recordings', () => {
  beforeAll(async () => {
    service = await startService({
      env: { RECORDING_MAX_BYTES: String(recordingBytesMax), ERASE_WITHIN_MS: '400' },
    })
    project = await service.mintProject()
  })

  describe('an upload', () => {
    test('is 201 with what was sent, creates the call, and is told in its details', async () => {
      const answer = await upload('new', wav)
      expect(answer.status).toBe(201)
      expect(await answer.json()).toMatchObject({
        id: 'new',
        contentType: 'audio/wav',
        bytes: wav.length,
        durationSeconds: secondsOf(wav),
        channels: 2,
        sha256: sha256(wav),
      })
      expect((await recordingOf('new')).state).toBe('kept')
      expect((await recordingOf('new')).bytes).toBe(wav.length)
      expect(await (await project.fetch('/v1/calls/new')).json()).toMatchObject({
        status: 'live',
        transcript: [],
      })
    })

    test('of the same recording is 200 and changes nothing', async () => {
      await upload('same', wav)
      const before = await feedOf('same')
      const again = await upload('same', wav)
      expect(again.status).toBe(200)
      expect((await again.json()).sha256).toBe(sha256(wav))
      expect(await feedOf('same')).toEqual(before)
      expect(files()).toHaveLength(await rows())
    })

    test('of another recording is 200, replaces the first, and moves the feed', async () => {
      await upload('replaced', wav)
      const [before] = await feedOf('replaced')
      const other = madeWav(70_000)
      expect((await upload('replaced', other)).status).toBe(200)
      expect(await bytesOf('replaced')).toEqual(other)
      expect((await feedOf('replaced'))[0]).not.toEqual(before)
      await until(async () => files().length === (await rows()))
    })

    test('of the same recording brings back a file that is lost, also on hold', async () => {
      await upload('lost', wav)
      await service.services.holds.set(project.projectId, { callId: 'lost', reason: 'A case' })
      rmSync(join(service.dataDir, 'recordings', (await rowOf('lost')).file))
      expect((await upload('lost', wav)).status).toBe(200)
      expect(await bytesOf('lost')).toEqual(wav)
    })

    test('that fails after its commit keeps the file that is named by then', async () => {
      const { ingest } = service.services
      const set = ingest.setRecording.bind(ingest)
      spyOn(ingest, 'setRecording').mockImplementationOnce(async (...args) => {
        await set(...args)
        throw unavailable('The writer has failed.')
      })
      expect((await upload('late', wav)).status).toBe(503)
      expect(await bytesOf('late')).toEqual(wav)
    })

    test('whose file another process has removed is 503, and can be sent again', async () => {
      const { ingest } = service.services
      const set = ingest.setRecording.bind(ingest)
      spyOn(ingest, 'setRecording').mockImplementationOnce(async (...args) => {
        await set(...args)
        for (const name of files('incoming')) rmSync(join(service.dataDir, 'recordings/incoming', name))
      })
      expect((await upload('removed', wav)).status).toBe(503)
      expect((await upload('removed', wav)).status).toBe(200)
      expect(await bytesOf('removed')).toEqual(wav)
    })

    test('whose length could not be read tells it once its waveform is drawn, and moves the feed', async () => {
      const probing = spyOn(AudioThreads.prototype, 'probe')
      probing.mockResolvedValueOnce({ durationSeconds: null, channels: null })
      expect(await (await upload('measured', wav)).json()).toMatchObject({ durationSeconds: null })
      const [before] = await feedOf('measured')
      await until(async () => (await recordingOf('measured')).durationSeconds === secondsOf(wav))
      expect((await feedOf('measured'))[0]).not.toEqual(before)
      probing.mockRestore()
    })

    test('of one project does not wait for the waveforms of all of another', async () => {
      await service.services.peaksBacklog.idle()
      const other = await service.mintProject()
      const drawn: number[] = []
      const isSent = Promise.withResolvers<void>()
      const drawing = spyOn(AudioThreads.prototype, 'peaks').mockImplementation(async (projectId) => {
        drawn.push(projectId)
        await isSent.promise
        return {
          peaks: new Uint8Array(),
          speech: 'format',
          length: { durationSeconds: null, channels: null },
        }
      })
      for (const id of ['turn-1', 'turn-2', 'turn-3', 'turn-4']) await upload(id, madeWav())
      await upload('turn', madeWav(), other)
      isSent.resolve()
      await until(() => drawn.length === 5)
      drawing.mockRestore()
      expect(drawn.indexOf(other.projectId)).toBeLessThanOrEqual(1)
    })

    test('has its waveform even if it is drawn before its file is moved', async () => {
      const { recordingFiles: files } = service.services
      if (!files) throw new Error('Nothing is kept')
      const keep = files.keep.bind(files)
      const keeping = spyOn(files, 'keep').mockImplementationOnce(async (name) => {
        const local = await files.local(name)
        await keep(name)
        expect(existsSync(local?.path ?? '')).toBe(true)
      })
      expect((await upload('raced', wav)).status).toBe(201)
      keeping.mockRestore()
      const { recordings } = service.services
      await until(async () => ((await recordings.peaks(project.projectId, 'raced'))?.length ?? 0) > 0)
    })

    test('by a key that is revoked meanwhile is 401, and nothing of it is kept', async () => {
      const own = await service.mintProject()
      const { keys } = service.services
      const key = await own.makeKey({ name: 'brief', kind: 'ingest' })
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(wav.subarray(0, 1_000))
          await Bun.sleep(100)
          await keys.revoke(own.projectId, key.id)
          controller.enqueue(wav.subarray(1_000))
          controller.close()
        },
      })
      const answer = await own.fetch('/ingest/calls/late/recording', {
        method: 'PUT',
        body,
        headers: { Authorization: `Bearer ${key.key}` },
      })
      await expectProblem(answer, 'invalid_api_key', 'Invalid API key')
      expect((await own.fetch('/v1/calls/late')).status).toBe(404)
    })

    test('of several recordings of one call at once keeps one of them, and no file of the others', async () => {
      for (const id of ['at-once-1', 'at-once-2', 'at-once-3']) {
        const answers = await Promise.all([1, 2, 3].map(() => upload(id, madeWav())))
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201])
      }
      await until(async () => files().length === (await rows()))
    })

    test('of two recordings of a call on hold at once keeps the first', async () => {
      for (const id of ['held-1', 'held-2', 'held-3']) {
        await project.fetch(`/ingest/calls/${id}`, { method: 'PUT', body: '{}', headers: json })
        await service.services.holds.set(project.projectId, { callId: id, reason: 'A case' })
        const answers = await Promise.all([1, 2].map(() => upload(id, madeWav())))
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
      }
    })

    test.each([
      ['WAV', 'RIFF....WAVE', 'audio/wav'],
      ['MP3 with a tag', 'ID3\x04', 'audio/mpeg'],
      ['MP3', '\xff\xfb\x90\x64', 'audio/mpeg'],
      ['Ogg', 'OggS\0', 'audio/ogg'],
      ['MP4', '\0\0\0\x20ftypM4A ', 'audio/mp4'],
      ['WebM', '\x1a\x45\xdf\xa3', 'audio/webm'],
      ['FLAC', 'fLaC\0', 'audio/flac'],
    ])('of %s is recognised by its bytes', async (name, start, contentType) => {
      const file = Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(100)])
      const id = `of-${name.replaceAll(' ', '-')}`
      expect(await (await upload(id, file)).json()).toMatchObject({ contentType, bytes: file.length })
      const answer = await project.fetch(`/v1/calls/${id}/recording`)
      expect(answer.headers.get('content-type')).toBe(contentType)
    })

    test.each([
      ['a web page', Buffer.from('<!doctype html><p>Expired'), 415, 'Unsupported media type'],
      ['JSON', Buffer.from('{"error":"gone"}'), 415, 'Unsupported media type'],
      ['too few bytes', Buffer.from('RIF'), 415, 'Unsupported media type'],
      ['nothing', Buffer.alloc(0), 400, 'Invalid request'],
      ['too much', madeWav(recordingBytesMax + 1), 413, 'Payload too large'],
    ])('of %s is refused, and nothing of it is kept', async (_, body, status, title) => {
      const answer = await upload('refused', body)
      expect([answer.status, (await answer.json()).title]).toEqual([status, title])
      expect((await project.fetch('/v1/calls/refused')).status).toBe(404)
      expect(files('incoming')).toEqual([])
    })

    test('that is longer than it says, and tells no length, is refused while it arrives', async () => {
      const parts = [madeWav(2_000_000), Buffer.alloc(2_000_000)]
      const body = new ReadableStream({
        pull(controller) {
          const part = parts.shift()
          if (part) controller.enqueue(part)
          else controller.close()
        },
      })
      const answer = await project.fetch('/ingest/calls/streamed/recording', { method: 'PUT', body })
      await expectProblem(answer, 'payload_too_large')
      expect(files('incoming')).toEqual([])
    })

    test('for a deleted call is 410', async () => {
      await upload('gone', wav)
      await project.fetch('/v1/calls/gone', { method: 'DELETE' })
      await expectProblem(await upload('gone', wav), 'call_was_deleted', 'Call was deleted')
    })

    test('for a malformed id is 400, and with the wrong kind of key 401', async () => {
      await expectProblem(await upload('a%20b', wav), 'invalid_request')
      const headers = { Authorization: `Bearer ${project.key}` }
      const answer = await fetch(`${service.url}/ingest/calls/a/recording`, {
        method: 'PUT',
        body: wav,
        headers,
      })
      await expectProblem(answer, 'invalid_api_key_format', 'Invalid API key format')
    })

    test('is 403 in a project that redacts, unless it keeps recordings', async () => {
      const redacting = await service.mintProject()
      const change = (settings: object) => service.services.settings.change(redacting.projectId, settings)
      await change({ redact: ['phone'] })
      await expectProblem(await upload('r', wav, redacting), 'forbidden')
      await change({ recordings: 'keep' })
      expect((await upload('r', wav, redacting)).status).toBe(201)
    })

    test('is 409 in place of another one while the call is on hold, and 200 if it is the same', async () => {
      await upload('held', wav)
      await service.services.holds.set(project.projectId, { callId: 'held', reason: 'A case' })
      await expectProblem(await upload('held', madeWav()), 'call_on_hold')
      expect((await upload('held', wav)).status).toBe(200)
      await expectProblem(await remove('held'), 'call_on_hold')
      expect(await bytesOf('held')).toEqual(wav)
    })
  })

  describe('a download', () => {
    const long = madeWav(2_500_000)
    beforeAll(() => upload('played', long))

    test('is the recording, with its headers', async () => {
      const answer = await project.fetch('/v1/calls/played/recording')
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'audio/wav',
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-cache',
        'content-disposition': 'inline; filename="played.wav"',
        'x-content-type-options': 'nosniff',
        etag: `"${sha256(long).slice(0, 32)}"`,
      })
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(long)
    })

    test('ends when the recording is deleted, or the key of its link is revoked', async () => {
      const { recordings, keys } = service.services
      const own = await service.mintProject()
      await upload('slow', long, own)
      const { keyId } = own
      const { token } = await recordings.link(own.projectId, 'slow', { keyId })
      const [first, second] = [
        await recordings.openLink(token, () => undefined),
        await recordings.open(own.projectId, 'slow'),
      ]
      const parts = second.read(0, second.bytes)
      await parts.next()
      await recordings.checkLink(token)
      await keys.revoke(own.projectId, keyId)
      await expect(recordings.checkLink(token)).rejects.toThrow('There is no recording here')
      await recordings.delete(own.projectId, 'slow')
      await expect(parts.next()).rejects.toThrow('There is no recording here')
      await first.close()
    })

    test('of many at once lets others have a turn after each part', async () => {
      const { recordings, recordingFiles } = service.services
      if (!recordingFiles) throw new Error('Nothing is kept')
      const stored = readFileSync(join(service.dataDir, 'recordings', (await rowOf('played')).file))
      const read = async (position: number, length: number) => stored.subarray(position, position + length)
      const bytes = async () => stored.length
      const inMemory = async () => ({ bytes, read, close: async () => undefined })
      const opening = spyOn(recordingFiles, 'open').mockImplementation(inMemory)
      let turns = 0
      const count = () => {
        turns++
        if (turns < 1_000) setImmediate(count)
      }
      const players = await Promise.all(
        Array.from({ length: 20 }, () => recordings.open(project.projectId, 'played')),
      )
      opening.mockRestore()
      setImmediate(count)
      await Promise.all(players.map((player) => player.read(0, player.bytes).next()))
      expect(turns).toBeGreaterThanOrEqual(players.length - 1)
    })

    test('of a range has those bytes alone, across frames and at both ends', async () => {
      for (const [range, start, end] of [
        ['bytes=0-0', 0, 1],
        ['bytes=65535-65536', 65_535, 65_537],
        ['bytes=60000-200000', 60_000, 200_001],
        ['bytes=2499999-', 2_499_999, 2_500_000],
        ['bytes=-5', 2_499_995, 2_500_000],
        ['bytes=-9999999', 0, 2_500_000],
        ['bytes=5-99999999', 5, 2_500_000],
        ['bytes=0-', 0, 2_500_000],
      ] as const) {
        const answer = await project.fetch('/v1/calls/played/recording', { headers: { Range: range } })
        expect([answer.status, answer.headers.get('content-range')]).toEqual([
          206,
          `bytes ${start}-${end - 1}/2500000`,
        ])
        expect(Buffer.from(await answer.arrayBuffer()).equals(long.subarray(start, end))).toBe(true)
      }
    })

    test('of a range after the end is 416, and of several or none that can be read the whole', async () => {
      const ask = (range: string) =>
        project.fetch('/v1/calls/played/recording', { headers: { Range: range } })
      for (const range of ['bytes=2500000-', 'bytes=-0']) {
        const answer = await ask(range)
        expect(answer.headers.get('content-range')).toBe('bytes */2500000')
        await expectProblem(answer, 'range_not_satisfiable', 'Range not satisfiable')
      }
      for (const range of ['bytes=0-1,5-6', 'bytes=9-3', 'bytes=a-', 'items=0-1', 'bytes=-'])
        expect((await ask(range)).status).toBe(200)
    })

    test('answers If-None-Match with 304 and If-Range with the range or the whole', async () => {
      const tag =
        (await project.fetch('/v1/calls/played/recording', { method: 'HEAD' })).headers.get('etag') ?? ''
      const ask = (headers: Record<string, string>) =>
        project.fetch('/v1/calls/played/recording', { headers })
      expect((await ask({ 'If-None-Match': tag })).status).toBe(304)
      expect((await ask({ 'If-Range': tag, Range: 'bytes=0-9' })).status).toBe(206)
      expect((await ask({ 'If-Range': '"other"', Range: 'bytes=0-9' })).status).toBe(200)
    })

    test('by HEAD has the length and no body, also of a range', async () => {
      const head = await project.fetch('/v1/calls/played/recording', { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
        200,
        '2500000',
        '',
      ])
      const headers = { Range: 'bytes=10-19' }
      const part = await project.fetch('/v1/calls/played/recording', { method: 'HEAD', headers })
      expect([part.status, part.headers.get('content-length')]).toEqual([206, '10'])
    })

    test('is 404 for a call without one, and for an unknown call as everywhere', async () => {
      await project.send('PUT', '/ingest/calls/silent', {})
      await expectProblem(
        await project.fetch('/v1/calls/silent/recording'),
        'not_found',
        'Recording not found',
      )
      await expectProblem(await project.fetch('/v1/calls/unknown/recording'), 'not_found', 'Call not found')
      const other = await service.mintProject()
      await expectProblem(await other.fetch('/v1/calls/played/recording'), 'not_found', 'Call not found')
      await expectProblem(
        await other.fetch('/v1/calls/played/recording', { method: 'DELETE' }),
        'not_found',
        'Call not found',
      )
    })

    test('of a file that was changed on the disk breaks off, and its bytes are never sent', async () => {
      await upload('damaged', wav)
      const { file } = await rowOf('damaged')
      const path = join(service.dataDir, 'recordings', file)
      const bytes = readFileSync(path)
      bytes[100] = (bytes[100] ?? 0) ^ 1
      await Bun.write(path, bytes)
      const answer = await project.fetch('/v1/calls/damaged/recording')
      const { detail } = await expectProblem(answer, 'unavailable')
      expect(detail).toContain('file is damaged')
    })

    test('of a file that was cut is 503, doctor tells it, and the same recording again brings it back', async () => {
      const own = await service.mintProject()
      await upload('cut', long, own)
      const { file } = await rowOf('cut', own)
      const path = join(service.dataDir, 'recordings', file)
      truncateSync(path, 100_000)
      await expectProblem(await own.fetch('/v1/calls/cut/recording'), 'unavailable')
      const { out } = await new CommandLine(service.dataDir).run(['doctor'])
      expect(out).toContain('1 file in')
      expect(out).toContain('another length than they had')
      expect((await upload('cut', long, own)).status).toBe(200)
      expect(await (await own.fetch('/v1/calls/cut/recording')).bytes()).toEqual(new Uint8Array(long))
    })
  })

  describe('a link', () => {
    const make = async (id: string, body: object = {}, of = project) =>
      await (await of.send('POST', `/v1/calls/${id}/recording/links`, body)).json()

    test('plays without a key, with ranges, and no log shows it', async () => {
      await upload('linked', wav)
      const { url, expiresAt } = await make('linked', { expiresInSeconds: 60 })
      expect(Date.parse(expiresAt) - Date.now()).toBeWithin(50_000, 61_000)
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(wav)
      const part = await fetch(url, { headers: { Range: 'bytes=1-4' } })
      expect([part.status, part.headers.get('cross-origin-resource-policy')]).toEqual([206, 'cross-origin'])
      expect(JSON.stringify(service.logs)).not.toContain(url.slice(-40))
    })

    test('is void once it is over, changed, its recording replaced or deleted, or its key revoked', async () => {
      await upload('void', wav)
      const { url } = await make('void')
      const isVoid = async (link: string) => (await fetch(link)).status === 404
      expect(await isVoid(url)).toBe(false)
      expect(await isVoid(`${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`)).toBe(true)
      expect(await isVoid(`${service.url}/recordings/x`)).toBe(true)
      await upload('void', madeWav())
      expect(await isVoid(url)).toBe(true)
      const { url: next } = await make('void')
      await remove('void')
      expect(await isVoid(next)).toBe(true)
      const other = await service.mintProject()
      await upload('v', wav, other)
      const { url: last } = await make('v', {}, other)
      await service.services.keys.revoke(other.projectId, other.keyId)
      expect(await isVoid(last)).toBe(true)
    })

    test('of too short or too long a time is 400', async () => {
      for (const expiresInSeconds of [59, 86_401, 1.5, '60'])
        await expectProblem(
          await project.send('POST', '/v1/calls/linked/recording/links', { expiresInSeconds }),
          'invalid_request',
        )
    })
  })

  describe('a deletion', () => {
    test('of the recording keeps the call, says so in its details, and leaves no file and no key', async () => {
      await upload('deleted', wav)
      const { file, key } = await rowOf('deleted')
      expect(await (await remove('deleted')).json()).toEqual({ id: 'deleted', deleted: true })
      expect((await recordingOf('deleted')).state).toBe('none')
      await expectProblem(await remove('deleted'), 'not_found', 'Recording not found')
      await until(() => !files().includes(file))
      await until(() => !holds(Buffer.from(key)))
      expect((await project.fetch('/v1/calls/deleted')).status).toBe(200)
    })

    test('of the call takes the recording, and so does that of the project', async () => {
      await upload('with-call', wav)
      const { file, key } = await rowOf('with-call')
      await project.fetch('/v1/calls/with-call', { method: 'DELETE' })
      await until(() => !files().includes(file) && !holds(Buffer.from(key)))
      const other = await service.mintProject()
      await upload('a', wav, other)
      const row = await rowOf('a', other)
      await service.services.projects.delete(other.projectId)
      await until(() => !files().includes(row.file) && !holds(Buffer.from(row.key)))
    })
  })

  test('calls are found by the state of their recording', async () => {
    const own = await service.mintProject()
    await upload('kept', wav, own)
    await own.send('PUT', '/ingest/calls/none', {})
    const find = async (query: string) => {
      const { data } = await (await own.fetch(`/v1/calls?${query}`)).json()
      return data.map(({ id }: { id: string }) => id)
    }
    expect(await find('recording=kept')).toEqual(['kept'])
    expect(await find('recording=none')).toEqual(['none'])
    expect(await find('recording=none,kept&order=createdAt')).toEqual(['kept', 'none'])
    expect(await find('recording=failed,waiting,expired')).toEqual([])
    await expectProblem(await own.fetch('/v1/calls?recording=lost'), 'invalid_request')
  })
})

function upload(id: string, body: Buffer<ArrayBuffer>, of = project): Promise<Response> {
  return of.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
}

function remove(id: string): Promise<Response> {
  return project.fetch(`/v1/calls/${id}/recording`, { method: 'DELETE' })
}

async function bytesOf(id: string): Promise<Buffer<ArrayBuffer>> {
  return Buffer.from(await (await project.fetch(`/v1/calls/${id}/recording`)).arrayBuffer())
}

async function recordingOf(id: string) {
  return (await (await project.fetch(`/v1/calls/${id}/details`)).json()).recording
}

async function feedOf(id: string): Promise<unknown[]> {
  const { data } = await (await project.fetch('/v1/changes?limit=1000&include=none')).json()
  const { ref } = await (await project.fetch(`/v1/changes?limit=1000`))
    .json()
    .then(({ data }) => data.find(({ call }: { call?: { id: string } }) => call?.id === id))
  return data.filter((change: { ref: string }) => change.ref === ref)
}

async function rowOf(id: string, { projectId } = project): Promise<{ file: string; key: Uint8Array }> {
  const [row] = await service.services.database.read.all<{ file: string; key: ArrayBuffer }>(sql`
    select file, key from recordings join calls using (seq) where calls.project_id = ${projectId} and id = ${id}`)
  if (!row) throw new Error('There is no recording')
  return { file: row.file, key: new Uint8Array(row.key) }
}

async function rows(): Promise<number> {
  const [row] = await service.services.database.read.all<{ n: number }>(
    sql`select count(*) as n from recordings`,
  )
  return row?.n ?? 0
}

function files(folder = '.'): string[] {
  return readdirSync(join(service.dataDir, 'recordings', folder)).filter((name) => name !== 'incoming')
}

/** Whether any file of the database holds these bytes. */
function holds(bytes: Buffer): boolean {
  return readdirSync(service.dataDir)
    .filter((name) => name.startsWith('callbook.db'))
    .some((name) => readFileSync(join(service.dataDir, name)).includes(bytes))
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
