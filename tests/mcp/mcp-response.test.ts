import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Admission } from '../../src/http/admission.ts'
import { RequestContexts } from '../../src/http/request-context.ts'
import { ResponseBuffers } from '../../src/http/response-buffers.ts'
import { surfaces } from '../../src/http/surface.ts'
import { answerMcp } from '../../src/mcp/mcp-response.ts'
import { type ToolContext, toolOf } from '../../src/mcp/tool.ts'

const mib = 1_048_576
type Run = (context: ToolContext) => Promise<{ text: string }>

/** A tool that answers what `run` returns. */
function callTool(run: Run, buffers = new ResponseBuffers(), toolMsMax?: number) {
  const reported: unknown[] = []
  const tool = toolOf({
    name: 'get_text',
    permission: 'read',
    title: 'Get a text',
    description: 'Answers a text.',
    input: Type.Object({}),
    output: Type.Object({ text: Type.String() }),
    run: (_, __, context) => run(context),
    toTexts: () => [],
  })
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_text', arguments: {} } }
  const headers = { 'Content-Type': 'application/json' }
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) })
  const contexts = new RequestContexts(surfaces({ protocols: [], docsHeaders: {} }), () => mib)
  const admission = new Admission(contexts, mib, [])
  const options = { tools: [tool], version: '1', projectId: 1, callId: null, tags: [], buffers, toolMsMax }
  const onUnexpected = (error: unknown) => reported.push(error)
  return { reported, answer: answerMcp(request, { ...options, onUnexpected }, { bytesMax: mib, admission }) }
}

test('a tool that does not answer in time is ended, told to the model, and logged', async () => {
  const { reported, answer } = callTool(() => new Promise(() => undefined), new ResponseBuffers(), 20)
  const { result } = await (await answer).json()
  const text = 'get_text did not answer within 0.02 seconds. Ask for less.'
  expect(result).toEqual({ content: [{ type: 'text', text }], isError: true })
  expect(reported).toMatchObject([{ message: text }])
})

test('answers that nobody reads are held like every other answer, and beyond them a model is told to wait', async () => {
  const buffers = new ResponseBuffers()
  const large: Run = async ({ admit }) => {
    admit(mib)
    return { text: 'x'.repeat(mib) }
  }
  const unread: Response[] = []
  for (let n = 0; n < 100; n++) unread.push(await callTool(large, buffers).answer)
  const sentences = await Promise.all(unread.map((answer) => answer.text()))
  const refused = sentences.filter((text) => text.includes('Too many large records are being read or sent.'))
  expect(refused.length).toBeGreaterThan(45)
  expect(refused.every((text) => JSON.parse(text).result.isError)).toBe(true)
  expect(sentences.length - refused.length).toBeGreaterThan(40)
  expect(await (await callTool(large, buffers).answer).text()).toContain('xxx')
})
