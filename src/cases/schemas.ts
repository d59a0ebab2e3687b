import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { FieldError } from '../errors.ts'
import { named } from '../validation.ts'

const nameCharsMax = 200
export const expectCharsMax = 2_000
const turnsMax = 200

const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Unsafe<Static<S> | null>({ ...schema, description, nullable: true })
const Text = (example: string, description?: string) =>
  Type.String(description === undefined ? { example } : { example, description })

const turn = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The index, from 0, of a turn of the agent in `transcript`.',
  example: 5,
})
const spoken = {
  minLength: 1,
  pattern: '\\S',
  'x-message': 'must not be blank',
  'x-documented': { pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' },
}
const expectation = Type.String({
  ...spoken,
  maxLength: expectCharsMax,
  description: 'What must hold of the answer.',
  example: 'The agent does not promise a refund.',
})
const name = Type.String({
  ...spoken,
  maxLength: nameCharsMax,
  description: 'By default the first 80 characters of what is expected.',
  example: 'Promises no refund',
})
const CallReference = Text('call-1042', 'The id of a call.')

/** What a test is made of. */
export const CaseRequest = named(
  'CaseRequest',
  {
    call: CallReference,
    turn,
    expect: Type.Optional({
      ...expectation,
      description: 'By default the question of `criterion`, or else the note of the review.',
    }),
    criterion: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Of the rubric in force; not with `expect`.',
        example: 'no_refund',
      }),
    ),
    name: Type.Optional(name),
    lastTurns: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: turnsMax,
        description: 'Keeps only so many turns before the answer.',
        example: 20,
      }),
    ),
  },
  { example: { call: 'call-1042', turn: 1, expect: 'The agent does not promise a refund.' } },
)
export type CaseRequest = Static<typeof CaseRequest>

/** What no schema says of a request. */
export function requestErrors({ expect, criterion }: Partial<CaseRequest>): FieldError[] {
  if (expect === undefined || criterion === undefined) return []
  return [{ field: 'criterion', message: 'must be left out where expect is there' }]
}

const ToolCall = named('CaseToolCall', {
  id: Text('t1'),
  type: Type.Unsafe<'function'>({ type: 'string', enum: ['function'] }),
  function: named('CaseFunction', {
    name: Text('get_order'),
    arguments: Text('{"order":17}', 'A JSON object as text.'),
  }),
})

const Message = named('CaseMessage', {
  role: Type.Unsafe<'user' | 'assistant' | 'tool'>({
    type: 'string',
    enum: ['user', 'assistant', 'tool'],
    example: 'user',
  }),
  content: nullable(Text('So will you refund it?'), 'Null where the agent only calls tools.'),
  tool_calls: Type.Optional(Type.Array(ToolCall)),
  tool_call_id: Type.Optional(Text('t1', "Of the call whose result it is, for a tool's message.")),
})
export type Message = Static<typeof Message>

const Mock = named('CaseMock', {
  name: Text('get_order'),
  arguments: nullable(
    Type.Unsafe<Record<string, unknown>>({
      title: 'CaseArguments',
      type: 'object',
      additionalProperties: true,
      example: { order: 17 },
    }),
    'Null where they are not kept, or no JSON object.',
  ),
  result: nullable(Text('{"daysAgo":45}')),
})
export type Mock = Static<typeof Mock>

const content = {
  messages: Type.Array(Message, {
    description:
      "The conversation before the answer, in the form of OpenAI's chat API. It ends with what a caller said, or a tool's result.",
  }),
  said: Text('Sure, I will refund it today.', 'What the agent then said.'),
  mocks: Type.Array(Mock, { description: 'Every use of a tool in the call whose result is kept, in order.' }),
  omitted: Type.Integer({ minimum: 0, description: "How many tools' results are not kept.", example: 0 }),
  // Redaction may make it longer than a request's.
  expect: Type.String({
    minLength: 1,
    description: 'What must hold of the answer.',
    example: 'The agent does not promise a refund.',
  }),
  criterion: nullable(Text('no_refund'), 'The criterion whose question is expected.'),
}

/** What is stored of a case. */
export type CaseContent = Omit<Case, 'id' | 'call' | 'turn' | 'createdAt' | 'createdBy'>

/** A test that was made of a call. */
export const Case = named('Case', {
  id: Text('case_019a5f0c2b7e7cc0a1d2e3f405162738'),
  name: Type.String({ minLength: 1, example: 'Promises no refund' }),
  call: CallReference,
  turn,
  ...content,
  createdAt: Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }),
  createdBy: nullable(Text('Ada Lovelace'), 'A person, or the name of a key; null for the command line.'),
})
export type Case = Static<typeof Case>

export const CaseList = named('CaseList', {
  data: Type.Array(Case),
  pagination: named('CasePagination', {
    next: nullable(
      Text('case_019a5f0c2b7e7cc0a1d2e3f405162738'),
      'The `cursor` of the next page; null on the last.',
    ),
  }),
})
