import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { receiverEnv } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, type Trace } from '../support/traces.ts'
import { until } from '../support/until.ts'

const dayMs = 86_400_000

let aheadMs = 0
const now = () => Date.now() + aheadMs
const service = await startService({ env: { ...receiverEnv, ERASE_WITHIN_MS: '500' }, now })

async function make() {
  const project = await service.mintProject()
  const url = 'http://127.0.0.1:9/hook'
  const { id, secret } = await service.services.webhooks.create(project.projectId, { url })
  return { project, id, secret }
}

async function erased(): Promise<void> {
  const open = sql`select 1 from erasures where done_at is null`
  await until(async () => (await service.services.database.read.all(open)).length === 0)
}

/** The files that hold a secret. */
async function filesWith(secret: string): Promise<string[]> {
  const trace: Trace = { name: 'secret', bytes: Buffer.from(secret) }
  return await findTraces(service.dataDir, [trace])
}

describe.skipIf(ofFilesOnly)('no byte is left of a secret', () => {
  test('of a webhook that is deleted', async () => {
    const { project, id, secret } = await make()
    const { secret: fresh } = await service.services.webhooks.rotate(project.projectId, id)
    expect(await filesWith(secret)).not.toEqual([])
    await service.services.webhooks.delete(project.projectId, id)
    await erased()
    for (const each of [secret, fresh]) expect(await filesWith(each)).toEqual([])
    const changes = await (await project.fetch('/v1/changes')).json()
    expect(changes).toMatchObject({ data: [], hasMore: false })
  })

  test('that was rotated twice', async () => {
    const { project, id, secret } = await make()
    await service.services.webhooks.rotate(project.projectId, id)
    await service.services.webhooks.rotate(project.projectId, id)
    await erased()
    expect(await filesWith(secret)).toEqual([])
  })

  test('a day after its rotation', async () => {
    const { project, id, secret } = await make()
    const { secret: fresh } = await service.services.webhooks.rotate(project.projectId, id)
    await service.services.core.jobs.now('expiry of webhooks')
    expect(await filesWith(secret)).not.toEqual([])
    aheadMs += dayMs
    await service.services.core.jobs.now('expiry of webhooks')
    await erased()
    expect(await filesWith(secret)).toEqual([])
    expect(await filesWith(fresh)).not.toEqual([])
  })
})
