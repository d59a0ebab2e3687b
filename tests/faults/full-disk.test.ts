import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { CommandLine } from '../support/command-line.ts'
import { at, type Reached } from '../support/node.ts'
import { expectProblem } from '../support/problem.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'
import { fillDisk, mountSmallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'

const megabytes = 24
const disk = mountSmallDisk(megabytes)
if (!disk) skipped('no disk can be mounted that fills up')

let service: TestService | null = null
afterEach(async () => {
  await service?.stop()
})

async function onSmallDisk(
  size = megabytes,
): Promise<{ service: TestService; project: TestProject; folder: string }> {
  const folder = mountSmallDisk(size) ?? ''
  service = await startService({ dataDir: folder, env: { ERASE_WITHIN_MS: '1000' } })
  return { service, project: await service.mintProject(), folder }
}

/** Fills what is left of the disk with calls; returns the ids that were stored. */
async function fill(project: Reached, prefix: string, words = 4_000): Promise<string[]> {
  const stored: string[] = []
  for (let n = 0; ; n++) {
    const transcript = [{ role: 'user', content: `marker${prefix}${n} `.repeat(words) }]
    const answer = await project.send('PUT', `/ingest/calls/${prefix}-${n}`, { transcript })
    if (answer.status === 507) return stored
    expect(answer.status).toBe(201)
    stored.push(`${prefix}-${n}`)
  }
}

async function isErasing({ services }: TestService): Promise<boolean> {
  return (
    (await services.database.read.all(sql`select 1 from erasures where done_at is null limit 1`)).length > 0
  )
}

async function isRemoved({ services }: TestService, { projectId }: TestProject): Promise<boolean> {
  const open = await services.database.read.all(sql`
    select 1 from project_erasures where project_id = ${projectId} and done_at is null`)
  return open.length === 0
}

/** Deletes several at once; returns how many answers had each status. */
async function deleteCalls(project: Reached, ids: readonly string[]): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  const waiting = [...ids]
  const work = async () => {
    for (let id = waiting.shift(); id; id = waiting.shift()) {
      const { status } = await project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all([work(), work(), work(), work(), work()])
  return statuses
}

async function readiness({ url }: TestService): Promise<{ status: number; problem?: string | null }> {
  const answer = await fetch(`${url}/ready`)
  const { problem } = await answer.json()
  return { status: answer.status, problem }
}

describe.skipIf(!disk)('on a full disk', () => {
  test('hundreds of calls can be deleted, and their space is there for new ones without a restart', async () => {
    const { service, project } = await onSmallDisk(48)
    const stored = await fill(project, 'e', 8_000)
    expect(await readiness(service)).toEqual({ status: 200, problem: expect.stringContaining('full') })
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toMatch(/^callbook_disk_free_bytes \d+$/m)
    expect(metrics).toMatch(/^callbook_writes_refused_total\{reason="full"\} [1-9]/m)

    const gone = stored.slice(0, Math.floor(stored.length * 0.8))
    expect(await deleteCalls(project, gone)).toEqual({ 200: gone.length })
    await until(async () => !(await isErasing(service)))
    await until(async () => (await readiness(service)).problem === null)
    const warnings = service.logs.filter(({ level }) => level === 40).map(({ msg }) => msg)
    expect(warnings).toEqual(['The disk is full, so writes that do not fit are answered with 507'])
    const added = await fill(project, 'f', 8_000)
    expect(added.length).toBeGreaterThan(gone.length * 0.9)
  })

  test('it is one line of the log, whatever meets it', async () => {
    const { service, project, folder } = await onSmallDisk()
    await service.services.settings.change(project.projectId, { keepQuestionsDays: 30 })
    const source = await service.services.sources.create(project.projectId, { platform: 'vapi' })
    const items = []
    for (const name of ['Refunds', 'Opening hours']) {
      const made = await project.send('POST', '/v1/knowledge', { name, text: `${name} of the shop.` })
      items.push((await made.json()).id)
    }
    await project.send('POST', '/v1/knowledge/search', { query: 'refunds' })
    await until(() => readdirSync(join(folder, 'indexes')).some((name) => name.endsWith('.hnsw')))
    fillDisk(join(folder, 'filler'))
    await fill(project, 'l')
    // Its vector is to be erased in the file of the index, which finds no room.
    expect((await project.fetch(`/v1/knowledge/${items[0]}`, { method: 'DELETE' })).status).toBe(200)
    const requests = () => [
      project.send('POST', '/v1/knowledge/search', { query: `What of ${performance.now()}?` }),
      project.fetch('/v1/calls'),
      project.fetch('/ingest/calls/recorded/recording', { method: 'PUT', body: madeWav() }),
      fetch(`${service.url}/ingest/from/${source.id}`, {
        method: 'POST',
        body: '{"message":{"type":"status-update"}}',
        headers: { 'content-type': 'application/json', 'x-vapi-secret': source.secret ?? '' },
      }),
    ]
    for (let n = 0; n < 4; n++) {
      await Promise.all(requests())
      await Bun.sleep(1_000)
    }
    const troubles = service.logs.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg)
    expect(troubles).toEqual(['The disk is full, so writes that do not fit are answered with 507'])
  })

  test('a deletion has room to move the log of large calls, which fill it before it is moved', async () => {
    const { project } = await onSmallDisk()
    const stored = await fill(project, 'j', 30_000)
    expect(await deleteCalls(project, stored)).toEqual({ 200: stored.length })
  })

  test('after a restart as well, deletions work, erase everything and make room', async () => {
    const { service: before, project, folder } = await onSmallDisk(48)
    const stored = await fill(project, 'g', 8_000)
    const half = Math.floor(stored.length / 2)
    expect(await deleteCalls(project, stored.slice(0, 10))).toEqual({ 200: 10 })
    await fill(project, 'h', 8_000)
    await before.stop()
    service = await startService({ dataDir: folder, env: { ERASE_WITHIN_MS: '1000' } })
    const there = at(service, project)
    const { id } = await (await there.send('POST', '/v1/erasures', { ids: stored.slice(10, half) })).json()
    expect(await deleteCalls(there, stored.slice(half))).toEqual({ 200: stored.length - half })
    await until(async () => (await (await there.fetch(`/v1/erasures/${id}`)).json()).status === 'done')
    await until(async () => (await readiness(service as TestService)).problem === null)
    expect((await fill(there, 'i', 8_000)).length).toBeGreaterThan(stored.length * 0.8)
  })

  test('a start without a single free block owns the folder, and what is deleted then is erased', async () => {
    const { service: before, project, folder } = await onSmallDisk()
    await project.send('PUT', '/ingest/calls/last', { summary: 'Nothing more fits.' })
    await before.stop()
    fillDisk(join(folder, 'filler'))
    service = await startService({ dataDir: folder, env: { ERASE_WITHIN_MS: '1000' } })
    expect(service.services.ownsFolder).toBe(true)
    expect(await deleteCalls(at(service, project), ['last'])).toEqual({ 200: 1 })
    await until(async () => !(await isErasing(service as TestService)))
  })

  test('a recording can be deleted, and its file makes room', async () => {
    const { project, folder } = await onSmallDisk()
    const body = madeWav(1_000_000)
    const upload = (id: string) => project.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
    expect((await upload('played')).status).toBe(201)
    fillDisk(join(folder, 'filler'))
    expect((await upload('refused')).status).toBe(507)
    expect((await project.fetch('/v1/calls/played/recording', { method: 'DELETE' })).status).toBe(200)
    await until(() => readdirSync(join(folder, 'recordings')).join() === 'incoming')
  })

  test('a start in an empty folder that is full says so at once', async () => {
    const folder = mountSmallDisk(megabytes) ?? ''
    fillDisk(join(folder, 'filler'))
    const failure = await startService({ dataDir: folder }).catch((error) => error)
    expect(Bun.inspect(failure)).toContain('disk is full')
  })

  test('doctor names the disk, and what to do', async () => {
    const { folder } = await onSmallDisk()
    fillDisk(join(folder, 'filler'))
    const { value } = await new CommandLine(folder).json(['doctor'])
    const check = { check: 'database', ok: false, detail: expect.stringContaining('the disk is full') }
    expect(value).toContainEqual({ ...check, advice: expect.stringContaining('Make space') })
  })

  test('writes are 507, reads and searches go on, and so do deletions, erased to the last byte', async () => {
    const { service, project, folder } = await onSmallDisk()
    const made = await project.send('POST', '/v1/knowledge', {
      name: 'Refunds',
      text: 'Refunds take a week.',
    })
    const { id } = await made.json()
    const stored = await fill(project, 'a')
    const addMore = (n: number) =>
      project.send('POST', '/v1/knowledge', {
        name: `More ${n}`,
        text: `${n} ${'more words '.repeat(9_000)}`,
      })
    // Words that are indexed meanwhile may make some room.
    let full = await addMore(0)
    for (let n = 1; full.status === 201; n++) full = await addMore(n)
    await expectProblem(full, 'insufficient_storage', 'Insufficient storage')
    expect(await (await project.fetch('/v1/knowledge')).json()).toContainEqual(
      expect.objectContaining({ id }),
    )
    expect((await project.fetch(`/v1/calls/${stored[0]}`)).status).toBe(200)
    const found = await project.send('POST', '/v1/knowledge/search', { query: 'refunds' })
    expect((await found.json()).data).toHaveLength(1)

    for (const gone of stored.slice(0, 20)) {
      const answer = await project.fetch(`/v1/calls/${gone}`, { method: 'DELETE' })
      expect({ gone, status: answer.status }).toEqual({ gone, status: 200 })
    }
    expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    // By another process: this one would lose SQLite's locks on the file.
    const isErased = () => !Bun.spawnSync(['grep', '-rqaE', 'markera7 |Refunds take a week', folder]).success
    expect(Bun.spawnSync(['grep', '-rqaE', 'markera25 ', folder]).success).toBe(true)
    await until(isErased)
    expect(service.logs.filter(({ level }) => Number(level) >= 60)).toEqual([])

    // There is room again, without a restart.
    await until(async () => (await project.send('PUT', '/ingest/calls/after', { summary: 'fits' })).ok)
    expect((await project.fetch(`/v1/calls/${stored.at(-1)}`)).status).toBe(200)
  })

  test('a key can be revoked when other files fill the disk, and everything works again without them', async () => {
    const { service, project, folder } = await onSmallDisk()
    await project.send('PUT', '/ingest/calls/one', { summary: 'one' })
    const filler = join(folder, 'filler')
    fillDisk(filler)
    const stored = await fill(project, 'b')
    await service.services.keys.revoke(project.projectId, project.keyId)
    expect((await project.fetch('/v1/calls')).status).toBe(401)
    rmSync(filler)
    await until(async () => (await project.send('PUT', '/ingest/calls/two', { summary: 'two' })).ok)
    expect(stored.length).toBeLessThan(100)
    expect(readdirSync(folder)).toContain('callbook.db-ballast')
  })

  test('the project that has filled it can be deleted to the last byte', async () => {
    const { service, project, folder } = await onSmallDisk()
    const other = await service.mintProject()
    await fill(project, 'c')
    // Smaller calls may still fit.
    await fill(other, 'small', 100)
    await service.services.projects.delete(project.projectId)
    expect((await project.fetch('/v1/calls')).status).toBe(401)
    await until(() => isRemoved(service, project))
    expect(Bun.spawnSync(['grep', '-rqaE', 'markerc[0-9]+ ', folder]).success).toBe(false)
    await until(async () => (await other.send('PUT', '/ingest/calls/two', { summary: 'two' })).ok)
    expect(readdirSync(folder)).toContain('callbook.db-ballast')
  })

  test('a project that was deleted before the disk was full is still erased', async () => {
    const { service, project, folder } = await onSmallDisk()
    const summary = 'deleted '.repeat(4_000)
    for (let n = 0; n < 100; n++) await project.send('PUT', `/ingest/calls/d-${n}`, { summary })
    await service.services.projects.delete(project.projectId)
    fillDisk(join(folder, 'filler'))
    await until(() => isRemoved(service, project))
  })
})
