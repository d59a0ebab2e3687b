import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Receiver, receiverEnv, startReceiver } from '../support/receiver.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(60_000)
const minuteMs = 60_000

let service: TestService
let receiver: Receiver
/** Driven by the tests. */
let clock = Date.UTC(2026, 2, 1, 12)
beforeAll(async () => {
  receiver = await startReceiver()
  const options = { now: () => clock, pagerDutyUrl: `${receiver.url}/pagerDuty` }
  service = await startService({ env: receiverEnv, ...options })
})
afterAll(async () => {
  await service.stop()
  await receiver.close()
})

/** Moves the clock on and evaluates, minute by minute. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    clock += minuteMs
    await service.services.alertWatch.now()
  }
}

/** A project with a webhook of its own, which takes no event by itself. */
async function make() {
  const project = await service.mintProject()
  const path = `/hook/${project.projectId}`
  const { id: webhook } = await service.services.webhooks.create(project.projectId, {
    url: new URL(path, receiver.url).href,
    events: ['alert.changed'],
  })
  const received = () => receiver.received.filter((event) => event.path === path)
  const states = () => received().map(({ data }) => data.alert?.state)
  const add = async (rule: object) => {
    const answer = await project.send('POST', '/v1/alerts', {
      name: 'Rule',
      windowMinutes: 15,
      to: [{ webhook }],
      ...rule,
    })
    const alert = await answer.json()
    expect([answer.status, alert]).toEqual([201, expect.anything()])
    return alert as { id: string }
  }
  const read = async (id: string) => await (await project.fetch(`/v1/alerts/${id}`)).json()
  return { project, webhook, received, states, add, read, put: put(project) }
}

const put =
  (project: TestProject) =>
  async (id: string, change: object = {}) => {
    const answer = await project.send('PUT', `/ingest/calls/${id}`, {
      status: 'completed',
      createdAt: new Date(clock - 1_000).toISOString(),
      ...change,
    })
    expect(answer.status).toBeLessThan(300)
  }

describe('an alert of calls', () => {
  test('goes through its states, and each change is sent', async () => {
    const { add, put, read, states, received, project } = await make()
    const { id } = await add({ filters: { endedReason: 'error' }, above: { warn: 1, alert: 2 } })
    expect(await read(id)).toMatchObject({
      state: 'no_data',
      value: null,
      calls: 0,
      of: 'calls',
      show: 'count',
    })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'ok', value: 0, calls: 0 })
    for (const n of [1, 2]) await put(`a${n}`, { endedReason: 'error' })
    await put('other', { endedReason: 'hangup' })
    await pass(1)
    expect(await read(id)).toMatchObject({ state: 'warning', value: 2, calls: 2 })
    await put('a3', { endedReason: 'error' })
    await pass(1)
    await pass(16)
    expect(await read(id)).toMatchObject({ state: 'ok', value: 0, calls: 0 })
    await until(() => states().length === 4, 'four messages')
    expect(states()).toEqual(['ok', 'warning', 'alert', 'ok'])
    const alert = received()[2]?.data.alert
    expect(alert).toMatchObject({ id, name: 'Rule', value: 3, limit: 2, calls: 3 })
    const query = new URL(String(alert?.url)).search
    const listed = await (await project.fetch(`/v1/calls${query}`)).json()
    expect(listed.data.map((call: { id: string }) => call.id).sort()).toEqual(['a1', 'a2', 'a3'])
  })
})
