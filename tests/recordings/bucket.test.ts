import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scripts/processes.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'
import { loadConfig } from '../../src/config.ts'
import { readMeta } from '../../src/db/meta.ts'
import { BucketFiles } from '../../src/recordings/bucket-files.ts'
import { freshFolder } from '../support/at-end.ts'
import { CommandLine } from '../support/command-line.ts'
import {
  callerTurns,
  expectCovers,
  expectSilentWithin,
  saidWith,
  timeline,
  wav,
} from '../support/muted-call.ts'
import { expectProblem } from '../support/problem.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

/** `go install github.com/versity/versitygw/cmd/versitygw@v1.8.0` */
const program = [process.env.GOBIN ?? '', join(homedir(), 'go/bin'), '/usr/local/bin']
  .map((folder) => join(folder, 'versitygw'))
  .find((path) => existsSync(path))
if (!program) skipped('there is no versitygw, a server of S3')

describe.skipIf(program === undefined || ofFilesOnly)('recordings in a bucket', () => {
  const fresh = freshFolder()
  const bucket = join(fresh, 's3', 'sound')
  const objects = join(bucket, 'callbook')
  let server: ReturnType<typeof Bun.spawn>
  let env: Record<string, string>
  let service: TestService
  let project: TestProject

  beforeAll(async () => {
    const meta = join(fresh, 'meta')
    for (const folder of [bucket, meta]) mkdirSync(folder, { recursive: true })
    const port = await freePort()
    const keys = ['--access', 'key', '--secret', 'secret-of-the-bucket', '--port', `127.0.0.1:${port}`]
    server = Bun.spawn([program ?? '', ...keys, 'posix', '--sidecar', meta, join(fresh, 's3')], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    env = {
      RECORDINGS_URL: 's3://sound/callbook',
      RECORDINGS_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret-of-the-bucket',
      ERASE_WITHIN_MS: '400',
    }
    await until(() =>
      fetch(env.RECORDINGS_ENDPOINT ?? '').then(
        () => true,
        () => false,
      ),
    )
    service = await startService({ env })
    project = await service.mintProject()
  })
  afterAll(async () => {
    server?.kill()
  })

  const upload = (id: string, body: Buffer<ArrayBuffer>, of = project) =>
    of.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
  const objectsOf = () =>
    existsSync(objects) ? readdirSync(objects).filter((name) => name !== 'callbook-database') : []
  const generationOf = async () =>
    (await readMeta(service.services.database.read, 'generation')).get('generation') ?? ''

  test('are kept there, encrypted, played with ranges, drawn, and deleted', async () => {
    const sound = madeWav(9_000_000)
    expect(await (await upload('a', sound)).json()).toMatchObject({ bytes: sound.length })
    const [name = ''] = objectsOf()
    const stored = Buffer.from(await Bun.file(join(objects, name)).arrayBuffer())
    expect(stored.includes(sound.subarray(1_000, 1_100))).toBe(false)
    expect(readdirSync(join(service.dataDir, 'recordings', 'incoming'))).toEqual([])
    expect(
      Buffer.from(await (await project.fetch('/v1/calls/a/recording')).arrayBuffer()).equals(sound),
    ).toBe(true)
    const part = await project.fetch('/v1/calls/a/recording', { headers: { Range: 'bytes=8000000-8000009' } })
    expect(Buffer.from(await part.arrayBuffer())).toEqual(sound.subarray(8_000_000, 8_000_010))
    await service.services.peaksBacklog.idle()
    expect((await service.services.recordings.peaks(project.projectId, 'a'))?.byteLength).toBeGreaterThan(0)
    await project.fetch('/v1/calls/a/recording', { method: 'DELETE' })
    await until(() => objectsOf().length === 0)
  })

  test('are muted there: the copy alone is left', async () => {
    const own = await service.mintProject()
    const settings = { redact: ['card' as const], recordings: 'mute' as const }
    await service.services.settings.change(own.projectId, settings)
    const [turn = 0] = callerTurns
    await own.send('PUT', '/ingest/calls/muted', { transcript: saidWith(turn), details: { timeline } })
    await upload('muted', wav, own)
    const [sent = ''] = objectsOf()
    expect((await own.fetch('/v1/calls/muted/recording')).status).toBe(404)
    await own.send('PUT', '/ingest/calls/muted', { status: 'completed' })
    const recording = async (): Promise<CallDetails['recording']> =>
      (await (await own.fetch('/v1/calls/muted/details')).json()).recording
    await until(async () => (await recording()).state === 'kept')
    const { muted } = await recording()
    expectCovers(muted, turn)
    const answer = await own.fetch('/v1/calls/muted/recording')
    expectSilentWithin(Buffer.from(await answer.arrayBuffer()), muted)
    await until(() => objectsOf().length === 1 && !objectsOf().includes(sent))
    await own.fetch('/v1/calls/muted/recording', { method: 'DELETE' })
    await until(() => objectsOf().length === 0)
  })

  test('that were refused or broken off leave nothing there', async () => {
    expect((await upload('refused', Buffer.from('<html>no audio here</html>'))).status).toBe(415)
    await service.services.holds.set(project.projectId, { number: '+15550100', reason: 'A case' })
    expect(objectsOf()).toEqual([])
  })

  test('are removed by the next start if a kill came before their row was committed', async () => {
    const { bucket: options } = loadConfig({ DATA_DIR: service.dataDir, ...env }, false)
    if (!options) throw new Error('There is no bucket')
    const killed = new BucketFiles({
      ...options,
      folder: join(service.dataDir, 'recordings'),
      generation: await generationOf(),
    })
    const draft = await killed.create()
    await draft.write([Buffer.from('half of it')])
    await draft.finish()
    expect(objectsOf()).toEqual([draft.name])
    await service.services.removedFiles.clearDrafts()
    expect(objectsOf()).toEqual([])
  })

  test('that cannot be deleted while the bucket is gone keep no text of calls in the database', async () => {
    const word = 'zanzibarquince'
    const isHeld = () =>
      readdirSync(service.dataDir)
        .filter((name) => name.startsWith('callbook.db'))
        .some((name) => readFileSync(join(service.dataDir, name)).includes(word))
    await upload('outage', madeWav())
    await project.send('PUT', '/ingest/calls/outage', { summary: word })
    expect(isHeld()).toBe(true)
    renameSync(bucket, `${bucket}-gone`)
    await project.fetch('/v1/calls/outage', { method: 'DELETE' })
    await until(() => !isHeld()).finally(() => renameSync(`${bucket}-gone`, bucket))
    await until(() => objectsOf().length === 0)
  })

  test('are compared by doctor, and cannot be kept while the bucket refuses', async () => {
    expect((await upload('b', madeWav())).status).toBe(201)
    const line = new CommandLine(service.dataDir)
    expect((await line.run(['doctor'], { env })).out).toContain('1 recording in http://127.0.0.1')
    const other = await startService({ env: { ...env, AWS_SECRET_ACCESS_KEY: 'another-secret' } })
    const stranger = await other.mintProject()
    const { detail } = await expectProblem(await upload('c', madeWav(), stranger), 'unavailable')
    expect(detail).toContain('RECORDINGS_URL')
    expect(readdirSync(join(other.dataDir, 'recordings', 'incoming'))).toEqual([])
    await other.stop()
    rmSync(join(objects, objectsOf()[0] ?? ''))
    expect((await line.run(['doctor'], { env })).out).toContain('1 recording of 1 have no file')
  })

  test('are only read by a restored copy, until it adopts the bucket', async () => {
    expect((await upload('shared', madeWav())).status).toBe(201)
    const backup = join(fresh, 'backup')
    const copyDir = join(fresh, 'copy')
    const production = new CommandLine(service.dataDir)
    const copy = new CommandLine(copyDir)
    await production.run(['backup', backup], { env })
    await copy.run(['restore', backup], { env })
    expect((await upload('newer', madeWav())).status).toBe(201)
    const before = objectsOf().sort()
    const restored = await startService({ env, dataDir: copyDir })
    const other = await restored.services.projects.list()
    const same = other.find(({ id }) => id === project.id)
    if (!same) throw new Error('The project was not restored')
    const { recordings } = restored.services
    await (await recordings.open(project.projectId, 'shared')).close()
    await recordings.delete(project.projectId, 'shared')
    const parts = (async function* () {
      yield madeWav()
    })()
    await expect(recordings.upload(project.projectId, 'drill', parts)).rejects.toThrow(
      'belongs to another database',
    )
    await expect(restored.services.removedFiles.erase()).rejects.toThrow('Nothing was stored or removed')
    const { out } = await copy.run(['doctor', '--repair'], { env })
    expect(out).toContain('belongs to another database')
    expect(out).toContain('doctor --adopt-bucket')
    expect(objectsOf().sort()).toEqual(before)
    expect((await upload('production', madeWav())).status).toBe(201)
    expect((await copy.run(['doctor', '--adopt-bucket'], { env })).out).not.toContain('another database')
    await restored.services.removedFiles.erase()
    expect(objectsOf()).toHaveLength(before.length)
    await expectProblem(await upload('late', madeWav()), 'unavailable')
    await restored.stop()
    await production.run(['doctor', '--adopt-bucket'], { env })
  })
})
