import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { startService, type TestProject, type TestService } from '../support/service.ts'

let service: TestService
let project: TestProject
let client: Client

beforeAll(async () => {
  service = await startService()
  project = await service.mintProject()
  for (let n = 0; n < 5; n++) {
    const answer = await project.send('PUT', `/ingest/calls/c${n}`, {
      status: 'completed',
      createdAt: `2026-01-0${n + 1}T00:00:00.000Z`,
      evaluation: n === 2 ? 'fail' : 'success',
      summary: `Call ${n}.`,
      callAnalysis: { intent: 'refund' },
      transcript: Array.from({ length: 5 }, (_, turn) => ({
        role: turn % 2 === 0 ? 'user' : 'assistant',
        content: `Turn ${turn}, not a word of <b>markup</b>.`,
      })),
    })
    expect(answer.status).toBe(201)
  }
  const requestInit = { headers: { Authorization: `Bearer ${project.key}` } }
  client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit }))
  // The client checks structured content by the output schemas that it has seen.
  await client.listTools()
})
afterAll(async () => {
  await client.close()
  await service.stop()
})

async function callTool(name: string, input: object) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: { ...input } })
  const texts = (content as { text: string }[]).map(({ text }) => text)
  return { answer: structuredContent as Record<string, unknown>, texts, isError }
}

const idsIn = (answer: Record<string, unknown>) => (answer.data as { id: string }[]).map(({ id }) => id)

describe('list_calls', () => {
  test('finds by the filters of the list, newest first, without transcripts', async () => {
    const { answer, texts } = await callTool('list_calls', {
      filters: { evaluation: 'success', from: '2026-01-02' },
    })
    expect(idsIn(answer)).toEqual(['c4', 'c3', 'c1'])
    expect(answer).toMatchObject({ total: 3, nextCursor: null })
    expect(JSON.stringify(answer)).not.toContain('Turn 0')
    expect(texts[0]).toContain('- c4 (2026-01-05T00:00:00.000Z, completed, 0 s, success): Call 4.')
    const failed = await callTool('list_calls', {
      filters: { evaluation: ['fail'], 'analysis.intent': 'refund' },
    })
    expect(idsIn(failed.answer)).toEqual(['c2'])
  })

  test('goes on from a cursor', async () => {
    const first = await callTool('list_calls', { limit: 2 })
    expect(idsIn(first.answer)).toEqual(['c4', 'c3'])
    const next = await callTool('list_calls', { limit: 3, cursor: first.answer.nextCursor })
    expect([idsIn(next.answer), next.answer.nextCursor]).toEqual([['c2', 'c1', 'c0'], null])
  })

  test('explains what is wrong, so that the model can try again', async () => {
    const { isError, texts } = await callTool('list_calls', { filters: { colour: 'red' } })
    expect([isError, texts]).toEqual([true, ['Invalid arguments: filters.colour is not a filter of calls']])
    expect((await callTool('list_calls', { cursor: 'x' })).isError).toBe(true)
  })
})

describe('get_call', () => {
  test('reads a call, a long transcript in parts', async () => {
    const { answer, texts } = await callTool('get_call', { id: 'c2', maxTurns: 3 })
    expect(answer).toMatchObject({ id: 'c2', evaluation: 'fail', totalTurns: 5, nextTurn: 3 })
    expect(answer.transcript).toHaveLength(3)
    expect(texts[0]).toContain('Caller: Turn 0')
    const rest = await callTool('get_call', { id: 'c2', fromTurn: 3 })
    expect(rest.answer).toMatchObject({
      nextTurn: null,
      transcript: [{ role: 'assistant' }, { role: 'user' }],
    })
  })

  test('of another project, and of no project, finds nothing', async () => {
    const other = await service.mintProject()
    await other.send('PUT', '/ingest/calls/theirs', {})
    for (const id of ['theirs', 'nobody'])
      expect(await callTool('get_call', { id })).toMatchObject({ isError: true, texts: ['Call not found'] })
  })
})
