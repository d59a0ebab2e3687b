import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { CommandLine } from '../support/command-line.ts'
import { startConsole, type TestConsole } from '../support/console.ts'
import { startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import { expectProblem } from '../support/problem.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

function upload(id: string, body: Buffer<ArrayBuffer>, of: TestProject): Promise<Response> {
  return of.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
}

describe.skipIf(ofFilesOnly)('recordings of a service', () => {
  let service: TestService
  let project: TestProject
  let console: TestConsole
  const wav = madeWav()

  beforeAll(async () => {
    service = await startService()
    console = await startConsole(service)
    project = await console.mintProject()
  })

  test('are played in the console by all who see the project, drawn once, and deleted by who may delete', async () => {
    await upload('a:b', wav, project)
    await service.services.peaksBacklog.idle()
    const viewer = await console.join(project, 'viewer')
    const path = `/projects/${project.id}/calls/a:b/recording`
    const answer = await viewer.fetch(path, { headers: { Range: 'bytes=0-9' } })
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
      206,
      'inline; filename="a_b.wav"',
    ])
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(wav.subarray(0, 10))
    expect((await viewer.fetch(`${path}/peaks`)).headers.get('content-type')).toBe('application/octet-stream')
    await expectProblem(await viewer.fetch(path, { method: 'DELETE' }), 'forbidden')
    expect((await console.owner.fetch(path, { method: 'DELETE' })).status).toBe(200)
    await expectProblem(await viewer.fetch(path), 'not_found', 'Recording not found')
  })

  test('note who listens, once in a while, where the project notes reading', async () => {
    await service.services.settings.change(project.projectId, { notesReading: true })
    await upload('heard', wav, project)
    for (let n = 0; n < 3; n++) await project.fetch('/v1/calls/heard/recording')
    await console.owner.fetch(`/projects/${project.id}/calls/heard/recording`)
    const noted = () =>
      service.services.database.read.all<{ actor: string; target: string }>(sql`
        select actor_id as actor, target from audit_events
        where action = 'recording_played' and project_id = ${project.projectId} order by seq`)
    // No listener waits for it.
    await until(async () => (await noted()).length === 2)
    const entries = await noted()
    expect(entries.map(({ actor }) => actor)).toEqual([project.keyId, console.owner.personId])
    for (const { target } of entries) expect(target).toMatch(/^[0-9a-f]{64}$/)
  })

  test('are counted by project in the settings and in /metrics', async () => {
    const own = await console.mintProject()
    await upload('a', wav, own)
    await upload('b', madeWav(1_000), own)
    const usage = await console.owner.fetch(`/projects/${own.id}/settings/recordings`)
    expect(await usage.json()).toEqual({ recordings: 2, bytes: wav.length + 1_000 })
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain(`callbook_recording_bytes{project="${own.id}"} ${wav.length + 1_000}`)
  })

  test('are exported beside their calls, each under the id of its call', async () => {
    const own = await console.mintProject()
    await upload('a:b', wav, own)
    await upload('c', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(50)]), own)
    await own.send('PUT', '/ingest/calls/silent', {})
    const folder = join(service.dataDir, '..', `sound-${own.id}`)
    const args = ['calls', 'export', '--project', own.id, '--recordings', folder]
    const ran = await new CommandLine(service.dataDir).run(args)
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out.trim().split('\n')).toHaveLength(3)
    expect(readdirSync(folder).sort()).toEqual(['a_b.wav', 'c.ogg'])
    expect(readFileSync(join(folder, 'a_b.wav'))).toEqual(wav)
    rmSync(folder, { recursive: true })
  })

  test('are compared with their files by doctor, which removes files that belong to none', async () => {
    const line = new CommandLine(service.dataDir)
    const folder = join(service.dataDir, 'recordings')
    const stray = 'f'.repeat(32)
    writeFileSync(join(folder, stray), 'noise')
    const yesterday = Date.now() / 1_000 - 90_000
    utimesSync(join(folder, stray), yesterday, yesterday)
    const found = await line.run(['doctor'])
    expect([found.code, found.out]).toEqual([1, expect.stringContaining('1 file in')])
    expect((await line.run(['doctor', '--repair'])).code).toBe(0)
    expect(readdirSync(folder)).not.toContain(stray)
    const own = await console.mintProject()
    await upload('lost', wav, own)
    const [row] = await service.services.database.read.all<{ file: string }>(sql`
      select file from recordings where project_id = ${own.projectId}`)
    rmSync(join(folder, row?.file ?? ''))
    expect((await line.run(['doctor'])).out).toContain('1 recording of')
    await expectProblem(await own.fetch('/v1/calls/lost/recording'), 'not_found', 'Recording not found')
  })

  test('follow the settings of their project, which the command line changes', async () => {
    const own = await console.mintProject()
    const line = new CommandLine(service.dataDir)
    const set = ['project', 'set', own.id, '--recordings', 'keep', '--recording-retain-days', '30']
    expect((await line.json(set)).value).toMatchObject({ recordings: 'keep', recordingRetainDays: 30 })
    const off = ['project', 'set', own.id, '--recording-retain-days', 'off', '--recordings', 'off']
    expect((await line.json(off)).value).toMatchObject({ recordings: 'off', recordingRetainDays: null })
    expect((await line.run(['project', 'set', own.id, '--recordings', 'all'])).err).toContain('--recordings')
  })
})

describe.skipIf(ofFilesOnly)('nodes without a bucket', () => {
  test('say why they keep no recording', async () => {
    const primary = await startPrimary()
    const node = await startNode(primary)
    const project = await node.mintProject()
    const answer = await upload('a', madeWav(), project)
    const { detail } = await expectProblem(answer, 'unavailable')
    expect(detail).toContain('RECORDINGS_URL')
    expect((await project.fetch('/v1/calls/a')).status).toBe(404)
    await node.stop()
    await primary.stop()
  })
})
