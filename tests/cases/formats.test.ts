import { describe, expect, test } from 'bun:test'
import { type FormatName, formats } from '../../src/cases/formats/formats.ts'
import type { Case, Message } from '../../src/cases/schemas.ts'
import { hostileCases } from './hostile-cases.ts'

// Each framework's own parser took them once, by hand: the versions are in src/guide/decisions.md.

const written = (format: FormatName, cases = hostileCases, system?: string) =>
  formats[format].head({ system }) + cases.map((each) => formats[format].of(each, { system })).join('')
const linesOf = (format: FormatName) =>
  written(format)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const harmless = (text: string) => text.replace(/\{(?=[{%])/g, '{ ')
const upToCaller = ({ messages }: Case) =>
  messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1)
const said = (messages: readonly Message[]) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content ?? '')
const withoutCaller: Case[] = hostileCases
  .slice(0, 1)
  .map((one) => ({ ...one, messages: one.messages.filter(({ role }) => role !== 'user') }))

describe('forty hostile cases', () => {
  test('are there', () => {
    expect(hostileCases).toHaveLength(40)
    expect(hostileCases.filter(({ messages }) => messages.at(-1)?.role === 'tool')).toHaveLength(10)
  })

  test.each(Object.keys(formats) as FormatName[])(
    '%s holds no character that YAML or a reader of lines takes for another',
    (format) => {
      // https://yaml.org/spec/1.1/#c-printable, without what splits lines in Python.
      expect(written(format)).toMatch(
        /^[\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]+$/u,
      )
    },
  )

  test('are the same in lines', () => {
    expect(linesOf('jsonl')).toEqual(hostileCases)
  })

  test('are the same in YAML, cut at what the caller said last', () => {
    const { name, scenarios } = Bun.YAML.parse(written('pipecat')) as { name: string; scenarios: unknown[] }
    expect(name).toBe('callbook')
    expect(scenarios).toEqual(
      hostileCases.map((one) => ({
        name: one.id,
        context: upToCaller(one).slice(0, -1),
        turns: [{ user: upToCaller(one).at(-1)?.content, expect: [{ event: 'response', eval: one.expect }] }],
      })),
    )
  })

  test('are evals of Vapi, whose templates they do not fill', () => {
    for (const [at, body] of linesOf('vapi').entries()) {
      const one = hostileCases[at] as Case
      expect([...body.name].length).toBeLessThanOrEqual(80)
      expect(body.name.isWellFormed()).toBe(true)
      expect(harmless(one.name)).toStartWith(body.name)
      const { judgePlan } = body.messages.at(-1)
      const [{ content }] = judgePlan.model.messages
      expect(content).toEndWith(harmless(one.expect))
      expect(body.messages).toHaveLength(one.messages.length + 1)
      expect(body.messages[2].toolCalls[0].name).toBe('get_order')
      // Vapi itself fills in the conversation.
      const rest = JSON.stringify({
        ...body,
        messages: [...body.messages.slice(0, -1), content.replace('{{messages}}', '')],
      })
      expect(rest).not.toMatch(/\{[{%]/)
    }
  })

  test('are test cases of Retell, whose caller says what the caller said, with mocks', () => {
    for (const [at, body] of linesOf('retell').entries()) {
      const one = hostileCases[at] as Case
      expect(JSON.stringify(body)).not.toMatch(/\{[{%]/)
      const lines = said(one.messages).map((text, place) => `${place + 1}. ${harmless(text)}`)
      expect(body.user_prompt).toEndWith(`nothing else:\n${lines.join('\n')}`)
      expect(body.metrics).toEqual([harmless(one.expect)])
      expect(
        body.tool_mocks.map((mock: { input_match_rule: object }) => Object.keys(mock.input_match_rule)),
      ).toEqual([['type', 'args'], ['type']])
    }
  })

  test('are tests of ElevenLabs, in which a result belongs to its call', () => {
    for (const [at, body] of linesOf('elevenlabs').entries()) {
      const one = hostileCases[at] as Case
      expect(JSON.stringify(body)).not.toMatch(/\{[{%]/)
      expect(body.chat_history.map((entry: { role: string }) => entry.role)).toEqual(
        one.messages
          .filter(({ role }) => role !== 'tool')
          .map(({ role }) => (role === 'user' ? 'user' : 'agent')),
      )
      const [call] = body.chat_history[2].tool_calls
      const [result] = body.chat_history[2].tool_results
      expect([result.request_id, result.tool_name]).toEqual([call.request_id, call.tool_name])
      expect([body.success_condition, body.failure_examples[0].response]).toEqual([
        harmless(one.expect),
        harmless(one.said),
      ])
    }
  })
})

test('arguments that hide a brace in an escape are written anew', () => {
  const [one] = hostileCases as [Case]
  const called = { name: 'f', arguments: '{"a":"\\u007b\\u007bsecret}}"}' }
  const messages: Message[] = [
    { role: 'assistant', content: null, tool_calls: [{ id: 't1', type: 'function', function: called }] },
  ]
  for (const format of ['vapi', 'elevenlabs'] as const)
    expect(JSON.parse(formats[format].of({ ...one, messages }, {})).type).toBeString()
  const { chat_history } = JSON.parse(formats.elevenlabs.of({ ...one, messages }, {}))
  expect(chat_history[0].tool_calls[0].params_as_json).toBe('{"a":"{ {secret}}"}')
})

describe('a scenario of Pipecat', () => {
  test('has the prompt of its bot first, or else begins with a comment that it is missing', () => {
    const one = hostileCases.slice(0, 1)
    const parsed = Bun.YAML.parse(written('pipecat', one, 'You are Ada.')) as {
      scenarios: [{ context: Message[] }]
    }
    expect(parsed.scenarios[0].context[0]).toEqual({ role: 'system', content: 'You are Ada.' } as never)
    expect(written('pipecat', one)).toMatch(/^# .*--system FILE/)
    expect(written('pipecat', one, 'You are Ada.')).toStartWith('name: ')
  })

  test('is left out, as a test of Retell is, where no caller speaks', () => {
    expect(written('pipecat', withoutCaller)).toContain('left out, since no caller speaks')
    expect(formats.retell.of(withoutCaller[0] as Case, {})).toBe('')
  })
})
