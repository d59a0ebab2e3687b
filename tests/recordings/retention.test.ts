import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const dayMs = 86_400_000
let now = Date.UTC(2026, 0, 1)
let service: TestService
let project: TestProject

describe.skipIf(ofFilesOnly)('the retention of recordings', () => {
  beforeAll(async () => {
    service = await startService({ now: () => now, env: { ERASE_WITHIN_MS: '400' } })
    project = await service.mintProject()
  })

  test('deletes recordings of calls that were completed too long ago, says so, and keeps those on hold', async () => {
    for (const id of ['old', 'held', 'live']) {
      await project.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body: madeWav() })
      if (id !== 'live') await project.send('PUT', `/ingest/calls/${id}`, { status: 'completed' })
    }
    await service.services.holds.set(project.projectId, { callId: 'held', reason: 'A case' })
    await service.services.settings.change(project.projectId, { recordingRetainDays: 7 })
    now += 8 * dayMs
    await project.fetch('/ingest/calls/new/recording', { method: 'PUT', body: madeWav() })
    await project.send('PUT', '/ingest/calls/new', { status: 'completed' })
    const file = await fileOf('old')
    await service.services.recordingExpiry.run()
    const states = await Promise.all(['old', 'held', 'live', 'new'].map(stateOf))
    expect(states).toEqual(['expired', 'kept', 'kept', 'kept'])
    expect((await project.fetch('/v1/calls/old/recording')).status).toBe(404)
    expect((await project.fetch('/v1/calls/old')).status).toBe(200)
    await until(() => !existsSync(join(service.dataDir, 'recordings', file)))
    expect(await service.services.recordings.isUnwanted(project.projectId, 'old')).toBe(true)
    const entries = await service.services.database.read.all<{ target: string }>(sql`
      select target from audit_events where action = 'recordings_expired'`)
    expect(entries).toEqual([{ target: '1 recording of calls completed before 2026-01-02T00:00Z' }])
  })

  test('is at most that of calls', async () => {
    const change = (settings: object) => service.services.settings.change(project.projectId, settings)
    expect(change({ retainDays: 5 })).rejects.toThrow('recordingRetainDays: must be at most 5')
    await change({ retainDays: 5, recordingRetainDays: 5 })
    expect(change({ recordingRetainDays: 6 })).rejects.toThrow('must be at most 5')
    await change({ retainDays: null, recordingRetainDays: null })
  })

  test('switching redaction on stops fetching, unless the same change says otherwise', async () => {
    const change = (settings: object) => service.services.settings.change(project.projectId, settings)
    await change({ recordings: 'keep' })
    expect(await change({ redact: ['phone'] })).toMatchObject({ recordings: 'off' })
    await change({ recordings: 'keep' })
    expect(await change({ redact: ['phone', 'email'] })).toMatchObject({ recordings: 'keep' })
    await change({ redact: [] })
    expect(await change({ redact: ['phone'], recordings: 'keep' })).toMatchObject({ recordings: 'keep' })
  })
})

async function stateOf(id: string): Promise<string> {
  return (await (await project.fetch(`/v1/calls/${id}/details`)).json()).recording.state
}

async function fileOf(id: string): Promise<string> {
  const [row] = await service.services.database.read.all<{ file: string }>(sql`
    select file from recordings join calls using (seq) where id = ${id}`)
  return row?.file ?? ''
}
