import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { failureOf } from '../support/failure.ts'
import fc, { runs } from '../support/fast-check.ts'
import { type Received, receiverEnv, startReceiver } from '../support/receiver.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const minuteMs = 60_000

/** Driven by the tests. */
let clock = Date.UTC(2026, 2, 1, 12)
/** What each path answers; 204 by default, nothing for 0. */
const statuses = new Map<string, number>()
const receiver = await startReceiver()
receiver.answer = ({ path }, response) => {
  const status = statuses.get(path) ?? 204
  if (status > 0) response.writeHead(status, { location: '/hook/elsewhere' }).end()
}
const pagerDutyUrl = new URL('/pagerDuty', receiver.url).href
const service = await startService({ env: receiverEnv, now: () => clock, pagerDutyUrl })

/** Moves the clock on and evaluates, minute by minute. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    clock += minuteMs
    await service.services.alertWatch.now()
  }
}

const receivedAt = (path: string) => receiver.received.filter((event) => event.path === path)
const statesOf = (events: readonly Received[]) => events.map(({ data }) => data.alert?.state)

/** A project with a webhook of its own. */
async function make(events = ['alert.changed']) {
  const project = await service.mintProject()
  const path = `/hook/${project.projectId}`
  const url = new URL(path, receiver.url).href
  const { id: webhook } = await service.services.webhooks.create(project.projectId, { url, events })
  const add = async (rule: object): Promise<{ id: string; to: unknown }> => {
    const body = { name: 'Rule', windowMinutes: 15, to: [{ webhook }], ...rule }
    const answer = await project.send('POST', '/v1/alerts', body)
    const alert = await answer.json()
    expect([answer.status, alert]).toEqual([201, expect.anything()])
    return alert
  }
  const read = async (id: string) => await (await project.fetch(`/v1/alerts/${id}`)).json()
  const states = () => statesOf(receivedAt(path))
  return { project, path, webhook, add, read, states, received: () => receivedAt(path), put: putIn(project) }
}

const putIn =
  (project: TestProject) =>
  async (id: string, change: object = {}) => {
    const createdAt = new Date(clock - 1_000).toISOString()
    const answer = await project.send('PUT', `/ingest/calls/${id}`, {
      status: 'completed',
      createdAt,
      ...change,
    })
    expect(answer.status).toBeLessThan(300)
  }

async function listed(project: TestProject, url: unknown): Promise<string[]> {
  const { pathname, search } = new URL(String(url))
  expect(pathname).toBe(`/console/p/${project.id}/calls`)
  const { data } = await (await project.fetch(`/v1/calls${search}`)).json()
  return data.map(({ id }: { id: string }) => id).sort()
}

describe('an alert', () => {
  test('of the number of calls goes through its states, and each change is sent with a link to its calls', async () => {
    const { add, put, read, states, received, project } = await make()
    const { id } = await add({ filters: { endedReason: ['error', 'a,b'] }, above: { warn: 1, alert: 2 } })
    expect(await read(id)).toMatchObject({
      state: 'no_data',
      value: null,
      calls: 0,
      of: 'calls',
      show: 'count',
    })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'ok', value: 0, calls: 0 })
    await put('a1', { endedReason: 'error' })
    await put('a2', { endedReason: 'a,b' })
    await put('other', { endedReason: 'hangup' })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'warning', value: 2, calls: 2 })
    await put('a3', { endedReason: 'error' })
    await pass(1)
    // Nothing but the window changes from here on.
    await pass(12)
    expect(await read(id)).toMatchObject({ state: 'alert', value: 3 })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'ok', value: 1, calls: 1 })
    await until(() => states().length === 4, 'four messages')
    expect(states()).toEqual(['ok', 'warning', 'alert', 'ok'])
    const alert = received()[2]?.data.alert
    expect(alert).toMatchObject({ id, name: 'Rule', value: 3, limit: 2, calls: 3 })
    expect(await listed(project, alert?.url)).toEqual(['a1', 'a2', 'a3'])
    expect(await listed(project, received()[3]?.data.alert?.url)).toEqual(['a3'])
  })

  test('of anything else counts calls when they are completed, however long ago they began', async () => {
    const { add, put, read, received, project } = await make()
    const { id } = await add({ of: 'duration', show: 'avg', above: { alert: 60 }, minCalls: 2 })
    const long = new Date(clock - 3 * 3_600_000).toISOString()
    await put('long', { status: 'live', createdAt: long })
    await put('short', { duration: 10 })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'no_data', value: 10, calls: 1 })
    await put('long', { status: 'completed', createdAt: long, duration: 10_000 })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'alert', value: 5_005, calls: 2 })
    await until(() => received().length === 1, 'a message')
    expect(await listed(project, received()[0]?.data.alert?.url)).toEqual(['long', 'short'])
    await pass(20)
    expect(await read(id)).toMatchObject({ state: 'alert', value: null, calls: 0 })
  })

  test.each([
    ['keep', 'alert'],
    ['ok', 'ok'],
    ['alert', 'alert'],
  ])('whose calls are gone is by noData %s in the state %s', async (noData, state) => {
    const { add, put, read } = await make()
    const { id } = await add({ of: 'success', show: 'share', below: { alert: 0.5 }, noData, minCalls: 1 })
    await pass(1)
    expect((await read(id)).state).toBe('no_data')
    await put('c', { evaluation: 'fail' })
    await pass(1)
    expect((await read(id)).state).toBe('alert')
    await pass(15)
    expect(await read(id)).toMatchObject({ state, value: null, calls: 0 })
  })

  test('is sent again until it is ok, and not while it is paused', async () => {
    const { add, put, states, project } = await make()
    const rule = { below: { alert: 1 }, repeatMinutes: 3 }
    const { id } = await add(rule)
    await pass(7)
    await until(() => states().length === 3, 'the change and two repetitions')
    await service.services.alerts.pause(project.projectId, id, true)
    await pass(10)
    await service.services.alerts.pause(project.projectId, id, false)
    await put('c')
    await pass(10)
    await until(() => states().length === 4, 'the end')
    expect(states()).toEqual(['alert', 'alert', 'alert', 'ok'])
  })

  test('of a deleted call is evaluated without it', async () => {
    const { add, put, read, project } = await make()
    const { id } = await add({ above: { alert: 0 } })
    await put('c')
    await pass(1)
    expect((await read(id)).state).toBe('alert')
    await project.fetch('/v1/calls/c', { method: 'DELETE' })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'ok', calls: 0 })
  })

  test('goes to the webhooks that its rule names, whatever their events, and to no others', async () => {
    const { add, received, project, webhook } = await make(['call.deleted'])
    const other = `/hook/other-${project.projectId}`
    await service.services.webhooks.create(project.projectId, { url: new URL(other, receiver.url).href })
    await add({ above: { alert: 0 }, to: [{ webhook }] })
    await pass(1)
    await until(() => received().length === 1, 'a message')
    expect(received()[0]?.headers['webhook-signature']).toStartWith('v1,')
    expect(receivedAt(other)).toEqual([])
  })

  test('leaves a webhook that is deleted', async () => {
    const { add, read, project, webhook } = await make()
    const { id } = await add({ above: { alert: 0 } })
    await service.services.webhooks.delete(project.projectId, webhook)
    expect((await read(id)).to).toEqual([])
    await pass(1)
    expect((await read(id)).state).toBe('ok')
  })

  test('keeps its changes, with how long each lasted', async () => {
    const { add, put, project } = await make()
    const { id } = await add({ above: { alert: 0 } })
    await pass(1)
    const startedAt = clock
    await put('c')
    await pass(1)
    const { alerts } = service.services
    const { data, next } = await alerts.changes(project.projectId, { alert: id })
    expect(data).toMatchObject([
      { id, state: 'alert', calls: 1, until: null },
      {
        id,
        state: 'ok',
        calls: 0,
        at: new Date(startedAt).toISOString(),
        until: new Date(clock).toISOString(),
      },
    ])
    expect(next).toBeNull()
    expect((await alerts.changes(project.projectId, { alert: 'other' })).data).toEqual([])
    expect((await alerts.changes(project.projectId, { before: data[0]?.seq ?? 0 })).data).toHaveLength(1)
    clock += 91 * 24 * 60 * minuteMs
    await alerts.expire()
    expect((await alerts.changes(project.projectId)).data).toEqual([])
  })
})

describe('a destination', () => {
  const key = '0123456789abcdef0123456789abcdef'
  const slack = (project: TestProject) => `/slack/${project.projectId}`

  test('of Slack gets a text, one of PagerDuty events of one incident, and both stand in no list of webhooks', async () => {
    const { add, put, project } = await make()
    const url = new URL(slack(project), receiver.url).href
    const { id, to } = await add({
      name: 'A <b> & c',
      above: { warn: 0, alert: 1 },
      to: [{ slack: url }, { pagerDuty: key }],
    })
    expect(to).toEqual([{ slack: `…${url.slice(-4)}` }, { pagerDuty: '…cdef' }])
    expect(await service.services.webhooks.list(project.projectId)).toHaveLength(1)
    for (const n of [1, 2]) {
      await put(`c${n}`)
      await pass(1)
    }
    await pass(16)
    const texts = () => receivedAt(slack(project)).map(({ body }) => JSON.parse(body))
    await until(() => texts().length === 4, 'four texts')
    expect(texts()[0].text).toStartWith('A &lt;b&gt; &amp; c: warning. 1 (limit 0), 1 call, ')
    expect(texts()[1].blocks[0].text.text).toContain(`|Open the calls>`)
    const events = () =>
      receivedAt('/pagerDuty')
        .map(({ body }) => JSON.parse(body))
        .filter(({ dedup_key }) => dedup_key === id)
    await until(() => events().length === 4, 'four events')
    expect(events().map(({ event_action, payload }) => [event_action, payload.severity])).toEqual([
      ['trigger', 'warning'],
      ['trigger', 'critical'],
      ['trigger', 'warning'],
      ['resolve', 'info'],
    ])
    expect(events()[0]).toMatchObject({ routing_key: key, payload: { source: 'Callbook' } })
  })

  test('is kept by a PUT that brings back what was shown, shared by rules, and erased with the last one', async () => {
    const { add, project } = await make()
    const url = new URL(slack(project), receiver.url).href
    const first = await add({ above: { alert: 0 }, to: [{ slack: url }, { pagerDuty: key }] })
    const second = await add({ above: { alert: 0 }, to: [{ slack: url }] })
    const rows = () =>
      service.services.database.read.all<{ kind: string; url: string; secret: string }>(
        sql`select kind, url, secret from webhooks where project_id = ${project.projectId} and kind <> 'webhook' order by kind`,
      )
    expect(await rows()).toMatchObject([
      { kind: 'pagerDuty', secret: key },
      { kind: 'slack', url },
    ])
    const put = async (id: string, to: unknown) =>
      await project.send('PUT', `/v1/alerts/${id}`, {
        name: 'Rule',
        windowMinutes: 15,
        above: { alert: 0 },
        to,
        showOnly: Array.isArray(to) && to.length === 0,
      })
    expect(await (await put(first.id, first.to)).json()).toMatchObject({ to: first.to })
    expect(await rows()).toHaveLength(2)
    // What another rule shows means nothing here.
    expect((await put(second.id, [{ pagerDuty: '…cdef' }])).status).toBe(400)
    expect((await put(first.id, [])).status).toBe(200)
    expect(await rows()).toMatchObject([{ kind: 'slack', url }])
    await project.fetch(`/v1/alerts/${second.id}`, { method: 'DELETE' })
    expect(await rows()).toEqual([])
  })

  test.each([500, 301, 0])('that answers %d gets it again, in order', async (status) => {
    const { add, put, path, states, project } = await make()
    if (status > 0) statuses.set(path, status)
    else receiver.received.splice(0)
    await add({ above: { alert: 0 } })
    if (status === 0) statuses.set(path, 0)
    await put('c')
    await pass(1)
    await until(() => receivedAt(path).length === 1, 'a first try')
    await pass(16)
    const waiting = () => service.services.webhooks.list(project.projectId).then(([one]) => one?.pending)
    expect(await waiting()).toBe(2)
    expect(receivedAt('/hook/elsewhere')).toEqual([])
    statuses.delete(path)
    if (status === 0) return
    // The failure may be noted only now, and its next try is later than that.
    await until(() => {
      clock += minuteMs
      return states().at(-1) === 'ok'
    }, 'the end')
    expect(states().slice(-2)).toEqual(['alert', 'ok'])
  })

  test('is tried with a test, which leaves the state alone', async () => {
    const { add, read, received, states, project } = await make()
    const { id } = await add({ above: { alert: 0 } })
    expect(await service.services.alerts.test(project.projectId, id)).toEqual({ id, queued: 2 })
    await until(() => states().length === 2, 'two messages')
    expect(received().map(({ data }) => [data.alert?.state, data.alert?.test])).toEqual([
      ['alert', true],
      ['ok', true],
    ])
    expect((await read(id)).state).toBe('no_data')
  })

  test('is not tried again while a test of its rule waits', async () => {
    const { add, path, states, project } = await make()
    const { id } = await add({ above: { alert: 0 } })
    const { id: other } = await add({ above: { alert: 0 } })
    const { alerts } = service.services
    statuses.set(path, 500)
    await alerts.test(project.projectId, id)
    const refused = await failureOf(alerts.test(project.projectId, id))
    expect(refused).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('waits') })
    expect(await alerts.test(project.projectId, other)).toMatchObject({ queued: 2 })
    await until(() => receivedAt(path).length === 2, 'a first try of each')
    expect(await failureOf(alerts.test(project.projectId, id))).toMatchObject({ code: 'rate_limited' })
    statuses.delete(path)
    // Only so far: what waits too long is not sent any more.
    let minutes = 20
    await until(async () => {
      if (minutes-- > 0) clock += minuteMs
      // A busy machine needs time for what is due.
      await Bun.sleep(100)
      return states().filter((state) => state === 'ok').length === 2
    }, 'the end of both')
    await until(async () => (await service.services.webhooks.list(project.projectId))[0]?.pending === 0)
    expect(await alerts.test(project.projectId, id)).toMatchObject({ queued: 2 })
  })

  test('is tried ten times an hour in a project, also when all is asked for at once', async () => {
    const [{ add, project }, other] = [await make(), await make()]
    const rules = await Promise.all(Array.from({ length: 12 }, () => add({ above: { alert: 0 } })))
    const { alerts } = service.services
    const tried = await Promise.allSettled(rules.map(({ id }) => alerts.test(project.projectId, id)))
    const refused = tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toMatchObject(Array(2).fill({ code: 'rate_limited', retryAfterSeconds: 600 }))
    const { id } = await other.add({ above: { alert: 0 } })
    expect(await alerts.test(other.project.projectId, id)).toMatchObject({ queued: 2 })
    const last = rules[tried.findIndex(({ status }) => status === 'rejected')]?.id ?? ''
    clock += 59 * minuteMs
    expect(await failureOf(alerts.test(project.projectId, last))).toMatchObject({ code: 'rate_limited' })
    clock += 2 * minuteMs
    expect(await alerts.test(project.projectId, last)).toMatchObject({ queued: 2 })
  })
})

test('a bad rule is 400 with each field named', async () => {
  const { project, webhook } = await make()
  const rule = { name: 'n', windowMinutes: 5, above: { alert: 1 }, showOnly: true }
  const named = async (change: object) => {
    const answer = await project.send('POST', '/v1/alerts', { ...rule, ...change })
    const { errors = [] } = await answer.json()
    return [answer.status, ...errors.map(({ field }: { field: string }) => field)]
  }
  expect(await named({ name: '', windowMinutes: 4 })).toEqual([400, 'name', 'windowMinutes'])
  expect(await named({ windowMinutes: 10_081, repeatMinutes: 0 })).toEqual([
    400,
    'windowMinutes',
    'repeatMinutes',
  ])
  expect(await named({ below: { alert: 1 } })).toEqual([400, 'above'])
  expect(await named({ above: undefined })).toEqual([400, 'above'])
  expect(await named({ above: { warn: 1, alert: 1 } })).toEqual([400, 'above.warn'])
  expect(await named({ minCalls: 1, noData: 'ok' })).toEqual([400, 'minCalls', 'noData'])
  expect(await named({ of: 'duration' })).toEqual([400, 'show'])
  expect(await named({ of: 'nothing', show: 'avg' })).toEqual([400, 'of'])
  expect(
    await named({ filters: { status: 'x', from: '2026-01-01', to: '2026-01-01', text: 'a', cursor: 'x' } }),
  ).toEqual([400, 'filters.from', 'filters.to', 'filters.text', 'filters.cursor', 'filters.status'])
  expect(await named({ name: ' ' })).toEqual([400, 'name'])
  expect(await named({ name: '\u00a0', windowMinutes: 4 })).toEqual([400, 'windowMinutes', 'name'])
  expect(await named({ showOnly: undefined })).toEqual([400, 'to'])
  expect(await named({ showOnly: false, to: [] })).toEqual([400, 'to'])
  expect(await named({ to: [{ webhook }] })).toEqual([400, 'showOnly'])
  rule.showOnly = false
  const to = [{ webhook: 'wh_none' }, { slack: 'http://127.0.0.2/' }, { pagerDuty: '…abcd' }, { webhook }]
  expect(await named({ to })).toEqual([400, 'to.0.webhook', 'to.1.slack', 'to.2.pagerDuty'])
  expect(await named({ to: [{}, { webhook, slack: 'x' }] })).toEqual([400, 'to.0', 'to.1'])
  const other = await make()
  expect(await named({ to: [{ webhook: other.webhook }] })).toEqual([400, 'to.0.webhook'])
  rule.showOnly = true
  for (let n = 0; n < 50; n++) expect((await project.send('POST', '/v1/alerts', rule)).status).toBe(201)
  expect(await named({})).toEqual([400, 'name'])
  const [{ id }] = (await (await project.fetch('/v1/alerts')).json()).data
  expect(await (await project.fetch(`/v1/alerts/${id}`)).json()).toMatchObject({ showOnly: true, to: [] })
  expect((await project.send('PUT', `/v1/alerts/${id}`, { ...rule, showOnly: false })).status).toBe(400)
  expect((await other.project.fetch(`/v1/alerts/${id}`)).status).toBe(404)
  expect((await other.project.send('PUT', `/v1/alerts/${id}`, rule)).status).toBe(404)
  expect((await other.project.fetch(`/v1/alerts/${id}`, { method: 'DELETE' })).status).toBe(404)
})

test('what an evaluation finds is what the figures of the window say, whatever is written and deleted between', async () => {
  const { add, read, project } = await make()
  const rules: { of: string; show: string; filters: Record<string, string> }[] = [
    { of: 'calls', show: 'count', filters: {} },
    { of: 'calls', show: 'count', filters: { evaluation: 'fail' } },
    { of: 'success', show: 'share', filters: {} },
    { of: 'duration', show: 'p95', filters: { agentId: 'a' } },
    { of: 'duration', show: 'sum', filters: {} },
  ]
  const made = await Promise.all(
    rules.map((rule) => add({ ...rule, above: { alert: 1e9 }, windowMinutes: 5 })),
  )
  const step = fc.record({
    id: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
    status: fc.constantFrom('live', 'completed'),
    agoMinutes: fc.integer({ min: 0, max: 7 }),
    duration: fc.integer({ min: 0, max: 100 }),
    evaluation: fc.constantFrom('success', 'fail', null),
    agent: fc.constantFrom('a', 'b'),
    isDeleted: fc.boolean(),
    minutes: fc.integer({ min: 1, max: 3 }),
  })
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      round++
      for (const { id, agoMinutes, agent, isDeleted, minutes, ...change } of steps) {
        const call = `${id}-${round}`
        const createdAt = new Date(clock - agoMinutes * minuteMs).toISOString()
        const sent = { ...change, createdAt, details: { agent: { id: agent, name: null } } }
        await project.send('PUT', `/ingest/calls/${call}`, sent)
        if (isDeleted) await project.fetch(`/v1/calls/${call}`, { method: 'DELETE' })
        await pass(minutes)
        for (const [at, rule] of rules.entries()) {
          const { value, calls } = await read(made[at]?.id ?? '')
          const [from = '', to = ''] = [clock - 5 * minuteMs, clock].map((time) =>
            new Date(time).toISOString(),
          )
          const names = rule.of === 'calls' ? ['from', 'to'] : ['completedFrom', 'completedTo']
          const times = Object.fromEntries([from, to].map((time, n) => [names[n], time]))
          const query = new URLSearchParams({ of: rule.of, show: rule.show, ...rule.filters, ...times })
          const { data } = await (await project.fetch(`/v1/metrics?${query}`)).json()
          expect([rule, { value, calls }]).toEqual([rule, { value: data[0].value, calls: data[0].calls }])
        }
      }
    }),
    runs(6),
  )
})

test('a preview tells when a rule would have fired in the last 30 days', async () => {
  const { project, put } = await make()
  const at = (hoursAgo: number) => ({
    createdAt: new Date(clock - hoursAgo * 60 * minuteMs - 1_000).toISOString(),
  })
  for (const hours of [100, 100.01, 100.02, 50]) await put(`c${hours}`, at(hours))
  const rule = { name: 'n', windowMinutes: 60, above: { warn: 0, alert: 2 } }
  const { data, fired } = await service.services.alerts.preview(project.projectId, rule)
  expect(fired.map(({ state }) => state)).toEqual(['alert', 'warning'])
  expect(data.length).toBeGreaterThanOrEqual(720)
  expect(Math.max(...data.map(({ calls }) => calls))).toBe(3)
  expect(data.filter(({ state }) => state === 'alert').length).toBeGreaterThan(0)
})

test('of many previews at once, a project has one made and four wait, whatever another project asks for', async () => {
  const [{ project }, other] = [await make(), await make()]
  const { alerts } = service.services
  const rule = (alert: number) => ({ name: 'n', windowMinutes: 60, above: { alert } })
  const wanted = Array.from({ length: 20 }, (_, n) => alerts.preview(project.projectId, rule(n)))
  const elsewhere = alerts.preview(other.project.projectId, rule(0))
  const results = await Promise.allSettled(wanted)
  const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refused).toMatchObject(Array(15).fill({ code: 'unavailable' }))
  expect((await elsewhere).data.length).toBeGreaterThanOrEqual(720)
  const equal = Array.from({ length: 20 }, () => alerts.preview(project.projectId, rule(0)))
  expect(new Set((await Promise.all(equal)).map((preview) => JSON.stringify(preview.fired)))).toHaveLength(1)
})

test('the figures of many windows are those of each of them', async () => {
  const { project, put } = await make()
  const { windowFigures } = service.services
  const firstEnd = clock - 20 * minuteMs
  for (let n = 0; n < 60; n++) {
    const at = new Date(clock - 40 * minuteMs + n * 0.65 * minuteMs).toISOString()
    await put(`c${n}`, {
      createdAt: at,
      occurredAt: at,
      duration: (n * 7) % 5,
      evaluation: [null, 'success', 'fail'][n % 3],
      ...(n % 4 > 0 && { details: { latencyMs: (n * 37) % 11 } }),
    })
  }
  const windows = { firstEnd, lastEnd: clock + 5 * minuteMs, stepMs: minuteMs, lengthMs: 7 * minuteMs }
  for (const [of, show] of [
    ['calls', 'count'],
    ['duration', 'sum'],
    ['duration', 'max'],
    ['success', 'share'],
    ['latencyMs', 'min'],
    ['latencyMs', 'avg'],
    ['latencyMs', 'p50'],
    ['latencyMs', 'p95'],
  ] as const) {
    const rule = { filters: {}, of, show }
    const { values, calls } = await windowFigures.ofWindows(project.projectId, rule, windows)
    expect(values).toHaveLength(26)
    for (const [index, value] of values.entries()) {
      const to = firstEnd + index * minuteMs
      const figure = await windowFigures.read(project.projectId, rule, { from: to - 7 * minuteMs, to })
      const found = { value: Number.isNaN(value) ? null : value, calls: calls[index] }
      expect([of, show, index, found.calls]).toEqual([of, show, index, figure.calls])
      if (figure.value === null) expect(found.value).toBeNull()
      else expect(found.value).toBeCloseTo(figure.value, 9)
    }
  }
})
