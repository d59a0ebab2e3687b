import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { emptyDetails } from '../../src/calls/details.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'
import { readExportedLine } from '../../src/calls/writing/call-line.ts'
import { startService, type TestProject } from '../support/service.ts'
import { exportParts } from './put-calls.ts'

// The version of a call's agent, and what its cost is made of: contract §10, additions.
const service = await startService()
const project = await service.mintProject()

async function put(id: string, body: object, of = project): Promise<void> {
  expect([200, 201]).toContain((await of.send('PUT', `/ingest/calls/${id}`, body)).status)
}

async function json(path: string, of = project) {
  const answer = await of.fetch(path)
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function agentAfter(...updates: [agent: object | null, day: number | null][]): Promise<unknown> {
  const id = `agent-${Bun.randomUUIDv7()}`
  for (const [agent, day] of updates)
    await put(id, { details: { agent }, ...(day && { occurredAt: `2026-01-0${day}T00:00:00Z` }) })
  return (await json(`/v1/calls/${id}/details`)).agent
}

describe('an agent is merged by member', () => {
  const full = { id: 'a', name: 'Ada', version: 'v1' }

  test('a later event without a version or a name leaves them', async () => {
    expect(await agentAfter([full, 1], [{ id: 'a' }, 2])).toEqual(full)
    expect(await agentAfter([full, null], [{ id: 'a' }, null])).toEqual(full)
  })

  test('null clears a version, and another one replaces it', async () => {
    expect(await agentAfter([full, null], [{ id: 'a', version: null }, null])).toEqual({
      ...full,
      version: null,
    })
    expect(await agentAfter([full, 1], [{ id: 'a', version: 'v2' }, 2])).toEqual({ ...full, version: 'v2' })
    expect(await agentAfter([full, null], [null, null])).toBeNull()
  })

  test('another agent takes over none of it', async () => {
    expect(await agentAfter([full, 1], [{ id: 'b' }, 2])).toEqual({ id: 'b', name: null, version: null })
  })

  test('a late event only fills what is empty of the same agent', async () => {
    expect(await agentAfter([{ id: 'a', name: 'New' }, 2], [full, 1])).toEqual({ ...full, name: 'New' })
    expect(await agentAfter([{ id: 'b' }, 2], [full, 1])).toEqual({ id: 'b', name: null, version: null })
    expect(await agentAfter([full, 2], [{ id: 'a', version: null }, 1])).toEqual(full)
  })
})

describe('costs in PUT /ingest/calls/:id', () => {
  const part = { name: 'voice', usd: 0.014, kind: 'tts', provider: 'cartesia', model: 'sonic-3' }
  const used = { kind: 'tts', provider: 'cartesia', model: 'sonic-3', characters: 1450, seconds: 60.5 }

  test('are kept, absent members as null and a part of unknown kind as other', async () => {
    await put('costs', {
      details: { costParts: [part, { name: 'fee', usd: 1, kind: 'tax' }], usage: [used] },
    })
    const { costParts, usage, costSource } = await json('/v1/calls/costs/details')
    expect(costParts).toEqual([part, { name: 'fee', usd: 1, kind: 'other', provider: null, model: null }])
    expect(usage).toEqual([
      {
        ...used,
        inputTokens: null,
        cachedTokens: null,
        cacheWriteTokens: null,
        audioInputTokens: null,
        outputTokens: null,
        audioOutputTokens: null,
      },
    ])
    expect(costSource).toBeNull()
    await put('costs', { details: { costUsd: 0.5 } })
    expect((await json('/v1/calls/costs/details')).costSource).toBe('platform')
    await put('costs', { details: { costUsd: null, usage: null } })
    const cleared = await json('/v1/calls/costs/details')
    expect([cleared.costSource, cleared.usage, cleared.costParts.length]).toEqual([null, null, 2])
  })

  test('sent by a client that copied details are not said by it, and named', async () => {
    const answer = await project.send('PUT', '/ingest/calls/copied', { details: { costSource: 'computed' } })
    expect(answer.headers.get('callbook-ignored')).toBe('details.costSource')
  })

  test('are told to whoever follows changes, reads lists, gets webhooks or asks by MCP', async () => {
    const of = await service.mintProject()
    const agent = { id: 'desk', name: 'Desk', version: 'v7' }
    await put('told', { details: { agent, costParts: [part], usage: [used] } }, of)
    const { data } = await json('/v1/changes?include=details', of)
    const listed = await json('/v1/calls?details=include', of)
    for (const { details } of [data[0].call, listed.data[0]]) {
      expect(details).toMatchObject({ agent, costParts: [part], usage: [used], costSource: null })
      expect(Object.keys(details).indexOf('usage')).toBeLessThan(Object.keys(details).indexOf('timeline'))
    }
    const answer = await of.send('POST', '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_call', arguments: { id: 'told' } },
    })
    expect(await answer.text()).toContain('"version":"v7"')
  })

  test('are redacted like other texts, but for the version by which the call is found', async () => {
    const of = await service.mintProject()
    await service.services.settings.change(of.projectId, { redact: ['phone'] })
    const agent = { id: 'desk', version: '+15550100001' }
    await put('private', { details: { agent, costParts: [{ name: 'call to +15550100001', usd: 1 }] } }, of)
    const details = await json('/v1/calls/private/details', of)
    expect(details.costParts[0].name).toBe('call to [phone]')
    expect(details.agent.version).toBe('+15550100001')
    expect(details.redacted).toEqual({ phone: 1 })
  })

  test('come back whole from an export, the source of a computed cost too', async () => {
    const of = await service.mintProject()
    const agent = { id: 'desk', name: 'Desk', version: 'v7' }
    await put('exported', { details: { agent, costUsd: 1, costParts: [part], usage: [used] } }, of)
    await service.services.ingest.putAll(of.projectId, [
      { id: 'exported', change: {}, own: { costSource: 'computed' } },
    ])
    const before: CallDetails = await json('/v1/calls/exported/details', of)
    const to = await service.mintProject()
    const [line = ''] = await exportParts(service.services, of.projectId)
    const { change, own } = readExportedLine(JSON.parse(line))
    await service.services.ingest.putAll(to.projectId, [{ id: 'exported', change, ...(own && { own }) }])
    expect(await json('/v1/calls/exported/details', to)).toEqual(before)
    expect(before.costSource).toBe('computed')
  })
})

describe('calls are found by version and by direction', () => {
  let of: TestProject
  const long = 'é"\\'.repeat(66)
  beforeAll(async () => {
    of = await service.mintProject()
    const details: [string, object][] = [
      ['a', { agent: { id: 'x', version: 'v1' }, direction: 'inbound', costUsd: 1 }],
      ['b', { agent: { id: 'x', version: 'v2' }, direction: 'outbound', costUsd: 2 }],
      ['c', { agent: { id: 'y', version: 'v2' }, direction: 'web', costUsd: 4 }],
      ['d', { agent: { id: 'y' }, direction: 'inbound', costUsd: 8 }],
      ['e', {}],
      ['f', { agent: { id: 'z', version: long } }],
    ]
    for (const [id, each] of details) await put(id, { details: each }, of)
  })

  async function found(query: string): Promise<string> {
    const { data, pagination } = await json(`/v1/calls?${query}&fields=id`, of)
    expect(pagination.total).toBe(data.length)
    return data
      .map(({ id }: { id: string }) => id)
      .sort()
      .join('')
  }

  test.each([
    ['agentVersion=v1', 'a'],
    ['agentVersion=v2', 'bc'],
    ['agentVersion=v1,v2', 'abc'],
    ['agentVersion=none', 'de'],
    ['agentVersion=none,v1', 'ade'],
    [`agentVersion=${encodeURIComponent(long.replaceAll('\\', '\\\\'))}`, 'f'],
    ['direction=inbound', 'ad'],
    ['direction=web&direction=outbound', 'bc'],
    ['direction=none', 'ef'],
    ['direction=none,web', 'cef'],
    ['agentVersion=v2&direction=web', 'c'],
  ])('%s', async (query, ids) => {
    expect(await found(query)).toBe(ids)
  })

  test('another direction is a 400 that names the four', async () => {
    const { errors } = await (await of.fetch('/v1/calls?direction=in')).json()
    expect(errors).toEqual([
      {
        field: 'direction',
        message: 'must be inbound or outbound or web or none, which finds what is not known',
      },
    ])
  })

  test('figures group by them, and sum to all calls', async () => {
    const by = async (query: string) => {
      const { data, total } = await json(`/v1/metrics?${query}`, of)
      expect(total).toBe(6)
      return data.map(({ key, value, calls }: Record<string, unknown>) => [key, value, calls])
    }
    expect(await by('by=agentVersion')).toEqual([
      ['none', 2, 2],
      ['v2', 2, 2],
      ['v1', 1, 1],
      [long, 1, 1],
    ])
    expect(await by('of=costUsd&show=sum&by=direction')).toEqual([
      ['inbound', 9, 2],
      ['none', null, 2],
      ['outbound', 2, 1],
      ['web', 4, 1],
    ])
  })

  test('they stand in CSV, in the list of the console and among its facets', async () => {
    const fields = 'id,details.agent.version,details.costSource'
    const answer = await of.fetch(`/v1/calls?fields=${fields}&agentVersion=v1`, {
      headers: { accept: 'text/csv' },
    })
    expect(await answer.text()).toBe(`${fields}\r\na,v1,platform\r\n`)
    const { data } = await service.services.calls.rows(of.projectId, { agentVersion: 'v1' })
    expect(data.map(({ agentVersion }) => agentVersion)).toEqual(['v1'])
    const facets = await service.services.calls.facets(of.projectId)
    expect(facets.agentVersion).toEqual([
      { value: 'v2', calls: 2 },
      { value: 'v1', calls: 1 },
      { value: long, calls: 1 },
    ])
    const { counts } = await service.services.calls.countValues(of.projectId, 'direction', {})
    expect(counts).toEqual({ inbound: 2, outbound: 1, web: 1, none: 2 })
  })

  test('an erased call leaves no value behind', async () => {
    const having = sql`select seq from calls cross join json_each(value_list) as entry where entry.value = '["agentVersion","v1"]' and project_id = ${of.projectId}`
    expect(await service.services.database.read.all(having)).toHaveLength(1)
    await of.fetch('/v1/calls/a', { method: 'DELETE' })
    expect(await found('agentVersion=v1')).toBe('')
    expect(await service.services.database.read.all(having)).toEqual([])
  })
})

describe('a call that was stored before', () => {
  const old =
    '{"source":"vapi","agent":{"id":"a\\"},\\"direction\\":","name":"Ada"},"direction":"inbound","recordingUrl":null,' +
    '"costUsd":0.5,"latencyMs":640,"recording":{"state":"none","reason":null,"contentType":null,"bytes":null,' +
    '"durationSeconds":null,"channels":null,"keptAt":null},"analysis":{"state":"none","version":null,"criteria":{}},' +
    '"timeline":[{"atSeconds":0,"kind":"other","turn":null,"name":null,"text":",\\"costParts\\":","interrupted":false,' +
    '"agentId":null,"latencyMs":null}],"review":null,"redacted":null}'
  let of: TestProject
  beforeAll(async () => {
    of = await service.mintProject()
    await put('old', { summary: 'x', details: { costUsd: 0.5 } }, of)
    await service.services.database.write.run(sql`update call_details set details = ${old}
      where seq = (select seq from calls where project_id = ${of.projectId} and id = 'old')`)
  })

  test('is served with null for what was not kept, in every form', async () => {
    const expected = JSON.parse(old)
    Object.assign(expected, { costParts: null, usage: null, costSource: null, metadata: null })
    expected.recording = emptyDetails.recording
    expected.sound = emptyDetails.sound
    expected.agent.version = null
    expect(await json('/v1/calls/old/details', of)).toEqual(expected)
    expect((await json('/v1/calls?details=include', of)).data[0].details).toEqual(expected)
    const csv = await of.fetch('/v1/calls?fields=details.agent.version,details.costUsd', {
      headers: { accept: 'text/csv' },
    })
    expect(await csv.text()).toBe('id,details.agent.version,details.costUsd\r\nold,,0.5\r\n')
  })

  test('is not changed by what it knows already, and takes what it lacks', async () => {
    const { updatedAt } = await json('/v1/calls/old', of)
    const agent = { id: 'a"},"direction":', name: 'Ada' }
    await put('old', { details: { agent, direction: 'inbound' } }, of)
    expect((await json('/v1/calls/old', of)).updatedAt).toBe(updatedAt)
    await put('old', { details: { agent: { ...agent, version: 'v2' } } }, of)
    const { costUsd, agent: after } = await json('/v1/calls/old/details', of)
    expect([costUsd, after]).toEqual([0.5, { ...agent, version: 'v2' }])
    expect((await json('/v1/calls?agentVersion=v2&direction=inbound', of)).pagination.total).toBe(1)
  })
})
