import { describe, expect, test } from 'bun:test'
import { startService } from '../support/service.ts'
import { addSource } from './deliver.ts'

const service = await startService()
const project = await service.mintProject()
const text = '---\ntitle: Returns\n---\n# Refunds\n\nWe refund any order within thirty days.'
await project.send('POST', '/v1/knowledge', { name: 'Returns', text })
const vapi = await addSource(service, project, 'vapi')
const retell = await addSource(service, project, 'retell')

/** What the answer is while every search fails. */
async function whileFailing(ask: () => Promise<Response>): Promise<[number, unknown]> {
  const { search } = service.services
  const original = search.search
  Object.assign(search, { search: () => Promise.reject(new Error('broken on purpose')) })
  try {
    const answer = await ask()
    return [answer.status, await answer.json()]
  } finally {
    Object.assign(search, { search: original })
  }
}

describe('a look-up during a call', () => {
  const toolCalls = {
    message: {
      type: 'tool-calls',
      toolCallList: [{ id: 't1', name: 'find', parameters: { query: 'refund' } }],
    },
  }
  const question = {
    message: {
      type: 'knowledge-base-request',
      messages: [{ role: 'user', content: 'Do you refund orders?' }],
    },
  }
  const functionCall = { name: 'find', call: { call_id: 'c1' }, args: { query: 'refund', limit: 1 } }

  test('of Vapi is answered at the address of its source, as its tools and knowledge bases are', async () => {
    const tool = await vapi.send(toolCalls)
    expect([tool.status, await tool.json()]).toEqual([
      200,
      { results: [{ name: 'find', toolCallId: 't1', result: expect.stringContaining('thirty days') }] },
    ])
    const knowledge = await (await vapi.send(question)).json()
    expect(knowledge.documents[0].content).toContain('thirty days')
    expect((await vapi.send(toolCalls, { headers: {} })).status).toBe(401)
  })

  test('of a Retell function is answered with text, without front matter', async () => {
    const answer = await retell.send(functionCall)
    const { result } = await answer.json()
    expect([answer.status, result]).toEqual([200, expect.stringContaining('thirty days')])
    expect(result).not.toContain('title:')
    expect((await retell.send(functionCall, { secret: 'another' })).status).toBe(401)
    const bad = await retell.send({ ...functionCall, args: {} })
    expect([bad.status, await bad.json()]).toEqual([200, { result: 'query: is required' }])
  })

  test('is no event: it makes no call and no failure', async () => {
    const { pagination } = await (await project.fetch('/v1/calls')).json()
    expect(pagination.total).toBe(0)
    for (const { id } of [vapi, retell])
      expect(await service.services.sourceFailures.list(project.projectId, id)).toEqual([])
  })

  test('of any platform reaches the knowledge with a key of the scope search', async () => {
    const settings = { name: 'agents', kind: 'live' as const, scope: 'search' as const, allowedIps: [] }
    const { key } = await project.makeKey({ ...settings })
    const ask = (body: object, authorization = `Bearer ${key}`) =>
      fetch(`${service.url}/integrations/tool`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const found = await (await ask({ query: 'refund' })).json()
    expect(found).toEqual({ result: expect.stringMatching(/Returns[\s\S]*thirty days/) })
    expect(await (await ask({ query: 'zzyzx', itemIds: ['nothing'] })).json()).toEqual({
      result: 'Nothing was found.',
    })
    const refused = await ask({ query: 'refund' }, 'Bearer ck_live_x')
    expect([refused.status, Object.keys(await refused.json())]).toEqual([401, ['error']])
    expect((await ask({})).status).toBe(400)
    expect(await whileFailing(() => ask({ query: 'refund' }))).toEqual([
      200,
      { result: 'The search failed.' },
    ])
  })

  test('that fails fails no call', async () => {
    expect(await whileFailing(() => vapi.send(toolCalls))).toEqual([
      200,
      { results: [{ name: 'find', toolCallId: 't1', error: 'The search failed.' }] },
    ])
    expect(await whileFailing(() => vapi.send(question))).toEqual([200, { documents: [] }])
    expect(await whileFailing(() => retell.send(functionCall))).toEqual([
      200,
      { result: 'The search failed.' },
    ])
    expect(service.logs.filter(({ msg }) => String(msg).startsWith('A search'))).not.toEqual([])
  })
})

describe('a question that is no look-up', () => {
  test('gets the answer that its platform waits for', async () => {
    const asked = { event: 'call_inbound', call_inbound: { from_number: '+15550100001' } }
    expect(await (await retell.send(asked)).json()).toEqual({ call_inbound: {} })
    const telnyx = await addSource(service, project, 'telnyx')
    const initialization = { data: { event_type: 'assistant.initialization', payload: {} } }
    expect(await (await telnyx.send(initialization)).json()).toEqual({ dynamic_variables: {} })
  })
})
