import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { WebhookPlatform } from '../../../src/sources/catalog.ts'
import { addSource } from '../../sources/deliver.ts'
import { freshFolder } from '../../support/at-end.ts'
import { startConsole } from '../../support/console.ts'
import { spawnService } from '../../support/process.ts'
import { madeWav } from '../../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { until } from '../../support/until.ts'
import {
  bytes,
  cutOff,
  type FakeStorage,
  json,
  redirect,
  stalled,
  startStorage,
  status,
} from './fake-storage.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const apiKey = 'sk_of_the_account'
const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', RECORDING_MAX_BYTES: '1000000', ERASE_WITHIN_MS: '400' }
const wav = madeWav()
let service: TestService
/** The platform's API, and where the recordings are. */
let api: FakeStorage
let storage: FakeStorage
let aheadMs = 0
const later = (ms: number) => {
  aheadMs += ms
}

interface Told {
  state: string
  reason: string | null
  bytes: number | null
}

async function keepingProject(): Promise<TestProject> {
  const project = await service.mintProject()
  await service.services.settings.change(project.projectId, { recordings: 'keep' })
  return project
}

async function told(project: TestProject, id: string): Promise<Told> {
  return (await (await project.fetch(`/v1/calls/${id}/details`)).json()).recording
}

async function becomes(project: TestProject, id: string, state: string): Promise<Told> {
  await until(async () => (await told(project, id))?.state === state)
  return await told(project, id)
}

async function soundOf(project: TestProject, id: string): Promise<Buffer> {
  return Buffer.from(await (await project.fetch(`/v1/calls/${id}/recording`)).arrayBuffer())
}

async function put(project: TestProject, id: string, recordingUrl: string): Promise<void> {
  const answer = await project.send('PUT', `/ingest/calls/${id}`, {
    status: 'completed',
    details: { recordingUrl },
  })
  expect(answer.status).toBeLessThan(300)
}

async function rows(project: TestProject) {
  return await service.services.database.read.all<{
    url: Uint8Array | null
    due: number | null
    attempts: number
  }>(sql`select url, due_at as due, attempts from recording_fetches where project_id = ${project.projectId}`)
}

function incoming(): string[] {
  const folder = join(service.dataDir, 'recordings', 'incoming')
  return existsSync(folder) ? readdirSync(folder) : []
}

describe.skipIf(ofFilesOnly)('fetching', () => {
  beforeAll(async () => {
    api = await startStorage()
    storage = await startStorage()
    service = await startService({ env, now: () => Date.now() + aheadMs })
  })
  // Platforms sign the time.
  beforeEach(() => {
    aheadMs = 0
  })

  /** An event of each platform that names a recording, and how its API is asked. */
  const platforms: Record<
    string,
    { event: (url: string) => object; path: string; header: string; answers?: 'address' }
  > = {
    vapi: {
      event: (url) => ({
        message: {
          type: 'end-of-call-report',
          call: { id: 'vapi-1' },
          artifact: {
            presignedStereoUrl: url,
            stereoRecordingUrl: 'https://storage.example.com/private.wav',
            presignedUrlsExpiresAt: new Date(Date.now() + aheadMs + 30 * minuteMs).toISOString(),
          },
        },
      }),
      path: '/call/vapi-1/stereo-recording',
      header: 'authorization',
    },
    retell: {
      event: (url) => ({
        event: 'call_ended',
        call: {
          call_id: 'retell-1',
          recording_url: 'https://storage.example.com/mono.wav',
          recording_multi_channel_url: url,
        },
      }),
      path: '/v2/get-call/retell-1',
      header: 'authorization',
      answers: 'address',
    },
    elevenlabs: {
      event: () => ({
        type: 'post_call_transcription',
        data: { conversation_id: 'elevenlabs-1', transcript: [], has_audio: true },
      }),
      path: '/v1/convai/conversations/elevenlabs-1/audio',
      header: 'xi-api-key',
    },
    bland: {
      event: (url) => ({ call_id: 'bland-1', completed: true, recording_url: url }),
      path: '/v1/calls/bland-1/recording',
      header: 'authorization',
    },
    telnyx: {
      event: (url) => ({
        data: {
          event_type: 'call.recording.saved',
          payload: {
            call_leg_id: 'telnyx-1',
            recording_id: 'rec-1',
            recording_urls: { mp3: 'https://storage.example.com/a.mp3', wav: url },
          },
        },
      }),
      path: '/v2/recordings/rec-1',
      header: 'authorization',
      answers: 'address',
    },
    ultravox: {
      event: () => ({
        event: 'call.ended',
        call: {
          callId: 'ultravox-1',
          created: '2026-01-31T09:00:00Z',
          joined: '2026-01-31T09:00:01Z',
          ended: '2026-01-31T09:01:00Z',
        },
      }),
      path: '/api/calls/ultravox-1/recording',
      header: 'x-api-key',
    },
    cartesia: {
      event: () => ({ type: 'call_completed', call_id: 'cartesia-1', call: {} }),
      path: '/agents/calls/cartesia-1/audio',
      header: 'authorization',
    },
    synthflow: {
      event: (url) => ({ call: { call_id: 'synthflow-1', duration: 60, recording_url: url } }),
      path: '/v2/calls/synthflow-1/recording',
      header: 'authorization',
    },
  }
  const names = Object.keys(platforms) as (WebhookPlatform & keyof typeof platforms)[]
  /** Those whose API alone has the recording. */
  const withoutAddress: readonly (typeof names)[number][] = ['elevenlabs', 'ultravox', 'cartesia']

  describe('of each platform', () => {
    test.each(names.filter((name) => !withoutAddress.includes(name)))(
      '%s: the address in the event is fetched without a key',
      async (name) => {
        const project = await keepingProject()
        const source = await addSource(service, project, name)
        storage.answer(`/${name}`, bytes(wav, 'text/html'))
        const event = platforms[name]?.event(
          `${storage.origin}/${name}?X-Amz-Signature=secret-of-the-address`,
        )
        expect((await source.send(event ?? {})).status).toBe(200)
        await becomes(project, `${name}-1`, 'kept')
        expect(await soundOf(project, `${name}-1`)).toEqual(wav)
        expect(await rows(project)).toEqual([])
        expect(JSON.stringify(service.logs)).not.toContain('secret-of-the-address')
        expect(await (await project.fetch(`/v1/calls/${name}-1/details`)).text()).not.toContain('secret-of')
      },
    )

    test.each(names)('%s: else its API is asked with the key of the source', async (name) => {
      const { event, path, header, answers } = platforms[name] ?? { event: () => ({}), path: '', header: '' }
      const project = await keepingProject()
      const source = await addSource(service, project, name, { apiKey, host: api.origin })
      storage.answer(`/gone/${name}`, status(403))
      storage.answer(`/of/${name}`, wav)
      const address = `${storage.origin}/of/${name}`
      const told =
        name === 'retell' ? { recording_url: address } : { data: { download_urls: { wav: address } } }
      api.answer(path, answers === 'address' ? json(told) : redirect(address))
      await source.send(event(`${storage.origin}/gone/${name}`))
      await becomes(project, `${name}-1`, 'kept')
      expect(await soundOf(project, `${name}-1`)).toEqual(wav)
      const [asked] = api.requests(path)
      expect(asked?.headers[header]).toMatch(new RegExp(`^(Bearer )?${apiKey}$`))
      const [fetched] = storage.requests(`/of/${name}`)
      expect(JSON.stringify(fetched?.headers)).not.toContain(apiKey)
    })

    test.each(withoutAddress)('%s: the API may answer with the recording itself', async (name) => {
      const { event, path } = platforms[name] ?? { event: () => ({}), path: '' }
      const project = await keepingProject()
      const source = await addSource(service, project, name, { apiKey, host: api.origin })
      api.answer(path, wav)
      await source.send(event(''))
      await becomes(project, `${name}-1`, 'kept')
    })

    test('without a key, a recording that only the API has fails in words, and is there once the key is', async () => {
      const project = await keepingProject()
      const source = await addSource(service, project, 'elevenlabs', {})
      api.answer('/v1/convai/conversations/elevenlabs-1/audio', wav)
      await source.send(platforms.elevenlabs?.event('') ?? {})
      const { reason } = await becomes(project, 'elevenlabs-1', 'failed')
      expect(reason).toBe('The source has no API key of ElevenLabs. Save one, then try again.')
      await service.services.sources.change(project.projectId, source.id, {
        options: { apiKey, host: api.origin },
      })
      expect(await service.services.fetchQueue.tryAgain(project.projectId)).toEqual({ queued: 1 })
      await becomes(project, 'elevenlabs-1', 'kept')
    })

    test('an event that names no recording queues none', async () => {
      const project = await keepingProject()
      const bland = await addSource(service, project, 'bland')
      await bland.send({ call_id: 'none', completed: true, recording_url: null })
      const ultravox = await addSource(service, project, 'ultravox')
      await ultravox.send(platforms.ultravox?.event('') ?? {})
      expect((await told(project, 'none')).state).toBe('none')
      expect(await rows(project)).toEqual([])
    })
  })

  describe('what is queued', () => {
    test('nothing while the project does not keep recordings', async () => {
      const project = await service.mintProject()
      const source = await addSource(service, project, 'bland')
      await source.send({ call_id: 'off', completed: true, recording_url: `${storage.origin}/off` })
      await put(project, 'off-2', `${storage.origin}/off`)
      expect([(await told(project, 'off')).state, (await told(project, 'off-2')).state]).toEqual([
        'none',
        'none',
      ])
      expect(storage.requests('/off')).toEqual([])
    })

    test('what a request or a line names; an import queues nothing', async () => {
      const project = await keepingProject()
      storage.answer('/named', wav)
      await put(project, 'put', `${storage.origin}/named`)
      const line = (id: string) => ({
        id,
        status: 'completed',
        details: { recordingUrl: `${storage.origin}/named` },
      })
      const answer = await project.fetch('/ingest/calls', {
        method: 'POST',
        body: `${JSON.stringify(line('line'))}\n`,
        headers: { 'content-type': 'application/x-ndjson' },
      })
      expect(await answer.json()).toEqual({ id: 'line', status: 201 })
      const { id, ...change } = { ...line('imported'), status: 'completed' as const }
      await service.services.ingest.putAll(project.projectId, [{ id, change, isImport: true }])
      await becomes(project, 'put', 'kept')
      await becomes(project, 'line', 'kept')
      expect((await told(project, 'imported')).state).toBe('none')
    })

    test('nothing for a recording that is kept, or was deleted', async () => {
      const project = await keepingProject()
      storage.answer('/once', wav)
      await put(project, 'once', `${storage.origin}/once`)
      await becomes(project, 'once', 'kept')
      await put(project, 'once', `${storage.origin}/once`)
      expect(await rows(project)).toEqual([])
      await project.fetch('/v1/calls/once/recording', { method: 'DELETE' })
      await put(project, 'once', `${storage.origin}/once`)
      expect((await told(project, 'once')).state).toBe('none')
      expect(storage.requests('/once')).toHaveLength(1)
    })

    test('is encrypted while it waits, renewed by a repeated event, and gone with the call', async () => {
      const project = await keepingProject()
      const source = await addSource(service, project, 'bland')
      storage.answer('/old', status(403))
      storage.answer('/new', wav)
      const event = (path: string) => ({
        call_id: 'again',
        completed: true,
        recording_url: `${storage.origin}${path}`,
      })
      await source.send(event('/old'))
      await until(async () => (await rows(project))[0]?.attempts === 1)
      const [waits] = await rows(project)
      expect(waits?.url && Buffer.from(waits.url).includes('/old')).toBe(false)
      expect((await told(project, 'again')).reason).toBe('127.0.0.1 denies access to the recording (403).')
      await source.send(event('/new'))
      expect((await rows(project))[0]?.attempts).toBe(1)
      later(minuteMs)
      await becomes(project, 'again', 'kept')
      storage.answer('/deleted', status(404))
      await source.send({ ...event('/deleted'), call_id: 'deleted' })
      await until(async () => (await rows(project)).length === 1)
      await project.fetch('/v1/calls/deleted', { method: 'DELETE' })
      expect(await rows(project)).toEqual([])
    })
  })

  describe('what is tried again', () => {
    test('a recording that is stored a minute late', async () => {
      const project = await keepingProject()
      await put(project, 'late', `${storage.origin}/late`)
      await until(() => storage.requests('/late').length === 1)
      storage.answer('/late', wav)
      later(minuteMs)
      await becomes(project, 'late', 'kept')
    })

    test.each([403, 404])('%d for an hour, then no more', async (code) => {
      const project = await keepingProject()
      storage.answer(`/hour-${code}`, status(code))
      await put(project, 'hour', `${storage.origin}/hour-${code}`)
      await until(async () => (await rows(project))[0]?.attempts === 1)
      later(59 * minuteMs)
      await until(async () => (await rows(project))[0]?.attempts === 2)
      expect((await told(project, 'hour')).state).toBe('waiting')
      later(2 * minuteMs)
      const { reason } = await becomes(project, 'hour', 'failed')
      expect(reason).toEndWith(`(${code}). Tried for an hour.`)
    })

    test.each([
      ['500', status(500), 'has an error of its own (500).'],
      [
        'a connection that breaks off',
        cutOff(wav, { tellsLength: true }),
        'broke off before the recording was whole.',
      ],
      [
        'one that tells no length',
        cutOff(wav, { tellsLength: false }),
        'broke off before the recording was whole.',
      ],
    ])('%s for a day, then no more', async (name, answer, words) => {
      const project = await keepingProject()
      const path = `/day-${encodeURIComponent(name)}`
      storage.answer(path, answer)
      await put(project, 'day', storage.origin + path)
      await until(async () => (await rows(project))[0]?.attempts === 1)
      expect(await told(project, 'day')).toMatchObject({ state: 'waiting', reason: `127.0.0.1 ${words}` })
      later(23 * hourMs)
      await until(async () => (await rows(project))[0]?.attempts === 2)
      later(2 * hourMs)
      expect((await becomes(project, 'day', 'failed')).reason).toBe(`127.0.0.1 ${words} Tried for a day.`)
      expect(incoming()).toEqual([])
    })

    test('429 not before the time that it names', async () => {
      const project = await keepingProject()
      storage.answer('/busy', status(429, { 'retry-after': '600' }))
      await put(project, 'busy', `${storage.origin}/busy`)
      await until(async () => (await rows(project))[0]?.attempts === 1)
      storage.answer('/busy', wav)
      later(9 * minuteMs)
      await Bun.sleep(1_500)
      expect(storage.requests('/busy')).toHaveLength(1)
      later(2 * minuteMs)
      await becomes(project, 'busy', 'kept')
    })

    test('an address that has expired is forgotten, and then only the API is asked', async () => {
      const project = await keepingProject()
      const source = await addSource(service, project, 'vapi', { apiKey, host: api.origin })
      const path = '/call/vapi-1/stereo-recording'
      storage.answer('/expires', status(403))
      api.answer(path, status(404))
      await source.send(platforms.vapi?.event(`${storage.origin}/expires`) ?? {})
      await until(async () => (await rows(project))[0]?.attempts === 1)
      later(31 * minuteMs)
      await until(async () => (await rows(project))[0]?.attempts === 2)
      expect(storage.requests('/expires')).toHaveLength(1)
      expect((await rows(project))[0]?.url).toBeNull()
      api.answer(path, wav)
      later(20 * minuteMs)
      await becomes(project, 'vapi-1', 'kept')
    })
  })

  describe('what fails at once', () => {
    test.each([
      [
        'a page instead of a recording',
        bytes(Buffer.from('<!doctype html><p>Expired'), 'audio/wav'),
        '127.0.0.1 sends something that is not a recording.',
      ],
      ['an empty file', bytes(Buffer.alloc(0)), '127.0.0.1 sends an empty file.'],
      [
        'one that is too large',
        bytes(madeWav(1_000_001)),
        'The recording has more than 1000000 bytes (RECORDING_MAX_BYTES).',
      ],
      ['410', status(410), '127.0.0.1 answers with status 410.'],
      ['401 without a key', status(401), '127.0.0.1 wants a key for this recording (401).'],
      [
        'a redirect to a private address',
        redirect('https://10.0.0.1/metadata'),
        'The address is not public, so nothing is fetched from it.',
      ],
      [
        'a redirect to an address that is not listed',
        redirect('http://127.0.0.2/metadata'),
        'The address is not public, so nothing is fetched from it.',
      ],
      [
        'a redirect to a name of this machine',
        redirect('http://[::1]/metadata'),
        'The address is not public, so nothing is fetched from it.',
      ],
      [
        'a redirect to no web address',
        redirect('file:///etc/passwd'),
        'The address of the recording is not a web address.',
      ],
      ['a redirect without an address', status(302), 'The address of the recording is not a web address.'],
    ])('%s', async (name, answer, words) => {
      const project = await keepingProject()
      const path = `/fails-${encodeURIComponent(name)}`
      storage.answer(path, answer)
      await put(project, 'fails', storage.origin + path)
      expect(await becomes(project, 'fails', 'failed')).toEqual({
        state: 'failed',
        reason: words,
        contentType: null,
        bytes: null,
        durationSeconds: null,
        channels: null,
        keptAt: null,
        mutedSeconds: null,
        muted: null,
      } as Told)
      expect(storage.requests(path)).toHaveLength(1)
      expect(incoming()).toEqual([])
      expect(await rows(project)).toMatchObject([{ url: null, due: null }])
    })

    test('one that is too large and does not tell its length', async () => {
      const project = await keepingProject()
      storage.answer('/chunked', (response) => {
        response.writeHead(200)
        response.write(madeWav(900_000))
        response.end(Buffer.alloc(900_000))
      })
      await put(project, 'chunked', `${storage.origin}/chunked`)
      expect((await becomes(project, 'chunked', 'failed')).reason).toContain('RECORDING_MAX_BYTES')
      expect(incoming()).toEqual([])
    })

    test('a loop of redirects', async () => {
      const project = await keepingProject()
      storage.answer('/loop', redirect('/loop'))
      await put(project, 'loop', `${storage.origin}/loop`)
      const { reason } = await becomes(project, 'loop', 'failed')
      expect(reason).toBe('The recording is behind more than 3 redirects.')
      expect(storage.requests('/loop')).toHaveLength(4)
    })

    test('a key that the platform refuses; a new one is enough to try again', async () => {
      const project = await keepingProject()
      const source = await addSource(service, project, 'ultravox', { apiKey: 'wrong', host: api.origin })
      api.answer('/api/calls/ultravox-1/recording', (response, request) =>
        (request.headers['x-api-key'] === apiKey ? bytes(wav) : status(401))(response, request),
      )
      await source.send(platforms.ultravox?.event('') ?? {})
      const { reason } = await becomes(project, 'ultravox-1', 'failed')
      expect(reason).toBe('Ultravox refuses the API key (401).')
      await service.services.sources.change(project.projectId, source.id, { options: { apiKey } })
      expect(await service.services.fetchQueue.tryAgain(project.projectId, 'ultravox-1')).toEqual({
        queued: 1,
      })
      await becomes(project, 'ultravox-1', 'kept')
    })
  })

  test('the recording that somebody sends meanwhile stays', async () => {
    const project = await keepingProject()
    let answerNow = () => {}
    storage.answer('/meanwhile', (response) => {
      answerNow = () => response.writeHead(200).end(wav)
    })
    await put(project, 'meanwhile', `${storage.origin}/meanwhile`)
    await until(() => storage.requests('/meanwhile').length === 1)
    const own = madeWav(5_000)
    await project.fetch('/ingest/calls/meanwhile/recording', { method: 'PUT', body: own })
    answerNow()
    await until(() => incoming().length === 0)
    await Bun.sleep(300)
    expect(await soundOf(project, 'meanwhile')).toEqual(own)
    expect((await told(project, 'meanwhile')).state).toBe('kept')
  })

  test('two of a project are fetched at once, and another project does not wait for them', async () => {
    const [many, one] = [await keepingProject(), await keepingProject()]
    const waiting: (() => void)[] = []
    for (let each = 0; each < 6; each++) {
      storage.answer(`/many-${each}`, (response) => {
        waiting.push(() => response.end(wav))
      })
      await put(many, `many-${each}`, `${storage.origin}/many-${each}`)
    }
    await until(() => waiting.length === 2)
    storage.answer('/one', wav)
    await put(one, 'one', `${storage.origin}/one`)
    // Those that arrive slowly would be given up after 30 s or more.
    await becomes(one, 'one', 'kept')
    expect(waiting.length).toBe(2)
    for (let each = 0; each < 6; each++) {
      await until(() => waiting.length > each)
      waiting[each]?.()
    }
    for (let each = 0; each < 6; each++) await becomes(many, `many-${each}`, 'kept')
  })

  test('members try again in the console; those who only see cannot', async () => {
    const set = await startConsole(service)
    const project = await set.mintProject()
    await service.services.settings.change(project.projectId, { recordings: 'keep' })
    storage.answer('/again', status(410))
    await put(project, 'again', `${storage.origin}/again`)
    await becomes(project, 'again', 'failed')
    storage.answer('/again', wav)
    const path = `/projects/${project.id}/calls/again/recording/fetch`
    const [member, viewer] = [await set.join(project, 'member'), await set.join(project, 'viewer')]
    expect((await set.nobody.send('POST', path, {})).status).toBe(401)
    expect((await viewer.send('POST', path, {})).status).toBe(403)
    expect((await member.send('POST', path, {})).status).toBe(200)
    await becomes(project, 'again', 'kept')
    expect((await member.send('POST', path, {})).status).toBe(404)
  })

  test('the key of a source is never shown', async () => {
    const project = await service.mintProject()
    const { sources } = service.services
    const made = await sources.create(project.projectId, {
      platform: 'vapi',
      options: { apiKey, host: 'api.eu.vapi.ai' },
    })
    expect(made).toMatchObject({ hasApiKey: true, options: { host: 'api.eu.vapi.ai' } })
    const shown = JSON.stringify([made, await sources.list(project.projectId), service.logs])
    expect(shown).not.toContain(apiKey)
    expect(
      sources.change(project.projectId, made.id, { options: { host: 'https://api.example.com/path' } }),
    ).rejects.toThrow()
    expect(sources.change(project.projectId, made.id, { options: { apiKey: 'two words' } })).rejects.toThrow()
  })

  test('the key of a source is sent to no host that was named without it', async () => {
    const project = await keepingProject()
    const { sources, fetchQueue } = service.services
    const path = '/v1/convai/conversations/elevenlabs-1/audio'
    const source = await addSource(service, project, 'elevenlabs', { apiKey, host: 'api.eu.example.com' })
    const change = async (options: Record<string, string>) =>
      (await sources.change(project.projectId, source.id, { options })).hasApiKey
    expect(await change({ metadata: 'keep', host: 'api.eu.example.com' })).toBe(true)
    expect(await change({ host: api.origin })).toBe(false)
    expect((await sources.open(source.id)).options).toEqual({ metadata: 'keep', host: api.origin })
    api.answer(path, wav)
    const before = api.requests(path).length
    await source.send(platforms.elevenlabs?.event('') ?? {})
    expect((await becomes(project, 'elevenlabs-1', 'failed')).reason).toContain('no API key of ElevenLabs')
    expect(api.requests(path)).toHaveLength(before)
    expect(await change({ host: 'api.eu.example.com', apiKey })).toBe(true)
    expect(await change({ host: api.origin, apiKey })).toBe(true)
    expect(await fetchQueue.tryAgain(project.projectId)).toEqual({ queued: 1 })
    await becomes(project, 'elevenlabs-1', 'kept')
  })
})

test.skipIf(ofFilesOnly).each(['SIGTERM', 'SIGKILL'] as const)(
  '%s in the middle leaves the recording waiting, and nothing in the folder after the next start',
  async (signal) => {
    const dataDir = freshFolder()
    const slow = await startStorage()
    const long = madeWav(500_000)
    slow.answer('/slow', stalled(long))
    service = await startService({ env, dataDir })
    const project = await keepingProject()
    await service.stop()
    const child = await spawnService({ ...env, DATA_DIR: dataDir })
    const headers = { authorization: `Bearer ${project.ingestKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ details: { recordingUrl: `${slow.origin}/slow` } })
    await fetch(`${child.url}/ingest/calls/slow`, { method: 'PUT', headers, body })
    await until(() => incoming().length === 1)
    child.kill(signal)
    await child.exited
    expect(incoming()).toHaveLength(signal === 'SIGKILL' ? 1 : 0)
    slow.answer('/slow', status(404))
    service = await startService({ env, dataDir })
    const ask = (path: string) =>
      fetch(service.url + path, { headers: { authorization: `Bearer ${project.key}` } })
    expect((await (await ask('/v1/calls/slow/details')).json()).recording.state).toBe('waiting')
    await until(() => slow.requests('/slow').length === 2 && incoming().length === 0)
    slow.answer('/slow', long)
    await until(async () => (await ask('/v1/calls/slow/recording')).status === 200)
    await service.stop()
  },
)
