import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { callIdPattern } from '../ids.ts'
import { certainInstantPattern, instantPattern } from '../text/instant.ts'

export const transcriptTurnsMax = 10_000
export const metadataBytesMax = 65_536
const timelineEntriesMax = 20_000
const timelineTextCharsMax = 65_536

// The schemas are JSON Schema with OpenAPI 3.0's `nullable`: one text for checks and docs. The document writes a schema
// with a `title` once, under that name; `x-documented` holds what only the document says: see http/document.ts.

/** For documents: `checkId` gives a better sentence. */
export const CallId = Type.String({
  title: 'CallId',
  description: "The platform's own id for the call.",
  pattern: callIdPattern.source,
  example: 'call-1042',
})

const timeExample = '2026-01-31T09:30:00.000Z'

/** As it is served. */
const Time = Type.String({ format: 'date-time', example: timeExample })

/** As it is accepted. */
const GivenTime = Type.String({
  title: 'Time',
  format: 'date-time',
  pattern: instantPattern,
  'x-message': `must be an ISO 8601 time with a zone, such as ${timeExample}`,
  'x-documented': { pattern: certainInstantPattern },
  example: timeExample,
})

const Status = Type.Unsafe<'live' | 'completed'>({
  title: 'CallStatus',
  type: 'string',
  enum: ['live', 'completed'],
})

const Role = Type.Unsafe<'user' | 'assistant'>({
  title: 'TurnRole',
  type: 'string',
  enum: ['user', 'assistant'],
})

/** One turn of a transcript. */
export const Turn = Type.Object(
  { role: Role, content: Type.String({ example: 'Can I still return my order?' }) },
  { title: 'Turn' },
)
export type Turn = Static<typeof Turn>

const Turns = Type.Array(Turn, { maxItems: transcriptTurnsMax })
const Duration = Type.Number({ minimum: 0, description: 'Seconds; fractions allowed.', example: 91.2 })
const Text = (description: string, example: string) => nullable(Type.String({ description, example }))
const anyText = '^[^\\u0000]*$'
const ofAnyMembers = {
  propertyNames: { pattern: anyText },
  patternProperties: { '': { $ref: '#/components/schemas/JsonValue' } },
}

// For documents: the check of all bodies is a better sentence. Without a type, so that generated clients take any value.
const JsonValue = {
  title: 'JsonValue',
  pattern: anyText,
  items: { $ref: '#/components/schemas/JsonValue' },
  ...ofAnyMembers,
  description: 'Any JSON without U+0000.',
}
const Json = Type.Unsafe<Record<string, unknown>>({
  title: 'JsonObject',
  type: 'object',
  additionalProperties: true,
  'x-documented': { ...ofAnyMembers, patternProperties: { '': JsonValue } },
  example: { intent: 'reschedule' },
})

const described = {
  summary: Text('What the call was about.', 'Moved the booking to Friday.'),
  evaluation: Text('Normally `success` or `fail`; other rubric text passes through verbatim.', 'success'),
  endedReason: Text('Why the call ended, verbatim as ingested.', 'customer-ended-call'),
  callerNumber: Text('The number that called.', '+15557294053'),
  calledNumber: Text('The number that was called.', '+15550100000'),
  callAnalysis: nullable(Json, "The project's own keys, never interpreted; up to 100 levels deep."),
}

/** A call as it is served: these thirteen fields, always all of them, in this order. */
export const Call = Type.Object(
  {
    id: CallId,
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
  },
  { title: 'Call' },
)
export type Call = Static<typeof Call>

const Name = (description: string, example: string) =>
  nullable(Type.String({ maxLength: 200, description, example }))

/** Who spoke with the caller: an agent of the platform. */
const Agent = Type.Object(
  {
    id: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "The platform's id for the agent.",
      example: 'front-desk',
    }),
    name: Type.Optional(Name('What people call it.', 'Front desk')),
  },
  { title: 'Agent' },
)

/** Something that happened in a call, at its time. Absent members of an entry are null. */
export const TimelineEntry = Type.Object(
  {
    atSeconds: Type.Number({ minimum: 0, description: 'Seconds from the start of the call.', example: 4.2 }),
    kind: Type.Unsafe<'turn' | 'tool_call' | 'tool_result' | 'transfer' | 'other'>({
      type: 'string',
      enum: ['turn', 'tool_call', 'tool_result', 'transfer', 'other'],
    }),
    turn: Type.Optional(
      nullable(Type.Integer({ minimum: 0, description: 'Index of the turn in `transcript`.', example: 0 })),
    ),
    name: Type.Optional(Name('Of the tool, or of what a call was transferred to.', 'find_booking')),
    text: Type.Optional(
      nullable(
        Type.String({
          maxLength: timelineTextCharsMax,
          description: 'What the tool was given or answered.',
          example: '{"day":"Friday"}',
        }),
      ),
    ),
  },
  { title: 'TimelineEntry' },
)
export type TimelineEntry = Static<typeof TimelineEntry>

export const labelsMax = 50
export const Label = Type.String({ minLength: 1, maxLength: 100 })

/** What a person said of a call. */
const Review = Type.Object(
  {
    evaluation: Name("A person's judgement. It stands over the platform's, which stays in the call.", 'fail'),
    note: nullable(Type.String({ maxLength: 10_000 })),
    labels: Type.Array(Label, { maxItems: labelsMax, uniqueItems: true }),
    reviewed: Type.Optional(
      Type.Boolean({ description: 'Whether a person evaluated the call or marked it as reviewed.' }),
    ),
    flaggedTurns: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), { description: 'Indexes of turns in `transcript`.' }),
    ),
    by: Name('The last person who changed any of it.', 'Ada Lovelace'),
    at: Time,
  },
  { title: 'Review' },
)
export type Review = Static<typeof Review>

const toldDetails = {
  agent: nullable(Agent),
  // OpenAPI 3.0 wants null among the values too.
  direction: nullable(
    Type.Unsafe<'inbound' | 'outbound' | 'web'>({
      type: 'string',
      enum: ['inbound', 'outbound', 'web', null],
    }),
  ),
  recordingUrl: nullable(
    Type.String({
      maxLength: 4_096,
      pattern: '^https?://\\S+$',
      'x-message': 'must be an http or https URL',
      description: 'Where the recording is; only an https one is played in the console.',
      example: 'https://recordings.example.com/call-1042.mp3',
    }),
  ),
  costUsd: nullable(Type.Number({ minimum: 0, description: 'US dollars.', example: 0.12 })),
  latencyMs: nullable(
    Type.Number({ minimum: 0, description: 'Median of how long the agent took to answer.', example: 640 }),
  ),
}
const Timeline = Type.Array(TimelineEntry, { maxItems: timelineEntriesMax })
const Metadata = nullable(Json, 'Up to 64 KiB of JSON, never interpreted.')

/** All that is known of a call beside its thirteen fields. */
export const CallDetails = Type.Object(
  {
    source: Name('The platform that the call came from.', 'vapi'),
    ...toldDetails,
    timeline: Timeline,
    review: nullable(Review),
    redacted: nullable(
      Json,
      'How much was replaced before the call was stored: a whole number for each kind.',
    ),
    metadata: Metadata,
  },
  { title: 'CallDetails' },
)
export type CallDetails = Static<typeof CallDetails>

/** What a platform may say of a call's details: each member sent replaces its own. */
export const CallDetailsUpdate = Type.Partial(
  Type.Object({ ...toldDetails, timeline: nullable(Timeline), metadata: Metadata }),
  { title: 'CallDetailsUpdate' },
)
export type CallDetailsUpdate = Static<typeof CallDetailsUpdate>

/** What a platform may say of a call in one request; an absent field is left alone. */
export const CallChange = Type.Partial(
  Type.Object({
    // The document leaves it out: whether it is valid depends on the path.
    id: Type.String({ description: "When sent, the path's.", 'x-documented': false }),
    status: told(Status, '`live` on creation; `completed` never goes back.'),
    duration: Duration,
    ...described,
    isEngaged: Type.Boolean({ description: 'Whether it was a meaningful conversation.' }),
    transcript: told(Turns, 'Replaces what is stored; not together with `appendTranscript`.'),
    appendTranscript: Type.Object(
      { at: Type.Integer({ minimum: 0, description: 'Index of the first of `turns`.' }), turns: Turns },
      {
        title: 'AppendTranscript',
        description: 'Turns that follow what is stored; what is already there and equal is skipped.',
      },
    ),
    createdAt: told(
      GivenTime,
      'When the call began, by default now; once a request has named it, it has no effect.',
    ),
    updatedAt: told(GivenTime, 'By default the time of the change.'),
    occurredAt: nullable(
      GivenTime,
      'When the event behind this request happened; an older one only fills gaps.',
    ),
    metadata: nullable(
      Json,
      'Up to 64 KiB; shown in the details of the call. The same as `details.metadata`.',
    ),
    details: told(CallDetailsUpdate, 'Each member that is sent replaces its own; null clears it.'),
  }),
  {
    title: 'CallUpdate',
    // What the checks of changes refuse with a better sentence.
    'x-documented': {
      not: {
        anyOf: [
          {
            properties: { transcript: {}, appendTranscript: {} },
            required: ['transcript', 'appendTranscript'],
          },
          {
            properties: {
              metadata: {},
              details: { type: 'object', properties: { metadata: {} }, required: ['metadata'] },
            },
            required: ['metadata', 'details'],
          },
        ],
      },
    },
    example: {
      status: 'completed',
      duration: 91.2,
      summary: 'Moved the booking to Friday.',
      evaluation: 'success',
      endedReason: 'customer-ended-call',
      callerNumber: '+15557294053',
      calledNumber: '+15550100000',
      isEngaged: true,
      callAnalysis: { intent: 'reschedule' },
      transcript: [
        { role: 'assistant', content: 'Hello, how can I help?' },
        { role: 'user', content: 'I would like to move my booking to Friday.' },
      ],
      createdAt: '2026-01-31T09:30:00.000Z',
      occurredAt: '2026-01-31T09:31:31.200Z',
      metadata: { campaign: 'winter' },
    },
  },
)
export type CallChange = Static<typeof CallChange>

const Pagination = Type.Object(
  {
    total: Type.Integer({
      description:
        'Every call that matches; with filters, up to 10,000 are counted, with a phrase, those among the first 2,000 that have its words.',
      example: 1,
    }),
    totalIsCapped: Type.Optional(
      Type.Boolean({ description: 'Whether more match than were counted, or may; only with filters.' }),
    ),
    limit: Type.Integer({ example: 100 }),
    offset: Type.Integer({ example: 0 }),
    next: nullable(Type.String({ description: 'The `cursor` of the next page; null on the last one.' })),
  },
  { title: 'Pagination' },
)

export const CallPage = Type.Object({ data: Type.Array(Call), pagination: Pagination }, { title: 'CallPage' })

function told<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description }
}

function nullable<S extends TSchema>(schema: S, description?: string) {
  const { description: own, ...rest } = schema
  return Type.Unsafe<Static<S> | null>({ ...rest, description: description ?? own, nullable: true })
}
