import { expect, test } from 'bun:test'
import { Ajv } from 'ajv'
import { webhookEvents } from '../../src/webhooks/events.ts'
import { readDocument, resolved } from '../support/document.ts'
import { startFakeChat } from '../support/fake-chat.ts'
import { type Received, receiverEnv, startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const ajv = new Ajv({ strict: false, allErrors: true, formats: { 'date-time': true } })
const itemId = 'kn_019a5f0c2b7e7cc0a1d2e3f405162738'
let aheadMs = 0
const taken = new Set<Received>()
const chat = await startFakeChat()
const ofAnalysis = { ANALYSIS_MODEL: 'm', ANALYSIS_ENDPOINT: chat.url, ANALYSIS_DELAY_SECONDS: '0' }
const now = () => Date.now() + aheadMs
const service = await startService({ env: { ...receiverEnv, ...ofAnalysis }, now })
const receiver = await startReceiver()
const project = await service.mintProject()
const webhook = (await service.services.webhooks.create(project.projectId, { url: receiver.url })).id
// What the platform says stays as it is.
const criteria = [{ id: 'greeted', name: 'Greeted', question: 'Did the agent greet?' }]
await project.send('PUT', '/v1/rubric', { criteria })

/** The first event of a type that was not taken yet. */
async function next(type: string): Promise<Received> {
  await until(() => receiver.received.some((event) => event.type === type && !taken.has(event)), type)
  const event = receiver.received.find((each) => each.type === type && !taken.has(each)) as Received
  taken.add(event)
  return event
}

test('every event is documented as it is sent: the record of its example is delivered like this', async () => {
  const document = await readDocument(service.url)
  const { webhooks = {} } = resolved(document, document)
  expect(Object.keys(webhooks)).toEqual([...webhookEvents])
  const contentOf = (type: string) => {
    const body = Object(webhooks[type]).post.requestBody
    return body.content['application/json'] as { schema: object; example: Pick<Received, 'data'> }
  }
  const recordOf = (type: string, name: 'call' | 'item') => contentOf(type).example.data[name] ?? {}
  const put = (call: object) => project.send('PUT', '/ingest/calls/call-1042', call)

  const events: Received[] = []
  await put(recordOf('call.started', 'call'))
  events.push(await next('call.started'))
  await put(recordOf('call.changed', 'call'))
  events.push(await next('call.changed'))
  await put(recordOf('call.completed', 'call'))
  events.push(await next('call.completed'))
  events.push(await next('call.analyzed'))
  await project.fetch('/v1/calls/call-1042', { method: 'DELETE' })
  events.push(await next('call.deleted'))

  const { id: _, createdAt: __, ...item } = recordOf('knowledge.ready', 'item')
  const made = await (await project.send('POST', '/v1/knowledge', item)).json()
  events.push(await next('knowledge.changed'), await next('knowledge.ready'))
  await project.fetch(`/v1/knowledge/${made.id}`, { method: 'DELETE' })
  events.push(await next('knowledge.deleted'))
  await project.send('PUT', '/ingest/calls/other', { status: 'completed' })
  await next('call.completed')
  await project.send('POST', '/v1/erasures', { ids: ['other'] })
  events.push(await next('erasure.done'))
  const rule = { name: 'Quiet', windowMinutes: 60, below: { alert: 1 }, to: [{ webhook }] }
  await project.send('POST', '/v1/alerts', rule)
  aheadMs += 120 * 60_000
  await service.services.alertWatch.now()
  events.push(await next('alert.changed'))

  expect(events.map(({ type }) => type).sort()).toEqual([...webhookEvents].sort())
  for (const { type, body, headers } of events) {
    const { schema, example } = contentOf(type)
    const event = JSON.parse(body)
    for (const sent of [event, example]) {
      const validate = ajv.compile(schema)
      expect([type, validate(sent), validate.errors]).toEqual([type, true, null])
    }
    expect([type, membersOf(event)]).toEqual([type, membersOf(example)])
    // An analysis is a change of our own.
    if (type === 'call.analyzed') event.data.call.updatedAt = example.data.call?.updatedAt
    expect([type, event.data.call]).toEqual([type, example.data.call])
    const own = { id: itemId, createdAt: example.data.item?.createdAt }
    if (event.data.item) expect({ ...event.data.item, ...own }).toEqual(example.data.item)
    const { parameters }: { parameters: { name: string }[] } = Object(webhooks[type]).post
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(parameters.map(({ name }) => name)))
  }
})

/** The names of all members, whatever they hold. */
function membersOf(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, membersOf(member)]))
}
