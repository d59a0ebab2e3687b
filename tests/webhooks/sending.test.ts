import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { Addresses } from '../../src/webhooks/addresses.ts'
import { WebhookQueue } from '../../src/webhooks/queue.ts'
import { Webhooks } from '../../src/webhooks/webhooks.ts'
import { freshFolder } from '../support/at-end.ts'
import { coreLike } from '../support/core.ts'
import { receiverEnv, startReceiver } from '../support/receiver.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const secondMs = 1_000
const hourMs = 3_600_000

let aheadMs = 0
/** While it is set, the clock stands still but for `later`, so that a slow machine makes nothing due. */
let stoppedAt: number | undefined
/** What each path answers; 204 by default. */
const statuses = new Map<string, number>()
const later = (ms: number) => {
  aheadMs += ms
}
afterEach(() => {
  stoppedAt = undefined
})
const service = await startService({ env: receiverEnv, now: () => (stoppedAt ?? Date.now()) + aheadMs })
const receiver = await startReceiver()
receiver.answer = ({ path, data }, response) => {
  const status = statuses.get(`${path} ${data.id}`) ?? statuses.get(path) ?? 204
  // 0 stands for an endpoint that does not answer.
  if (status > 0) response.writeHead(status).end()
}

async function make(options: { events?: string[]; project?: TestProject; path?: string } = {}) {
  const { events, project = await service.mintProject(), path = '' } = options
  const url = `${receiver.url}/${project.projectId}${path}`
  const { id, secret } = await service.services.webhooks.create(project.projectId, { url, events })
  const own = new URL(url).pathname
  const received = () => receiver.received.filter((event) => event.path === own)
  const answer = (status: number, call = '') => statuses.set(call ? `${own} ${call}` : own, status)
  const record = async () => {
    const found = (await service.services.webhooks.list(project.projectId)).find((one) => one.id === id)
    if (!found) throw new Error('The webhook is gone')
    return found
  }
  const types = () => received().map(({ type, data }) => `${type} ${data.id ?? ''}`.trim())
  return { project, id, secret, received, types, answer, record }
}

async function put(project: TestProject, id: string, change: object): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, change)).status).toBeLessThan(300)
}

describe('an endpoint that fails', () => {
  test('gets the event again by the schedule, under the same id, and then no more', async () => {
    const { project, id, received, answer, record } = await make()
    // A machine may be slow for so long.
    const marginMs = 4_000
    answer(500)
    await put(project, 'a', { status: 'completed' })
    await put(project, 'a', { summary: 'behind' })
    await until(() => received().length === 1)
    for (const [at, waitMs] of [5, 30, 120, 900, 3_600, 21_600, 86_400, 172_800].entries()) {
      await until(async () => (await record()).failures === at + 1)
      later(waitMs * secondMs - marginMs)
      await Bun.sleep(150)
      expect(received()).toHaveLength(at + 1)
      later(marginMs)
      await until(() => received().length === at + 2)
    }
    const first = received()
    expect(new Set(first.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(first.map(({ type }) => type))).toEqual(new Set(['call.completed']))
    // The event is given up after the last attempt, and the next one of the call has its turn.
    await until(() => received().length === 10)
    expect(received()[9]?.type).toBe('call.changed')
    const attempts = await service.services.deliveries.list(project.projectId, id)
    expect(attempts.slice(-9).map(({ status, attempt }) => [status, attempt])).toEqual(
      [9, 8, 7, 6, 5, 4, 3, 2, 1].map((attempt) => [500, attempt]),
    )
    answer(204)
  })

  test('is in the log with what it answered', async () => {
    const { project, id, answer } = await make()
    answer(418)
    await put(project, 'a', { status: 'completed' })
    const line = () => service.logs.find(({ webhook }) => webhook === id)
    await until(() => line() !== undefined)
    expect(line()).toMatchObject({ level: 40, reason: 'The endpoint answered 418' })
    answer(204)
  })

  test('holds up the later events of the same call, and of no other', async () => {
    const { project, received, types, answer, record } = await make()
    answer(503, 'a')
    await put(project, 'a', { status: 'completed' })
    await until(async () => (await record()).failures === 1)
    await put(project, 'a', { summary: 'second' })
    await put(project, 'b', { status: 'completed' })
    await put(project, 'a', { summary: 'third' })
    await until(() => received().length === 2)
    expect(types()).toEqual(['call.completed a', 'call.completed b'])
    answer(204, 'a')
    later(5 * secondMs)
    await until(() => received().length === 5)
    expect(types().slice(2)).toEqual(['call.completed a', 'call.changed a', 'call.changed a'])
    expect(
      received()
        .slice(2)
        .map(({ data }) => data.seq),
    ).toEqual([1, 2, 4])
    await until(async () => (await record()).pending === 0)
    expect(await record()).toMatchObject({ failures: 0, lastSuccessAt: expect.any(String) })
  })

  test('holds up the deletion of an item that was made again and deleted again', async () => {
    const { project, received, answer, record } = await make({ events: ['knowledge.deleted'] })
    const path = '/v1/knowledge/again'
    const makeAndDelete = async () => {
      await project.send('PUT', path, { name: 'Again', text: 'Text.' })
      await project.fetch(path, { method: 'DELETE' })
    }
    answer(503)
    await makeAndDelete()
    await until(async () => (await record()).failures === 1)
    answer(204)
    await makeAndDelete()
    await Bun.sleep(300)
    expect(received()).toHaveLength(1)
    later(5 * secondMs)
    await until(() => received().length === 3)
    expect(received().map(({ data }) => data.seq)).toEqual([2, 2, 4])
    await until(async () => (await record()).pending === 0)
  })

  test('holds up an item that is deleted and made again under its id, and then no longer', async () => {
    const { project, received, answer, record } = await make()
    const item = { name: 'Prices', text: 'Ten.' }
    answer(500)
    await project.send('PUT', '/v1/knowledge/prices', item)
    await until(async () => (await record()).failures === 1)
    await project.fetch('/v1/knowledge/prices', { method: 'DELETE' })
    await project.send('PUT', '/v1/knowledge/prices', item)
    await Bun.sleep(200)
    answer(204)
    later(6 * secondMs)
    await until(() => received().length >= 4)
    later(6 * secondMs)
    await until(async () => (await record()).pending === 0)
    const seqs = received().map(({ data }) => data.seq)
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other))
    expect(received().map(({ type }) => type)).toEqual([
      'knowledge.changed',
      'knowledge.deleted',
      'knowledge.deleted',
      'knowledge.deleted',
      'knowledge.changed',
      'knowledge.ready',
    ])
  })

  test('and does not answer delays no other endpoint', async () => {
    const slow = await make()
    const fast = await make({ project: slow.project, path: '/fast' })
    slow.answer(0)
    for (let at = 0; at < 20; at++) await put(slow.project, `call-${at}`, { status: 'completed' })
    await until(() => fast.received().length === 20)
    expect(slow.received().length).toBeLessThanOrEqual(8)
    await service.services.webhooks.delete(slow.project.projectId, slow.id)
  })

  test('for five days is switched off, and its owners are told; switched on, it gets what it missed', async () => {
    const { project, id, received, types, answer, record } = await make()
    await put(project, 'before', { status: 'completed' })
    await until(() => received().length === 1)
    answer(500)
    await put(project, 'a', { status: 'completed' })
    await until(async () => (await record()).failures === 1)
    later(119 * hourMs)
    await until(async () => (await record()).failures > 1)
    expect((await record()).enabled).toBe(true)
    later(2 * hourMs)
    await put(project, 'b', { status: 'completed' })
    await until(async () => !(await record()).enabled && (await record()).pending === 0)
    expect(await record()).toMatchObject({
      pending: 0,
      disabledReason: 'Every attempt has failed for five days.',
    })
    expect(service.logs.find(({ msg }) => msg === 'A webhook was disabled')).toMatchObject({ webhook: id })
    const { data } = await service.services.console.audit.list(project.projectId, { limit: 1 })
    expect(data).toMatchObject([{ action: 'webhook_switched_off', target: expect.stringContaining(id) }])
    await put(project, 'c', { status: 'completed' })
    await Bun.sleep(200)
    answer(204)
    const sent = received().length
    expect(await service.services.webhooks.enable(project.projectId, id)).toEqual({ id, queued: 3 })
    await until(() => received().length === sent + 3)
    expect(types().slice(sent)).toEqual(['call.completed a', 'call.completed b', 'call.completed c'])
  })
})

test('switching on that fails after its first commit loses nothing: the next one sends what was missed', async () => {
  const { project, id, received, types, record } = await make()
  const { webhooks, database } = service.services
  await database.write.run(
    sql`update webhooks set disabled_at = 1, disabled_reason = 'a test', missed_after = 0 where id = ${id}`,
  )
  await put(project, 'a', { status: 'completed' })
  const all = () => Promise.reject(new Error('The disk is full'))
  const write = Object.assign(Object.create(database.write), { all })
  const cutOff = new Webhooks(coreLike(service.services.core, { write }), {
    queue: new WebhookQueue(database),
    addresses: new Addresses({ allowList: null }),
    erasure: { schedule: () => undefined },
  })
  await expect(cutOff.enable(project.projectId, id)).rejects.toThrow('The disk is full')
  expect(await webhooks.enable(project.projectId, id)).toEqual({ id, queued: 1 })
  await until(() => received().length === 1)
  expect(types()).toEqual(['call.completed a'])
  await until(async () => (await record()).pending === 0)
  expect(await webhooks.enable(project.projectId, id)).toEqual({ id, queued: 0 })
})

test('clearing the queue of a webhook that was switched on meanwhile takes nothing', async () => {
  const { id, record } = await make()
  const { database } = service.services
  await database.write.run(sql`
    insert into webhook_queue (webhook_id, kind, erased_calls, event, seq, at, due_at)
    values (${id}, 'erasure', 1, 'erasure.done', 1, 1, 9007199254740991)`)
  await new WebhookQueue(database).clear(id, 'webhook_queue')
  expect((await record()).pending).toBe(1)
})

describe('what is sent', () => {
  test('changes of a live call come at most every two seconds, with what is then stored', async () => {
    const { project, received } = await make({ events: ['call.changed', 'call.completed'] })
    stoppedAt = Date.now()
    await put(project, 'a', {})
    await put(project, 'a', { summary: '0' })
    await until(() => received().length === 1)
    for (let at = 1; at <= 20; at++) await put(project, 'a', { summary: String(at) })
    await Bun.sleep(300)
    expect(received()).toHaveLength(1)
    later(2 * secondMs)
    await until(() => received().length === 2)
    expect(received()[1]?.data).toMatchObject({ seq: 22, call: { summary: '20' } })
    await put(project, 'a', { summary: 'last' })
    await put(project, 'a', { status: 'completed' })
    await until(() => received().length === 3)
    await Bun.sleep(200)
    later(2 * secondMs)
    await Bun.sleep(200)
    expect(
      received()
        .slice(2)
        .map(({ type, data }) => [type, data.call?.summary]),
    ).toEqual([['call.completed', 'last']])
  })

  test('a change that arrives during the last attempt to send the one before is not dropped with it', async () => {
    const { project, id, answer } = await make({ events: ['call.changed'] })
    answer(0)
    await put(project, 'a', {})
    await put(project, 'a', { summary: 'One' })
    const queue = new WebhookQueue(service.services.database)
    const rows = () => queue.due(id, Number.MAX_SAFE_INTEGER, 10)
    const [row] = await rows()
    const endpoint = (await queue.endpoints()).find((one) => one.id === id)
    if (!row || !endpoint) throw new Error('Nothing is queued')
    await put(project, 'a', { summary: 'Two' })
    const result = { messageId: 'm', at: Date.now(), bytes: 1, status: 500, error: null, durationMs: 1 }
    const last = { ...row, attempts: 1_000 }
    await queue.record([{ endpoint, row: last, result: { ...result, answer: null } }])
    expect((await rows()).map(({ seq }) => seq)).toEqual([row.seq + 1])
  })

  test('a call that is deleted before its events were sent is sent as deleted', async () => {
    const { project, received, answer, record } = await make()
    answer(500)
    await put(project, 'secret-id', { status: 'completed', summary: 'a secret' })
    await until(async () => (await record()).failures === 1)
    await project.fetch('/v1/calls/secret-id', { method: 'DELETE' })
    answer(204)
    later(5 * secondMs)
    await until(() => received().length === 3)
    const [first, ...others] = received()
    expect(others.map(({ type }) => type)).toEqual(['call.deleted', 'call.deleted'])
    for (const { body, data } of others) {
      expect(body).not.toContain('secret')
      expect(data.ref).toBe(first?.data.ref ?? '')
    }
  })

  test('events that the endpoint does not take are not queued', async () => {
    const { project, received, record } = await make({ events: ['call.deleted'] })
    await put(project, 'a', { status: 'completed' })
    expect((await record()).pending).toBe(0)
    await project.fetch('/v1/calls/a', { method: 'DELETE' })
    await until(() => received().length === 1)
    expect(received()[0]?.type).toBe('call.deleted')
  })

  test('an erasure that is done is sent with its count', async () => {
    const { project, received } = await make({ events: ['erasure.done'] })
    await put(project, 'a', { status: 'completed' })
    await put(project, 'b', { status: 'completed' })
    const { id } = await (await project.send('POST', '/v1/erasures', { ids: ['a', 'b'] })).json()
    await until(() => received().length === 1)
    expect(received()[0]).toMatchObject({ type: 'erasure.done', data: { erasure: { id, calls: 2 } } })
  })

  test('after a rotation both secrets sign for a day', async () => {
    const { project, id, secret, received } = await make()
    const { secret: fresh } = await service.services.webhooks.rotate(project.projectId, id)
    await put(project, 'a', { status: 'completed' })
    await until(() => received().length === 1)
    const [event] = received()
    if (!event) throw new Error('Nothing was received')
    const { headers, body } = event
    const time = new Date(Number(headers['webhook-timestamp']) * 1_000)
    expect(String(headers['webhook-signature']).split(' ')).toEqual(
      [fresh, secret].map((own) => new Webhook(own).sign(String(headers['webhook-id']), time, body)),
    )
    later(24 * hourMs)
    await put(project, 'a', { summary: 'later' })
    await until(() => received().length === 2)
    expect(String(received()[1]?.headers['webhook-signature']).split(' ')).toHaveLength(1)
    expect((await service.services.webhooks.list(project.projectId))[0]?.previousSecretUntil).toBeNull()
  })

  test('a replay sends each record that has changed since, as it is now, under a new id', async () => {
    const { project, id, received, types } = await make()
    await put(project, 'old', { status: 'completed' })
    for (const call of ['a', 'b', 'gone']) await put(project, call, { status: 'completed' })
    await put(project, 'a', { summary: 'now' })
    await put(project, 'live', {})
    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    await until(() => received().length === 7)
    const ids = new Set(received().map(({ headers }) => headers['webhook-id']))
    expect(await service.services.webhooks.replay(project.projectId, id, 1)).toEqual({ id, queued: 4 })
    await until(() => received().length === 11)
    expect(types().slice(7).sort()).toEqual([
      'call.changed live',
      'call.completed a',
      'call.completed b',
      'call.deleted',
    ])
    for (const { headers } of received().slice(7)) expect(ids.has(headers['webhook-id'])).toBe(false)
  })
})

describe('a restart', () => {
  test('goes on with what waits, when it is due, under the same ids', async () => {
    const dataDir = freshFolder()
    let ahead = 0
    const start = () => startService({ dataDir, env: receiverEnv, now: () => Date.now() + ahead })
    let own = await start()
    const project = await own.mintProject()
    const url = `${receiver.url}/restart`
    await own.services.webhooks.create(project.projectId, { url })
    const received = () => receiver.received.filter(({ path }) => path === new URL(url).pathname)
    statuses.set(new URL(url).pathname, 500)
    await put(project, 'a', { status: 'completed' })
    const failures = async () => (await own.services.webhooks.list(project.projectId))[0]?.failures
    await until(async () => (await failures()) === 1)
    await own.stop()
    own = await start()
    await Bun.sleep(200)
    expect(received()).toHaveLength(1)
    statuses.set(new URL(url).pathname, 204)
    ahead = 5_000
    await until(() => received().length === 2)
    await until(async () => (await failures()) === 0)
    await own.stop()
    expect(new Set(received().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })
})
