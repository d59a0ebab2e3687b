import { beforeAll, describe, expect, test } from 'bun:test'
import type { WebhookPlatform } from '../../src/sources/catalog.ts'
import { keptOf, platforms, readEvent } from '../../src/sources/platforms.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { addSource } from './deliver.ts'

const keep = { metadata: 'keep' }

/** An event of each platform with what its user attached to the call. */
const events: [WebhookPlatform, object, Record<string, unknown>][] = [
  [
    'vapi',
    {
      message: {
        type: 'status-update',
        call: {
          id: 'c1',
          metadata: { order: 7 },
          assistantOverrides: { variableValues: { name: 'Sam' }, metadata: { tier: 'gold' } },
        },
        artifact: { variableValues: { token: 'never-store-this' } },
      },
    },
    { order: 7, name: 'Sam', tier: 'gold' },
  ],
  [
    'retell',
    {
      event: 'call_started',
      call: {
        call_id: 'c1',
        metadata: { order: 7, tier: 'gold' },
        retell_llm_dynamic_variables: { name: 'Sam', tier: 'of the prompt' },
        custom_sip_headers: { key: 'never-store-this' },
      },
    },
    { order: 7, name: 'Sam', tier: 'gold' },
  ],
  [
    'elevenlabs',
    {
      type: 'post_call_transcription',
      data: {
        conversation_id: 'c1',
        conversation_initiation_client_data: {
          dynamic_variables: { order: 7, secret__key: 'never-store-this', system__caller_id: '+15550100001' },
          custom_llm_extra_body: { key: 'never-store-this' },
        },
      },
    },
    { order: 7 },
  ],
  [
    'bland',
    { call_id: 'c1', completed: true, metadata: { order: 7 }, variables: { key: 'never-store-this' } },
    { order: 7 },
  ],
  [
    'ultravox',
    { event: 'call.started', call: { callId: 'c1', metadata: { order: '7' }, joinUrl: 'never-store-this' } },
    { order: '7' },
  ],
  [
    'synthflow',
    {
      call: { call_id: 'c1' },
      lead: { prompt_variables: { order: 7 } },
      executed_actions: 'never-store-this',
    },
    { order: 7 },
  ],
  ['cartesia', { type: 'call_started', call_id: 'c1', call: { metadata: { order: 7 } } }, { order: 7 }],
  ['dograh', { id: 'c1', metadata: '{"order":7}' }, { order: 7 }],
]

function metadataOf(name: WebhookPlatform, event: object, options = {}) {
  const read = readEvent(platforms[name], event, options)
  if (!read || !('id' in read)) throw new Error(JSON.stringify(read))
  return read.details.metadata
}

describe.each(events)('%s', (name, event, metadata) => {
  test('what the platform’s user attached to the call is kept only if the source keeps it', () => {
    expect(metadataOf(name, event)).toBeUndefined()
    expect(metadataOf(name, event, keep)).toEqual(metadata)
  })

  test('an event that cannot be read is kept with it only then, too, and never with a secret', () => {
    const text = (options: Record<string, string>) =>
      JSON.stringify(keptOf(platforms[name], event, options).event)
    expect(text({})).not.toContain('order')
    expect(text(keep)).toContain('order')
    expect(text(keep)).not.toContain('never-store-this')
  })
})

test('values that are null or empty, and metadata that is no object, are left out', () => {
  const started = (metadata: unknown) => ({ event: 'call_started', call: { call_id: 'c1', metadata } })
  expect(metadataOf('retell', started({ a: null, b: '', c: false, d: 0 }), keep)).toEqual({ c: false, d: 0 })
  const named = JSON.parse('{"__proto__":{"d":1}}')
  expect(metadataOf('retell', started(named), keep)).toEqual(named)
  for (const metadata of ['text', 7, ['a'], null])
    expect(metadataOf('retell', started(metadata), keep)).toBeUndefined()
})

describe('the running service', () => {
  let service: TestService
  let project: TestProject
  beforeAll(async () => {
    service = await startService()
    project = await service.mintProject()
  })

  const read = async (path: string) =>
    (await (await project.fetch(`/v1/calls/${path}`)).json()) as Record<string, unknown>
  const details = (id: string) => read(`${id}/details`)

  test('attached metadata, a PUT’s and the platform’s own are merged by key, and redacted like all other texts', async () => {
    await service.services.settings.change(project.projectId, { redact: ['phone'] })
    const source = await addSource(service, project, 'retell', keep)
    const call = { call_id: 'own-1', metadata: { order: 7, note: 'Call +1 555 010 0001 back' } }
    expect((await source.send({ event: 'call_started', call })).status).toBe(200)
    await project.send('PUT', '/ingest/calls/own-1', { metadata: { ticket: 'T-1' } })
    const ended = { ...call, disconnection_reason: 'call_transfer', transfer_destination: '+15550100003' }
    const times = { start_timestamp: 1_700_000_000_000, end_timestamp: 1_700_000_009_000 }
    expect((await source.send({ event: 'call_ended', call: { ...ended, ...times } })).status).toBe(200)
    expect(await details('own-1')).toMatchObject({
      metadata: { order: 7, note: 'Call [phone] back', ticket: 'T-1' },
      timeline: [{ kind: 'transfer', name: '[phone]', atSeconds: 9 }],
    })
  })

  test.each([
    ['others have filled the metadata', 60_000],
    ['the platform’s user attached too much', 1],
  ])('where %s, the rest of the event is stored, and the source’s failures say so', async (_, filled) => {
    const source = await addSource(service, project, 'retell', keep)
    const id = `filled-${filled}`
    await project.send('PUT', `/ingest/calls/${id}`, { metadata: { filled: 'x'.repeat(filled) } })
    const metadata = { order: 'y'.repeat(70_000 - filled) }
    const call = { call_id: id, metadata, disconnection_reason: 'user_hangup' }
    expect((await source.send({ event: 'call_ended', call })).status).toBe(200)
    expect(await read(id)).toMatchObject({ status: 'completed', endedReason: 'user_hangup' })
    expect(Object.keys((await details(id)).metadata as object)).toEqual(['filled'])
    const failures = await service.services.sourceFailures.list(project.projectId, source.id)
    expect(failures).toMatchObject([{ callId: id, field: 'details.metadata' }])
  })

  test('a source that is not asked to keep them stores none', async () => {
    const source = await addSource(service, project, 'retell')
    await source.send({ event: 'call_started', call: { call_id: 'own-3', metadata: { order: 7 } } })
    expect((await details('own-3')).metadata).toBeNull()
  })
})
