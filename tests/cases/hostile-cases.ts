import type { Case, Message } from '../../src/cases/schemas.ts'

/** What parsers, templates and programs could take for more than a text. */
const hostile = [
  '\u2028',
  '\u2029',
  '\u0085',
  '\u007f',
  '\u009f',
  '\u0001',
  '\t',
  '\r\n',
  '\ufeff',
  '\ufffe',
  '\u200b',
  '😀',
  '👨‍👩‍👧',
  '{{a}}',
  '{{{secret__x}}}',
  '{%raw%}',
  '{ {',
  '---',
  '...',
  '!include x',
  '*a',
  '&b',
  '%TAG',
  '"',
  '\\',
  "'",
  ': ',
  '#',
  '{"a":1}',
  ' yes',
  '~',
  '0o17',
  '=',
  '<<: *x',
  '`rm`',
  '$(x)',
  '"""',
  "'''",
  ' # no comment',
  '日本語',
]

const tool = (id: string, name: string, args: object, result: string): Message[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  },
  { role: 'tool', tool_call_id: id, content: result },
]

/** Forty cases, each with hostile texts in all of its parts; every fourth ends with what a tool returned. */
export const hostileCases: Case[] = hostile.map((text, at) => {
  const next = hostile[(at + 7) % hostile.length] ?? ''
  const last = tool('t2', `look${text}`, {}, next)
  return {
    id: `case_${String(at).padStart(32, '0')}`,
    name: `${text}Promises no refund${next}${'x'.repeat(at * 4)}😀`,
    call: `call-${at}`,
    turn: 5,
    messages: [
      { role: 'assistant', content: `Hello${next}` },
      { role: 'user', content: `${text}I want my money back.\n${next}` },
      ...tool('t1', 'get_order', { [text]: next, order: 17 }, `{"said":"${text}"}`),
      { role: 'user', content: `${next}So will you refund it?${text}` },
      ...(at % 4 === 0 ? last : []),
    ],
    said: `Sure${text}`,
    mocks: [
      { name: 'get_order', arguments: { [text]: next }, result: text },
      { name: `look${text}`, arguments: null, result: next },
    ],
    omitted: 0,
    expect: `The agent does not promise a refund.${text}${next}`,
    criterion: null,
    createdAt: '2026-01-31T09:30:00.000Z',
    createdBy: null,
  }
})
