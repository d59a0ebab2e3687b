import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { instantPattern } from './instant.ts'

export const transcriptTurnsMax = 10_000
export const metadataBytesMax = 65_536

/** A call's id, under `/ingest` and under `/v1`. In a path `.` and `..` mean another one, so no call is reached by them. */
export const callIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/

// The schemas are JSON Schema as OpenAPI 3.0 writes it (`nullable`, `enum`): one text for checks and docs.

const Time = Type.String({
  pattern: instantPattern,
  'x-message': 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z',
  example: '2026-01-31T09:30:00.000Z',
})

const Status = Type.Unsafe<'live' | 'completed'>({ type: 'string', enum: ['live', 'completed'] })

/** One turn of a transcript. */
export const Turn = Type.Object({
  role: Type.Unsafe<'user' | 'assistant'>({ type: 'string', enum: ['user', 'assistant'] }),
  content: Type.String(),
})
export type Turn = Static<typeof Turn>

const Turns = Type.Array(Turn, { maxItems: transcriptTurnsMax })
const Duration = Type.Number({ minimum: 0, description: 'Seconds; fractions allowed.', example: 91.2 })
const Text = (description: string, example: string) => nullable(Type.String({ description, example }))
const Json = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

const described = {
  summary: Text('What the call was about.', 'Moved the booking to Friday.'),
  evaluation: Text('Normally `success` or `fail`; other rubric text passes through verbatim.', 'success'),
  endedReason: Text('Why the call ended, verbatim as ingested.', 'customer-ended-call'),
  callerNumber: Text('The number that called.', '+15557294053'),
  calledNumber: Text('The number that was called.', '+15550100000'),
  callAnalysis: nullable(Json, "The project's own keys, never interpreted; up to 100 levels deep."),
}

/** A call as it is served: these thirteen fields, always all of them, in this order. */
export const Call = Type.Object({
  id: Type.String({ description: "The platform's own id for the call.", example: 'call-1042' }),
  status: Status,
  duration: Duration,
  summary: described.summary,
  evaluation: described.evaluation,
  endedReason: described.endedReason,
  callerNumber: described.callerNumber,
  calledNumber: described.calledNumber,
  isEngaged: Type.Boolean({ description: 'Whether it was a meaningful conversation.' }),
  callAnalysis: described.callAnalysis,
  transcript: Turns,
  createdAt: Time,
  updatedAt: Time,
})
export type Call = Static<typeof Call>

/** What a platform may say of a call in one request; an absent field is left alone. */
export const CallChange = Type.Partial(
  Type.Object({
    id: Type.String({ description: "When sent, the path's." }),
    status: told(Status, '`live` on creation; `completed` never goes back.'),
    duration: Duration,
    ...described,
    isEngaged: Type.Boolean({ description: 'Whether it was a meaningful conversation.' }),
    transcript: told(Turns, 'Replaces what is stored; not together with `appendTranscript`.'),
    appendTranscript: Type.Object(
      { at: Type.Integer({ minimum: 0, description: 'Index of the first of `turns`.' }), turns: Turns },
      { description: 'Turns that follow what is stored; what is already there and equal is skipped.' },
    ),
    createdAt: told(
      Time,
      'When the call began, by default now; once a request has named it, it has no effect.',
    ),
    updatedAt: told(Time, 'By default the time of the change.'),
    occurredAt: nullable(Time, 'When the event behind this request happened; an older one only fills gaps.'),
    metadata: nullable(Json, 'Up to 64 KiB; stored and erased with the call, never shown under /v1.'),
  }),
)
export type CallChange = Static<typeof CallChange>

export const CallPage = Type.Object({
  data: Type.Array(Call),
  pagination: Type.Object({
    total: Type.Integer({ description: 'Every call of the project.' }),
    limit: Type.Integer(),
    offset: Type.Integer(),
  }),
})

function told<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description }
}

function nullable<S extends TSchema>(schema: S, description?: string) {
  const { description: own, ...rest } = schema
  return Type.Unsafe<Static<S> | null>({ ...rest, description: description ?? own, nullable: true })
}
