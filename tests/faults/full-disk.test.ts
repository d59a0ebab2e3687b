import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { fillDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)
const megabytes = 24
const disk = mountSmallDisk(megabytes)
if (!disk) console.info('No disk can be mounted here: what a full disk does is not tested')
disk?.remove()

let current: SmallDisk | null = null
let service: TestService | null = null
afterEach(async () => {
  await service?.stop()
  current?.remove()
})

async function onSmallDisk(): Promise<{ service: TestService; project: TestProject; folder: string }> {
  current = mountSmallDisk(megabytes)
  const folder = current?.folder ?? ''
  service = await startService({ dataDir: folder, env: { ERASE_WITHIN_MS: '1000' } })
  return { service, project: await service.mintProject(), folder }
}

/** Fills what is left of the disk with calls; returns the ids that were stored. */
async function fill(project: TestProject, prefix: string): Promise<string[]> {
  const stored: string[] = []
  for (let n = 0; ; n++) {
    const summary = `marker${prefix}${n} `.repeat(4_000)
    const answer = await project.send('PUT', `/ingest/calls/${prefix}-${n}`, { summary })
    if (answer.status === 507) return stored
    expect(answer.status).toBe(201)
    stored.push(`${prefix}-${n}`)
  }
}

async function isRemoved({ services }: TestService, { projectId }: TestProject): Promise<boolean> {
  const open = await services.database.read.all(sql`
    select 1 from project_erasures where project_id = ${projectId} and done_at is null`)
  return open.length === 0
}

describe.skipIf(!disk)('on a full disk', () => {
  test('writes are 507, reads and searches go on, and so do deletions, erased to the last byte', async () => {
    const { service, project, folder } = await onSmallDisk()
    const made = await project.send('POST', '/v1/knowledge', {
      name: 'Refunds',
      text: 'Refunds take a week.',
    })
    const { id } = await made.json()
    const stored = await fill(project, 'a')
    const full = await project.send('POST', '/v1/knowledge', {
      name: 'More',
      text: 'more words '.repeat(9_000),
    })
    await expectProblem(full, 'insufficient_storage', 'Insufficient storage')
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
    // A small call may still fit.
    let small = 0
    const addSmall = () => other.send('PUT', `/ingest/calls/small-${small++}`, { summary: 'small' })
    await until(async () => (await addSmall()).status === 507)
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
