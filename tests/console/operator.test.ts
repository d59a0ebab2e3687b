import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { ServiceAnswer } from '../../src/console/operator/service-state.ts'
import { backUp } from '../../src/db/backup.ts'
import { version } from '../../src/version.ts'
import { freshFolder } from '../support/at-end.ts'
import { browserOf, cookieOf, startConsole, type TestBrowser, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { ofFilesOnly, testMode } from '../support/test-mode.ts'
import { totp } from '../support/totp.ts'

let aheadMs = 0

const service = await startService({ now: () => Date.now() + aheadMs })
const set = await startConsole(service)
const project = await set.mintProject()

/** What the service tells its owner, read anew. */
async function read(): Promise<ServiceAnswer> {
  aheadMs += 60_000
  const answer = await set.owner.fetch('/operator')
  expect(answer.status).toBe(200)
  return await answer.json()
}

describe('the state of the service', () => {
  test('has its version, database, embedder and queues', async () => {
    const state = await read()
    expect(state).toMatchObject({
      version,
      problem: null,
      embedder: { destination: expect.stringContaining('builtin'), dimensions: expect.any(Number) },
      model: null,
      lastBackup: null,
    })
    expect(state.database.kind).toBe(testMode === 'remote' ? 'server' : testMode)
    // Of a server it is not known.
    if (testMode !== 'remote') expect(state.database.bytes).toBeGreaterThan(100_000)
    expect(state.queues.map(({ name }) => name)).toEqual([
      'webhooks',
      'analyses',
      'recordings',
      'chunks',
      'erasures',
    ])
  })

  test('counts what each project holds, and estimates its bytes', async () => {
    const text = 'We refund any order within thirty days. '.repeat(100)
    for (const name of ['One', 'Two']) await project.send('POST', '/v1/knowledge', { name, text })
    for (const id of ['a', 'b', 'c']) await project.send('PUT', `/ingest/calls/${id}`, { summary: 'Short' })
    const size = (await read()).projects.find(({ id }) => id === project.id)
    expect(size).toMatchObject({ calls: 3, items: 2, recordings: 0, recordingBytes: 0 })
    expect(size?.chunks).toBeGreaterThan(2)
    expect(size?.textBytes).toBeGreaterThan(2 * text.length)
    expect(size?.textBytes).toBeLessThan(2 * text.length + 3_000)
  })

  test('says how many events wait for a webhook, and since when', async () => {
    const { write } = service.services.database
    await write.run(sql`
      insert into webhooks (id, project_id, url, events, secret, created_at)
      select 'wh_1', id, 'https://callbook.invalid/', '[]', '', 0 from projects where public_id = ${project.id}`)
    for (const at of [5_000, 3_000])
      await write.run(sql`
        insert into webhook_queue (webhook_id, kind, event, seq, at, due_at)
        values ('wh_1', 'call', 'call.completed', 1, ${at}, ${Date.now() + 3_600_000})`)
    const webhooks = (await read()).queues.find(({ name }) => name === 'webhooks')
    expect(webhooks).toEqual({ name: 'webhooks', waiting: 2, oldestAt: '1970-01-01T00:00:03.000Z' })
    await write.run(sql`delete from webhooks where id = 'wh_1'`)
  })

  test('counts the requests of each key since the start', async () => {
    const own = await set.mintProject()
    for (let n = 0; n < 3; n++) await own.fetch('/v1/calls')
    const used = (await read()).keys.filter(({ projectId }) => projectId === own.id)
    expect(used.map(({ kind, requests }) => [kind, requests])).toContainEqual(['live', 3])
    expect(used.every((key) => !('hash' in key) && !('hint' in key))).toBe(true)
  })

  test.skipIf(ofFilesOnly)('says when the last backup was made', async () => {
    const folder = freshFolder()
    const { dataDir } = service.services.config
    const { file } = service.services.database
    const target = join(folder, 'backup')
    const manifest = await backUp({
      source: file,
      dataDir,
      folder: target,
      version,
      now: () => 1_800_000_000_000,
      signal: new AbortController().signal,
    })
    expect((await read()).lastBackup).toEqual({
      at: new Date(1_800_000_000_000).toISOString(),
      bytes: manifest.database.bytes,
    })
  })

  test('is read once a minute, however often it is asked for', async () => {
    const first = await read()
    await project.send('PUT', '/ingest/calls/later', { summary: 'Short' })
    expect(await set.owner.read('/operator')).toEqual(first)
    expect((await read()).readAt).not.toBe(first.readAt)
  })
})

describe('two-factor sign-in for everybody', () => {
  async function enrol(person: TestPerson): Promise<TestBrowser> {
    const { secret } = await (await person.send('POST', '/two-factor', { password: person.password })).json()
    const answer = await person.send('POST', '/two-factor/turn-on', { code: totp(secret) })
    expect(answer.status).toBe(200)
    return browserOf(service, cookieOf(answer))
  }

  test('is required from the next request on, until it is set up, and until the rule ends', async () => {
    const member = await set.join(project, 'member')
    const late = await set.join(project, 'viewer')
    const calls = `/projects/${project.id}/calls`
    const refused = await set.owner.send('PUT', '/operator/two-factor', { isOn: true })
    const { errors } = await expectProblem(refused, 'invalid_request')
    expect(errors).toEqual([{ field: 'isOn', message: expect.stringContaining('of your own first') }])
    const owner = await enrol(set.owner)
    expect(await (await owner.send('PUT', '/operator/two-factor', { isOn: true })).json()).toEqual({
      isOn: true,
    })
    expect((await owner.fetch(calls)).status).toBe(200)
    expect(await owner.read('/two-factor')).toEqual({ isOn: true, isRequired: true })

    for (const [method, path] of [
      ['GET', calls],
      ['GET', '/sessions'],
      ['PATCH', '/person'],
      ['POST', '/projects'],
    ] as const)
      await expectProblem(
        await member.send(method, path, method === 'GET' ? undefined : { name: 'x' }),
        'two_factor_required',
        'Second factor required',
      )
    expect(await member.read('/session')).toMatchObject({
      person: { email: member.email },
      mustSetUpTwoFactor: true,
    })
    const again = await enrol(member)
    expect((await again.fetch(calls)).status).toBe(200)
    expect(await again.read('/session')).toMatchObject({ mustSetUpTwoFactor: false })
    const off = { password: member.password, code: '000000' }
    await expectProblem(await again.send('POST', '/two-factor/turn-off', off), 'forbidden')

    expect((await late.fetch(calls)).status).toBe(403)
    // As a session that began at the sign-in provider.
    const { write } = service.services.database
    await write.run(sql`update sessions set ends_at = expires_at where user_id = ${late.personId}`)
    expect((await late.fetch(calls)).status).toBe(200)
    expect(await late.read('/session')).toMatchObject({ mustSetUpTwoFactor: false })
    await write.run(sql`update sessions set ends_at = null where user_id = ${late.personId}`)
    expect((await late.fetch(calls)).status).toBe(403)
    // As the command line does.
    await service.services.console.twoFactorRule.change(false)
    expect((await late.fetch(calls)).status).toBe(200)
    const trail = await owner.read(`/projects/${project.id}/audit`)
    const actions = trail.data.map(({ action }: { action: string }) => action)
    expect(actions).toContain('two_factor_required')
  })
})
