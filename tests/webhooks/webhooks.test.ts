import { describe, expect, test } from 'bun:test'
import { receiverEnv, startReceiver, verify } from '../support/receiver.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: receiverEnv })
const receiver = await startReceiver()

/** A webhook of a new project, at a path of its own. */
async function make(events?: string[]) {
  const project = await service.mintProject()
  const url = `${receiver.url}/${project.projectId}`
  const webhook = await service.services.webhooks.create(project.projectId, { url, events })
  const received = () => receiver.received.filter(({ path }) => path.endsWith(`/${project.projectId}`))
  return { project, webhook, received }
}

async function put(project: TestProject, id: string, change: object): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, change)).status).toBeLessThan(300)
}

const turn = (content: string) => ({ role: 'user', content })

describe('events', () => {
  test('a call is sent as it starts, changes, completes and is deleted, signed, with its document', async () => {
    const { project, webhook, received } = await make()
    await put(project, 'a', { transcript: [turn('one')] })
    await until(() => received().length === 1)
    await put(project, 'a', { summary: 'second' })
    await until(() => received().length === 2)
    await put(project, 'a', { status: 'completed', summary: 'third' })
    await until(() => received().length === 3)
    await project.fetch('/v1/calls/a', { method: 'DELETE' })
    await until(() => received().length === 4)
    expect(received().map(({ type }) => type)).toEqual([
      'call.started',
      'call.changed',
      'call.completed',
      'call.deleted',
    ])
    for (const event of received()) verify(webhook.secret, event)
    const [started, , completed, deleted] = received()
    expect(started?.data).toMatchObject({ id: 'a', call: { id: 'a', status: 'live' } })
    expect(completed?.data).toMatchObject({ seq: 3, call: { status: 'completed', summary: 'third' } })
    expect(Object.keys(deleted?.data ?? {})).toEqual(['seq', 'ref'])
    expect(new Set(received().map(({ data }) => data.ref)).size).toBe(1)
    expect(new Set(received().map(({ headers }) => headers['webhook-id'])).size).toBe(4)
    const changes = await (await project.fetch('/v1/changes')).json()
    expect(changes.data.at(-1)).toMatchObject({ seq: deleted?.data.seq, ref: deleted?.data.ref })
  })

  test('a call that is created completed sends call.completed alone', async () => {
    const { project, received } = await make()
    await put(project, 'b', { status: 'completed' })
    await put(project, 'b', { summary: 'later' })
    await until(() => received().length === 2)
    expect(received().map(({ type }) => type)).toEqual(['call.completed', 'call.changed'])
  })

  test('knowledge is sent as it is stored, ready and deleted', async () => {
    const { project, received } = await make()
    const { id } = await (
      await project.send('POST', '/v1/knowledge', { name: 'Prices', text: 'Ten.' })
    ).json()
    await until(() => received().length === 2)
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    await until(() => received().length === 3)
    expect(received().map(({ type }) => type)).toEqual([
      'knowledge.changed',
      'knowledge.ready',
      'knowledge.deleted',
    ])
    expect(received()[0]?.data).toMatchObject({ id, item: { id, name: 'Prices', text: 'Ten.' } })
    expect(received()[2]?.data.ref).toBe(received()[0]?.data.ref ?? '')
  })

  test('a changed item is sent as changed and ready, and under its id after its deletion as new', async () => {
    const { project, received } = await make()
    const item = { name: 'Prices', text: 'Ten.' }
    await project.send('PUT', '/v1/knowledge/prices', item)
    await until(() => received().length === 2)
    await project.send('PATCH', '/v1/knowledge/prices', { text: 'Eleven.' })
    await until(() => received().length === 4)
    await project.fetch('/v1/knowledge/prices', { method: 'DELETE' })
    await until(() => received().length === 5)
    await project.send('PUT', '/v1/knowledge/prices', item)
    await until(() => received().length === 7)
    const told = ['knowledge.changed', 'knowledge.ready']
    expect(received().map(({ type }) => type)).toEqual([...told, ...told, 'knowledge.deleted', ...told])
    expect(received()[2]?.data).toMatchObject({ id: 'prices', item: { text: 'Eleven.' } })
    expect(new Set(received().map(({ data }) => data.ref)).size).toBe(1)
  })
})
