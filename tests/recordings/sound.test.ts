import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { type SpokenCall, spokenCalls, toWav } from '../../scripts/bench/spoken-calls.ts'
import type { CallSound, HeardSound } from '../../src/calls/schemas.ts'
import { secondsOf } from '../../src/calls/sound/figures.ts'
import { AudioThreads } from '../../src/recordings/audio/audio-threads.ts'
import { CommandLine } from '../support/command-line.ts'
import { expectProblem } from '../support/problem.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const [spoken] = [...spokenCalls(4, 1, 5)] as [SpokenCall]
const rate = 8_000
/** As a telephone has it: each second sample. */
const channels = spoken.channels.map((samples) => samples.filter((_, at) => at % 2 === 0))
const [callers = new Float32Array(), agents = new Float32Array()] = channels
const wav = wavOf(channels)
/** Its first ten seconds, where what is heard does not matter. */
const brief = wavOf(channels.map((samples) => samples.subarray(0, 10 * rate)))
const swapped = wavOf([agents, callers])
/** The turns of the call, as a platform tells when each began. */
const turns = [
  ...spoken.caller.map(([from, to]) => ({ role: 'user' as const, from, to })),
  ...spoken.agent.map(([from, to]) => ({ role: 'assistant' as const, from, to })),
].sort((a, b) => a.from - b.from)
const transcript = turns.map(({ role, from, to }) => ({
  role,
  content: 'x'.repeat(Math.ceil(15 * (to - from))),
}))
const timeline = turns.map(({ from }, turn) => ({ atSeconds: from, kind: 'turn', turn }))

let service: TestService
let project: TestProject

function wavOf(all: readonly Float32Array[], hertz = rate): Buffer<ArrayBuffer> {
  return Buffer.from(new Uint8Array(toWav(all, hertz)))
}

function put(id: string, call: object, of = project): Promise<Response> {
  return of.send('PUT', `/ingest/calls/${id}`, call)
}

function upload(id: string, body: Buffer<ArrayBuffer>, of = project): Promise<Response> {
  return of.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
}

async function soundOf(id: string, of = project): Promise<CallSound> {
  return (await (await of.fetch(`/v1/calls/${id}/details`)).json()).sound
}

async function heardOf(id: string, of = project): Promise<HeardSound> {
  const answer = await of.fetch(`/v1/calls/${id}/sound`)
  expect(answer.status).toBe(200)
  return await answer.json()
}

/** Waits until a call that is completed is measured, or cannot be. */
async function measured(id: string, of = project): Promise<CallSound> {
  await until(async () => (await soundOf(id, of)).state.endsWith('measured'), `The sound of ${id}`)
  return await soundOf(id, of)
}

async function dueOf(id: string): Promise<number | null> {
  const [row] = await service.services.database.read.all<{ due: number | null }>(sql`
    select sound_due as due from recordings join calls using (seq)
    where calls.project_id = ${project.projectId} and id = ${id}`)
  return row?.due ?? null
}

async function keep(id: string, body = wav, call: object = {}, of = project): Promise<CallSound> {
  await put(id, { status: 'completed', ...call }, of)
  expect((await upload(id, body, of)).status).toBe(201)
  return await measured(id, of)
}

describe.skipIf(ofFilesOnly)('the sound of a call', () => {
  beforeAll(async () => {
    service = await startService({ env: { ERASE_WITHIN_MS: '400' } })
    project = await service.mintProject()
  })

  test('is measured when it is completed and its recording is kept, and told in its details and the feed', async () => {
    const sound = await keep('spoken')
    expect(sound).toMatchObject({
      state: 'measured',
      reason: null,
      agentChannel: 1,
      untilSeconds: null,
      version: 1,
    })
    expect(sound.responses).toBe(spoken.waits.length)
    expect(sound.callerSeconds ?? 0).toBeCloseTo(secondsOf(spoken.caller), -0.5)
    expect(sound.agentShare ?? 0).toBeCloseTo(
      secondsOf(spoken.agent) / secondsOf([...spoken.agent, ...spoken.caller]),
      1,
    )
    const longest = Math.max(...spoken.waits.map(({ seconds }) => seconds))
    expect(Math.abs((sound.responseMaxMs ?? 0) / 1_000 - longest)).toBeLessThan(0.1)
  })

  test('has a route of its own, with when each speaks and what figures are made of', async () => {
    const sound = await soundOf('spoken')
    const { caller, agent, waits, deadAir, talkOver, ...same } = await heardOf('spoken')
    expect(same).toEqual(sound)
    expect(Math.round(secondsOf(caller) * 100) / 100).toBe(sound.callerSeconds ?? 0)
    expect(Math.round(secondsOf(agent) * 100) / 100).toBe(sound.agentSeconds ?? 0)
    expect(waits.length).toBe(sound.responses ?? 0)
    expect(Math.max(...waits.map(({ seconds }) => Math.round(seconds * 1_000)))).toBe(
      sound.responseMaxMs ?? 0,
    )
    expect(deadAir.length).toBe(sound.deadAirs ?? 0)
    expect(talkOver.filter(({ by }) => by === 'agent').length).toBe(sound.talkOvers?.agent ?? 0)
  })

  test('waits for the end of the call', async () => {
    await put('live', {})
    await upload('live', wav)
    await until(async () => (await dueOf('live')) === null)
    expect(await heardOf('live')).toMatchObject({
      state: 'waiting',
      reason: null,
      responses: null,
      caller: [],
    })
    const [before] = await feedOf('live')
    await put('live', { status: 'completed' })
    expect(await measured('live')).toEqual(await soundOf('spoken'))
    expect((await feedOf('live'))[0]).not.toEqual(before)
  })

  test('is none without a recording, and its route is 404 then, as for an unknown call and that of another project', async () => {
    await put('silent', { status: 'completed', details: { costUsd: 1 } })
    await put('empty', { status: 'completed' })
    for (const id of ['silent', 'empty']) {
      expect((await soundOf(id)).state).toBe('none')
      expect(Object.values(await soundOf(id)).filter((value) => value !== null)).toEqual(['none'])
      await expectProblem(await project.fetch(`/v1/calls/${id}/sound`), 'not_found', 'Recording not found')
    }
    await expectProblem(await project.fetch('/v1/calls/unknown/sound'), 'not_found', 'Call not found')
    const other = await service.mintProject()
    await expectProblem(await other.fetch('/v1/calls/spoken/sound'), 'not_found', 'Call not found')
    const { key } = await project.makeKey({ scope: 'search' })
    const headers = { Authorization: `Bearer ${key}` }
    const refused = await project.fetch('/v1/calls/spoken/sound', { headers })
    await expectProblem(refused, 'insufficient_scope', 'Key does not allow this')
  })

  test.each<[CallSound['reason'], string, () => Buffer<ArrayBuffer>]>([
    ['mono', 'one channel', () => wavOf([callers])],
    ['channels', '64 channels', () => wavOf(Array.from({ length: 64 }, () => callers.subarray(0, 4 * rate)))],
    ['mixed', 'both channels alike', () => wavOf([callers, callers])],
    ['short', 'one second', () => wavOf(channels.map((samples) => samples.subarray(0, rate)))],
    ['format', 'FLAC', () => Buffer.concat([Buffer.from('fLaC\0', 'latin1'), Buffer.alloc(100)])],
    ['format', '2,000 samples a second', () => wavOf(channels, 2_000)],
    ['damaged', 'a head alone', () => wav.subarray(0, 20)],
  ])('is unmeasured, %s, of %s', async (reason, _, body) => {
    const sound = await keep(`un-${crypto.randomUUID()}`, body())
    expect(sound).toMatchObject({
      state: 'unmeasured',
      reason,
      responses: null,
      agentShare: null,
      version: 1,
    })
  })

  test('is what there is of a file that was cut', async () => {
    const sound = await keep('cut', wav.subarray(0, wav.length / 2))
    expect(sound.state).toBe('measured')
    expect(sound.agentSeconds ?? 0).toBeLessThan((await soundOf('spoken')).agentSeconds ?? 0)
  })

  test('is unmeasured, long, if it takes longer than its share, and others go on', async () => {
    const slow = spyOn(AudioThreads.prototype, 'peaks')
    slow.mockResolvedValueOnce({
      peaks: new Uint8Array(),
      speech: 'long',
      length: { durationSeconds: 9, channels: 2 },
    })
    expect(await keep('slow', brief)).toMatchObject({ state: 'unmeasured', reason: 'long' })
    slow.mockRestore()
    expect((await keep('after', brief)).state).toBe('measured')
  })

  describe('who is who', () => {
    test('follows from turns with times, whatever the order of channels', async () => {
      const straight = await keep('timed', wav, { transcript, details: { timeline } })
      const reversed = await keep('swapped', swapped, { transcript, details: { timeline } })
      expect(reversed).toEqual({ ...straight, agentChannel: 0 })
    })

    test('is said by the project, and figures follow a change without decoding again', async () => {
      const own = await service.mintProject()
      await keep('a', swapped, {}, own)
      expect((await soundOf('a', own)).agentChannel).toBe(1)
      const decoding = spyOn(AudioThreads.prototype, 'peaks')
      await service.services.settings.change(own.projectId, { callerChannel: 1 })
      await until(async () => (await soundOf('a', own)).agentChannel === 0)
      expect(await soundOf('a', own)).toEqual({ ...(await soundOf('spoken')), agentChannel: 0 })
      expect(decoding).not.toHaveBeenCalled()
      decoding.mockRestore()
    })

    test('is said by a source for its calls, before what turns say', async () => {
      const own = await service.mintProject()
      const { sources, ingest } = service.services
      const source = await sources.create(own.projectId, {
        platform: 'vapi',
        options: { callerChannel: '1' },
      })
      await ingest.putEvent(
        own.projectId,
        'a',
        { status: 'completed', transcript, details: { timeline } },
        'vapi',
      )
      await upload('a', wav, own)
      expect((await measured('a', own)).agentChannel).toBe(0)
      await sources.change(own.projectId, source.id, { options: { callerChannel: null } })
      await until(async () => (await soundOf('a', own)).agentChannel === 1)
    })
  })

  test('ends with the first transfer, also of one that is told later', async () => {
    const at = spoken.seconds / 2
    await keep('transferred', wav, { transcript, details: { timeline } })
    const whole = await soundOf('transferred')
    const transfer = { atSeconds: at, kind: 'transfer', name: 'A colleague' }
    await put('transferred', { appendTimeline: { at: timeline.length, entries: [transfer] } })
    await until(async () => (await soundOf('transferred')).untilSeconds !== null)
    const half = await heardOf('transferred')
    expect(Math.abs((half.untilSeconds ?? 0) - at)).toBeLessThan(0.5)
    expect(Math.max(...[...half.caller, ...half.agent].map(([, to]) => to))).toBeLessThanOrEqual(
      half.untilSeconds ?? 0,
    )
    expect(half.agentSeconds ?? 0).toBeLessThan(whole.agentSeconds ?? 0)
  })

  test('of another recording in its place is waited for: no figure is of another file', async () => {
    await keep('replaced', brief)
    const release = Promise.withResolvers<void>()
    const peaks = AudioThreads.prototype.peaks
    const decoding = spyOn(AudioThreads.prototype, 'peaks').mockImplementation(async function (
      this: AudioThreads,
      ...args
    ) {
      await release.promise
      return await peaks.apply(this, args)
    })
    await upload('replaced', wavOf([callers]))
    expect(await soundOf('replaced')).toMatchObject({ state: 'waiting', responses: null })
    // Replaced again, and erased, while the one before is decoded.
    await upload('replaced', wavOf(channels.map((samples) => samples.subarray(0, 25 * rate))))
    await put('erased', { status: 'completed' })
    await upload('erased', brief)
    expect((await project.fetch('/v1/calls/erased', { method: 'DELETE' })).status).toBe(200)
    release.resolve()
    expect(await measured('replaced')).toMatchObject({ state: 'measured', reason: null })
    decoding.mockRestore()
    expect((await heardOf('replaced')).agent.every(([, to]) => to <= 25)).toBe(true)
    expect((await project.fetch('/v1/calls/erased/sound')).status).toBe(404)
  })

  test('keeps its figures when its recording is deleted, and none that waited', async () => {
    await keep('kept-figures', brief)
    const before = await soundOf('kept-figures')
    await project.fetch('/v1/calls/kept-figures/recording', { method: 'DELETE' })
    expect(await soundOf('kept-figures')).toEqual(before)
    await expectProblem(
      await project.fetch('/v1/calls/kept-figures/sound'),
      'not_found',
      'Recording not found',
    )
    await put('waited', {})
    await upload('waited', brief)
    expect((await soundOf('waited')).state).toBe('waiting')
    await project.fetch('/v1/calls/waited/recording', { method: 'DELETE' })
    expect((await soundOf('waited')).state).toBe('none')
  })

  test('is measured after a stop in between, and by a later version the newest first', async () => {
    const stopped = await startService()
    const own = await stopped.mintProject()
    for (const id of ['old', 'new', 'half']) await keep(id, brief, {}, own)
    const { dataDir } = stopped
    await stopped.stop()
    // As an earlier version leaves them; and one of which the speech is known, and not its figures.
    const file = new Database(join(dataDir, 'callbook.db'))
    file.exec('update recordings set sound_due = 3, speech = null')
    file.exec(`update recordings set sound_due = 1, speech = x'0000000000000000'
      where seq = (select seq from calls where id = 'half')`)
    file.close()
    const order: string[] = []
    const peaks = AudioThreads.prototype.peaks
    const decoding = spyOn(AudioThreads.prototype, 'peaks').mockImplementation(function (
      this: AudioThreads,
      id,
      audio,
    ) {
      order.push(audio.path)
      return peaks.call(this, id, audio)
    })
    const again = await startService({ dataDir })
    const rows = () =>
      again.services.database.read.all<{ id: string; file: string; due: number | null }>(sql`
        select id, file, sound_due as due from recordings join calls using (seq) order by seq desc`)
    await until(async () => (await rows()).every(({ due }) => due === null))
    decoding.mockRestore()
    const decoded = (await rows()).filter(({ id }) => id !== 'half').map((row) => row.file)
    expect(order.map((path) => path.split('/').at(-1) ?? '')).toEqual(decoded)
  })

  test('is measured again by the command', async () => {
    const commands = new CommandLine(service.dataDir)
    const decoding = spyOn(AudioThreads.prototype, 'peaks')
    const measure = async (...args: string[]) =>
      (await commands.json(['recording', 'measure', '--project', project.id, ...args])).value
    expect(await measure('--call', 'spoken')).toEqual({ queued: 1 })
    await until(async () => decoding.mock.calls.length === 1 && (await dueOf('spoken')) === null)
    decoding.mockRestore()
    const refused = await commands.run(['recording', 'measure', '--project', project.id, '--call', 'silent'])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('no recording here')])
    const { queued } = await measure()
    expect(queued).toBeGreaterThan(5)
  })

  describe('finds and counts calls', () => {
    let own: TestProject
    beforeAll(async () => {
      own = await service.mintProject()
      await keep('a', wav, { createdAt: '2026-01-01T00:00:00Z' }, own)
      await keep('b', wavOf([callers]), { createdAt: '2026-01-02T00:00:00Z' }, own)
      await put('c', { status: 'completed', createdAt: '2026-01-03T00:00:00Z' }, own)
    })

    const found = async (query: string) => {
      const answer = await own.fetch(`/v1/calls?${query}`)
      expect(answer.status).toBe(200)
      const { data, pagination } = await answer.json()
      expect(pagination.total).toBe(data.length)
      return data.map(({ id }: { id: string }) => id).join()
    }

    test('by its state and its figures, bounds inclusive', async () => {
      const { responseMaxMs, agentShare, talkOverSeconds, deadAirSeconds } = await soundOf('a', own)
      expect(await found('sound=measured')).toBe('a')
      expect(await found('sound=unmeasured,none')).toBe('c,b')
      expect(await found(`minResponseMs=${responseMaxMs}&maxResponseMs=${responseMaxMs}`)).toBe('a')
      expect(await found(`minResponseMs=${(responseMaxMs ?? 0) + 1}`)).toBe('')
      expect(await found(`maxResponseMs=${(responseMaxMs ?? 0) - 1}`)).toBe('')
      expect(await found(`minAgentShare=${agentShare}&maxAgentShare=${agentShare}`)).toBe('a')
      expect(await found(`minDeadAirSeconds=${deadAirSeconds}`)).toBe('a')
      expect(await found(`minTalkOverSeconds=${talkOverSeconds}`)).toBe('a')
      // Also calls without it are in none.
      expect(await found('minDeadAirSeconds=0')).toBe('a')
      await expectProblem(await own.fetch('/v1/calls?minResponseMs=fast'), 'invalid_request')
      await expectProblem(await own.fetch('/v1/calls?sound=loud'), 'invalid_request')
    })

    test('in figures, alerts and tables', async () => {
      const sound = await soundOf('a', own)
      for (const of of [
        'responseMs',
        'responseP95Ms',
        'responseMaxMs',
        'deadAirSeconds',
        'talkOverSeconds',
        'agentShare',
        'interruptions',
      ] as const) {
        const { data } = await (await own.fetch(`/v1/metrics?of=${of}&show=max`)).json()
        expect([of, data[0].value]).toEqual([of, sound[of]])
      }
      await expectProblem(await own.fetch('/v1/metrics?of=responseMs'), 'invalid_request')
      const rule = {
        name: 'Waits',
        of: 'responseMaxMs',
        show: 'p95',
        windowMinutes: 60,
        above: { alert: 5_000 },
        to: [],
        showOnly: true,
      }
      expect((await own.send('POST', '/v1/alerts', { ...rule, filters: { sound: 'measured' } })).status).toBe(
        201,
      )
      const headers = { Accept: 'text/csv' }
      const fields = 'id,details.sound.state,details.sound.reason,details.sound.responseMaxMs'
      expect(
        (await (await own.fetch(`/v1/calls?fields=${fields}`, { headers })).text()).split('\r\n'),
      ).toEqual([fields, 'c,none,,', 'b,unmeasured,mono,', `a,measured,,${sound.responseMaxMs}`, ''])
    })
  })

  test('of noise is told from nothing', async () => {
    expect(await keep('noise', madeWav(640_044))).toMatchObject({
      state: 'measured',
      responses: 0,
      agentShare: null,
    })
  })
})

async function feedOf(id: string): Promise<unknown[]> {
  const { data } = await (await project.fetch('/v1/changes?limit=1000')).json()
  return data.filter(({ call }: { call?: { id: string } }) => call?.id === id)
}
