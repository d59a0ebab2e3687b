import { describe, expect, test } from 'bun:test'
import type { CallDetails } from '../../src/calls/schemas.ts'
import { keptOf, platforms, readEvent } from '../../src/sources/platforms.ts'
import { startService } from '../support/service.ts'

const card = '4111 1111 1111 1111'
const events = {
  vapi: {
    message: {
      type: 'end-of-call-report',
      call: { id: 'c1' },
      artifact: {
        messages: [
          { role: 'user', message: 'Where is it?', secondsFromStart: 1 },
          {
            role: 'tool_calls',
            secondsFromStart: 2,
            toolCalls: [{ function: { name: 'find', arguments: { order: 17 } } }],
          },
          { role: 'tool_call_result', name: 'find', result: `paid ${card}`, secondsFromStart: 3 },
        ],
      },
    },
  },
  retell: {
    event: 'call_ended',
    call: {
      call_id: 'c1',
      transcript_with_tool_calls: [
        { role: 'user', content: 'Where is it?', words: [{ start: 1, end: 2 }] },
        { role: 'tool_call_invocation', tool_call_id: 't', name: 'find', arguments: '{"order":17}' },
        { role: 'tool_call_result', tool_call_id: 't', content: `paid ${card}` },
      ],
    },
  },
  elevenlabs: {
    type: 'post_call_transcription',
    data: {
      conversation_id: 'c1',
      transcript: [
        {
          role: 'user',
          message: 'Where is it?',
          time_in_call_secs: 1,
          tool_calls: [{ tool_name: 'find', params_as_json: '{"order":17}' }],
          tool_results: [{ tool_name: 'find', result_value: `paid ${card}` }],
        },
      ],
    },
  },
} as const
type Name = keyof typeof events
const names = Object.keys(events) as Name[]

function textsOf(name: Name, options = {}, event: object = events[name]) {
  const read = readEvent(platforms[name], event, options)
  if (!read || !('id' in read)) throw new Error(`${name} says nothing`)
  return read.details.timeline?.flatMap(({ kind, text }) => (kind.startsWith('tool') ? [text] : []))
}

describe.each(names)('what a tool of %s received and returned', (name) => {
  test('is read only by a source that keeps it, and kept of no event that cannot be read', () => {
    expect(textsOf(name)).toEqual([null, null])
    expect(textsOf(name, { tools: 'keep' })).toEqual(['{"order":17}', `paid ${card}`])
    expect(JSON.stringify(keptOf(platforms[name], events[name]).event)).not.toContain('4111')
  })
})

test('what has no room beside the other tools of a call is left out, and no event is lost', () => {
  const result = { role: 'tool_call_result', name: 'find', secondsFromStart: 3, result: 'x'.repeat(70_000) }
  const messages = Array.from({ length: 100 }, () => result)
  const event = { message: { ...events.vapi.message, artifact: { messages } } }
  const texts = textsOf('vapi', { tools: 'keep' }, event) ?? []
  expect(texts).toHaveLength(100)
  expect(texts.filter((text) => text !== null)).toHaveLength(59)
  expect(texts[0]).toHaveLength(65_536)
})

test('it is redacted, then cut to 16 KiB, and becomes a mock of a test', async () => {
  const service = await startService()
  const project = await service.mintProject()
  await service.services.settings.change(project.projectId, { redact: ['card'] })
  const secret = 's'.repeat(32)
  const source = { platform: 'vapi', secret, options: { tools: 'keep' } }
  const { id } = await service.services.sources.create(project.projectId, source)
  // The number is where the text is cut.
  const result = `${'x'.repeat(16_370)} ${card} and more ${'y'.repeat(100)}`
  const messages = [
    ...events.vapi.message.artifact.messages.slice(0, 2),
    { role: 'tool_call_result', name: 'find', result, secondsFromStart: 3 },
    { role: 'bot', message: 'It is paid.', secondsFromStart: 4 },
  ]
  const body = JSON.stringify({ message: { ...events.vapi.message, artifact: { messages } } })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const sent = await fetch(`${service.url}/ingest/from/${id}`, { method: 'POST', body, headers })
  expect(sent.status).toBe(200)
  const details: CallDetails = await (await project.fetch('/v1/calls/c1/details')).json()
  const kept = details.timeline.find(({ kind }) => kind === 'tool_result')?.text ?? ''
  expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(16_384)
  expect(kept).toEndWith(' … [cut]')
  expect(kept).not.toContain('4111')
  const answer = await project.send('POST', '/v1/cases', { call: 'c1', turn: 1, expect: 'x' })
  expect(await answer.json()).toMatchObject({
    omitted: 0,
    mocks: [{ name: 'find', arguments: { order: 17 }, result: kept }],
  })
})
