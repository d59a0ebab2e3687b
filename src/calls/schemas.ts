import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { callIdPattern } from '../ids.ts'
import { limits } from '../limits.ts'
import { certainInstantPattern, instantPattern } from '../text/instant.ts'
import type { Unmeasurable } from './sound/figures.ts'

export const transcriptTurnsMax = limits.turns.most
const index = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
export const metadataBytesMax = limits.metadata.most
export const timelineEntriesMax = limits.timeline.most
/** The texts of a call that have a limit of their own, in bytes of UTF-8. Those stored earlier may be longer. */
export const limitedTexts = ['summary', 'evaluation', 'endedReason', 'callerNumber', 'calledNumber'] as const
export const limitedTextBytesMax = limits.callText.most
const timelineTextCharsMax = 65_536

// The schemas are JSON Schema with OpenAPI 3.0's `nullable`: one text for checks and docs. The document writes a schema
// with a `title` once, under that name; `x-documented` holds what only the document says: see http/document.ts.

/** Only for the OpenAPI document: `checkId` gives a better message. */
export const CallId = Type.String({
  title: 'CallId',
  pattern: callIdPattern.source,
  example: 'call-1042',
})

const timeExample = '2026-01-31T09:30:00.000Z'

/** A time in answers. */
const Time = Type.String({ format: 'date-time', example: timeExample })

/** A time in requests. */
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

// Only for the OpenAPI document, since the check of all bodies gives a better message. Without a type, so that
// generated clients take any value.
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

const textFields = {
  summary: Text('What the call was about.', 'Moved the booking to Friday.'),
  evaluation: Text('Usually `success` or `fail`. Any other text passes through unchanged.', 'success'),
  endedReason: Text('Why the call ended, exactly as ingested.', 'customer-ended-call'),
  callerNumber: Text('The number that called.', '+15557294053'),
  calledNumber: Text('The number that was called.', '+15550100000'),
  isEngaged: Type.Boolean({
    description: 'Whether it was a meaningful conversation; `false` while that is not known.',
  }),
  callAnalysis: nullable(Json, 'Your own keys, never interpreted; up to 100 levels deep.'),
}

/** The same texts in requests. */
const limitedFields = {
  summary: withLimit(textFields.summary),
  evaluation: withLimit(textFields.evaluation),
  endedReason: withLimit(textFields.endedReason),
  callerNumber: withLimit(textFields.callerNumber),
  calledNumber: withLimit(textFields.calledNumber),
} satisfies Record<(typeof limitedTexts)[number], TSchema>

const callProperties = {
  id: documented(CallId, "The platform's own id for the call."),
  status: Status,
  duration: Duration,
  ...textFields,
  transcript: Turns,
  createdAt: Time,
  updatedAt: Time,
}

/** A call as the API returns it: always exactly these thirteen fields, in this order. */
export const Call = Type.Object(callProperties, {
  title: 'Call',
  // Lists, changes and webhooks add the details for those who ask for them.
  'x-documented': {
    properties: { ...callProperties, details: { $ref: '#/components/schemas/CallDetails' } },
  },
})
export type Call = Static<typeof Call>

const Name = (description: string, example: string) =>
  nullable(Type.String({ maxLength: 200, description, example }))

/** The platform's agent that spoke with the caller. */
const Agent = Type.Object(
  {
    id: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "The platform's id for the agent.",
      example: 'front-desk',
    }),
    name: Type.Optional(Name('What people call it.', 'Front desk')),
    version: Type.Optional(Name('Its version in this call.', 'v3')),
  },
  { title: 'Agent' },
)
export type Agent = Static<typeof Agent>

/** Any other text counts as the last. */
export const costKinds = ['llm', 'stt', 'tts', 'telephony', 'platform', 'analysis', 'other'] as const
const costKindWords = `One of ${costKinds.join(', ')}; any other text becomes the last of them.`
const costEntriesMax = 50
const provider = Type.Optional(Name('Who was paid, or whose model it is.', 'openai'))
const model = Type.Optional(Name('As its provider calls it.', 'gpt-4o'))
const count = (description: string, example: number) =>
  Type.Optional(nullable(Type.Number({ minimum: 0, description, example })))

/** A part of what a call cost. Absent members are null. */
export const CostPart = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, example: 'model' }),
    usd: Type.Number({ minimum: 0, description: 'US dollars.', example: 0.021 }),
    kind: Type.Optional(Type.String({ maxLength: 200, description: costKindWords, example: 'llm' })),
    provider,
    model,
  },
  { title: 'CostPart' },
)

/** What a call used of a model. Absent members are null, which is unknown. */
export type Usage = Static<typeof Usage>
export const Usage = Type.Object(
  {
    kind: Type.Unsafe<'llm' | 'stt' | 'tts'>({ type: 'string', enum: ['llm', 'stt', 'tts'] }),
    provider,
    model,
    inputTokens: count('All of them: cached, written to the cache and of sound included.', 4_200),
    cachedTokens: count('Of the input, those read from the cache.', 3_000),
    cacheWriteTokens: count('Of the input, those written to the cache.', 0),
    audioInputTokens: count('Of the input, those of sound.', 0),
    outputTokens: count('All of them, those of sound included.', 310),
    audioOutputTokens: count('Of the output, those of sound.', 0),
    characters: count('Characters that were spoken.', 1_450),
    seconds: count('Seconds that were transcribed or spoken.', 91.2),
  },
  { title: 'Usage' },
)

const latency = (description: string, example: number) =>
  Type.Optional(nullable(Type.Number({ minimum: 0, description, example })))

/** What the caller waited for before an answer. Absent parts are null. */
export const TurnLatency = Type.Object(
  {
    total: latency('From the end of what the caller said to the first sound of the answer.', 900),
    endOfTurn: latency('Until it was certain that the caller had finished.', 300),
    transcription: latency('Until the last words were transcribed.', 100),
    model: latency('Until the first token of the language model.', 350),
    voice: latency('Until the first sound of the voice.', 120),
    tool: latency('Tools that ran before the answer.', 80),
  },
  { title: 'TurnLatency' },
)

/** An event in a call. Absent members are null, and an absent `interrupted` is false. */
export const TimelineEntry = Type.Object(
  {
    atSeconds: Type.Number({ minimum: 0, description: 'Seconds from the start of the call.', example: 4.2 }),
    kind: Type.Unsafe<'turn' | 'tool_call' | 'tool_result' | 'transfer' | 'other'>({
      type: 'string',
      enum: ['turn', 'tool_call', 'tool_result', 'transfer', 'other'],
    }),
    turn: Type.Optional(
      nullable(Type.Integer({ ...index, description: 'Index of the turn in `transcript`.', example: 0 })),
    ),
    name: Type.Optional(
      Name('The name of the tool, or of whatever the call was transferred to.', 'find_booking'),
    ),
    text: Type.Optional(
      nullable(
        Type.String({
          maxLength: timelineTextCharsMax,
          description: 'What the tool received or returned.',
          example: '{"day":"Friday"}',
        }),
      ),
    ),
    interrupted: Type.Optional(Type.Boolean({ description: 'Whether the caller interrupted the turn.' })),
    agentId: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 200, description: 'The agent that spoke or acted.' })),
    ),
    latencyMs: Type.Optional(
      nullable(TurnLatency, 'What the caller waited for before the turn, in milliseconds.'),
    ),
  },
  { title: 'TimelineEntry' },
)
export type TimelineEntry = Static<typeof TimelineEntry>

export const labelsMax = 50
export const Label = Type.String({ minLength: 1, maxLength: 100 })

/** A person's verdict on a criterion of the project's rubric. */
export const Verdict = Type.Unsafe<'pass' | 'fail'>({ type: 'string', enum: ['pass', 'fail'] })

/** A person's review of a call. */
export const Review = Type.Object(
  {
    evaluation: Name(
      "A person's evaluation. It takes precedence over the platform's, which stays in the call.",
      'fail',
    ),
    note: nullable(Type.String({ maxLength: 10_000 })),
    labels: Type.Array(Label, { maxItems: labelsMax, uniqueItems: true }),
    reviewed: Type.Optional(
      Type.Boolean({ description: 'Whether a person evaluated the call or marked it as reviewed.' }),
    ),
    flaggedTurns: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), { description: 'Indexes of turns in `transcript`.' }),
    ),
    criteria: Type.Optional(
      Type.Record(Type.String(), Verdict, {
        title: 'ReviewVerdicts',
        description: "A person's verdicts, by criterion. They take precedence over those of the analysis.",
        example: { confirmed_date: 'fail' },
      }),
    ),
    assignee: Type.Optional(Name('The person who is to review the call.', 'Ada Lovelace')),
    by: Name('The last person who changed the review.', 'Ada Lovelace'),
    at: Time,
  },
  { title: 'Review' },
)
export type Review = Static<typeof Review>

const commonDetails = {
  agent: nullable(Agent),
  // OpenAPI 3.0 needs null among the values too.
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
      description: 'Where the recording is. The console plays only https recordings.',
      example: 'https://recordings.example.com/call-1042.mp3',
    }),
  ),
  costUsd: nullable(Type.Number({ minimum: 0, description: 'US dollars.', example: 0.12 })),
  latencyMs: nullable(
    Type.Number({ minimum: 0, description: 'Median time the agent took to answer.', example: 640 }),
  ),
  costParts: nullable(
    Type.Array(CostPart, { maxItems: costEntriesMax }),
    'What the cost is made of, as far as the platform says: it need not add up to `costUsd`.',
  ),
  usage: nullable(
    Type.Array(Usage, { maxItems: costEntriesMax }),
    'What the call used, an entry for each kind, provider and model.',
  ),
}
const Timeline = Type.Array(TimelineEntry, { maxItems: timelineEntriesMax })
const Metadata = nullable(
  Json,
  'Up to 64 KiB of JSON, never interpreted. In a change it is merged by key: null clears a key.',
)

/** The recording that the service keeps beside a call. All but the first two members are null unless it is kept. */
export const CallRecording = Type.Object(
  {
    state: Type.Unsafe<'none' | 'waiting' | 'kept' | 'failed' | 'expired'>({
      type: 'string',
      enum: ['none', 'waiting', 'kept', 'failed', 'expired'],
      description:
        '`waiting`: it is fetched, or made silent where its call is redacted. `expired`: it was deleted when its own retention ended.',
    }),
    reason: nullable(Type.String({ description: 'Why it waits, or could not be fetched or kept.' })),
    contentType: nullable(Type.String({ example: 'audio/wav' })),
    bytes: nullable(Type.Integer({ example: 1_440_044 })),
    durationSeconds: nullable(Type.Number({ example: 90 })),
    channels: nullable(Type.Integer({ description: 'Of two, the first is the caller.', example: 2 })),
    keptAt: nullable(Time),
    mutedSeconds: nullable(
      Type.Number({
        example: 6.2,
        description: 'How much of it is silent, since what was said is redacted.',
      }),
    ),
    muted: nullable(
      Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), { example: [[41.2, 47.4]] }),
      'Where: the beginning and the end of each such span, in seconds.',
    ),
  },
  { title: 'CallRecording' },
)
export type CallRecording = Static<typeof CallRecording>

const figure = (description: string, example: number) =>
  nullable(Type.Number({ minimum: 0, description, example }))
const wholeFigure = (description: string, example: number) =>
  nullable(Type.Integer({ minimum: 0, description, example }))
const soundStates = ['none', 'waiting', 'measured', 'unmeasured'] as const
const soundReasons = ['mono', 'channels', 'mixed', 'noisy', 'format', 'damaged', 'short', 'long'] as const

/** What is heard in the recording of a call. All but the state and the reason are null unless it is measured. */
export const CallSound = Type.Object(
  {
    state: Type.Unsafe<(typeof soundStates)[number]>({
      type: 'string',
      enum: [...soundStates],
      description: '`none`: there was no recording. `waiting`: the call is live, or not yet measured.',
    }),
    reason: nullable(
      Type.Unsafe<Unmeasurable>({
        type: 'string',
        enum: [...soundReasons, null],
        description: 'Why it cannot be measured.',
      }),
    ),
    responses: wholeFigure('How often the agent answered the caller.', 9),
    responseMs: wholeFigure('How long the caller waited for an answer: the median.', 900),
    responseP95Ms: wholeFigure('The same, of which 95 % are at most as long.', 4_100),
    responseMaxMs: wholeFigure('The longest wait.', 4_100),
    deadAirs: wholeFigure('How often both were silent for more than 2 seconds.', 2),
    deadAirSeconds: figure('For how long in all.', 6.1),
    talkOvers: nullable(
      Type.Object(
        { caller: Type.Integer({ example: 1 }), agent: Type.Integer({ example: 2 }) },
        { title: 'TalkOvers' },
      ),
      'How often both spoke for more than 0.3 seconds, by who began later.',
    ),
    talkOverSeconds: figure('For how long in all.', 2.4),
    interruptions: wholeFigure('How often the agent fell silent because the caller began.', 1),
    callerSeconds: figure('For how long the caller spoke.', 48.2),
    agentSeconds: figure('For how long the agent spoke.', 66.5),
    agentShare: figure('The share of the agent in what both spoke, 0 to 1.', 0.58),
    monologueSeconds: figure('The longest that the agent spoke while the caller only acknowledged.', 21.3),
    agentChannel: nullable(
      Type.Unsafe<0 | 1>({
        type: 'integer',
        enum: [0, 1, null],
        description: 'Which channel is the agent’s.',
      }),
    ),
    untilSeconds: figure(
      'When the call was transferred: what follows does not count. Null without a transfer.',
      88,
    ),
    version: wholeFigure('Figures of two versions do not compare.', 1),
  },
  { title: 'CallSound' },
)
export type CallSound = Static<typeof CallSound>

const Spans = Type.Array(
  Type.Unsafe<[from: number, to: number]>({
    type: 'array',
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
  }),
  { description: 'From and to, in seconds.', example: [[3.21, 7.4]] },
)
const seconds = Type.Number({ description: 'Seconds.', example: 3.21 })

/** The same with what its figures are made of, which is empty unless it is measured. */
export const HeardSound = Type.Object(
  {
    ...CallSound.properties,
    caller: documented(Spans, 'When the caller speaks.'),
    agent: documented(Spans, 'When the agent speaks.'),
    waits: Type.Array(Type.Object({ at: seconds, seconds }, { title: 'Wait' }), {
      description: 'How long each answer was waited for, and when it began.',
    }),
    deadAir: Spans,
    talkOver: Type.Array(
      Type.Object(
        {
          from: seconds,
          to: seconds,
          by: Type.Unsafe<'caller' | 'agent'>({
            type: 'string',
            enum: ['caller', 'agent'],
            description: 'Who began later.',
          }),
          yielded: Type.Boolean({ description: 'Whether the agent fell silent because of it.' }),
        },
        { title: 'TalkOver' },
      ),
    ),
  },
  { title: 'HeardSound' },
)
export type HeardSound = Static<typeof HeardSound>

/** What our own analysis of a call came to. */
const AnalysisOutcome = Type.Object(
  {
    state: Type.Unsafe<'none' | 'done' | 'skipped' | 'failed'>({
      type: 'string',
      enum: ['none', 'done', 'skipped', 'failed'],
    }),
    version: nullable(Type.Integer({ description: 'The version of the rubric.', example: 3 })),
    criteria: Type.Record(
      Type.String(),
      Type.Unsafe<'pass' | 'fail' | 'unknown'>({ type: 'string', enum: ['pass', 'fail', 'unknown'] }),
      { title: 'Verdicts', example: { confirmed_date: 'pass' } },
    ),
  },
  { title: 'AnalysisOutcome' },
)

/** What is known about a call beyond its thirteen fields. */
export const CallDetails = Type.Object(
  {
    source: Name('The platform that the call came from.', 'vapi'),
    ...commonDetails,
    costSource: nullable(
      Type.Unsafe<'platform' | 'computed'>({ type: 'string', enum: ['platform', 'computed', null] }),
      'Where `costUsd` is from. A request is `platform`.',
    ),
    costMissing: Type.Optional(
      Type.Array(Type.String({ example: 'tts cartesia sonic-3' }), {
        description: 'What has no price, so that the cost cannot be computed; absent otherwise.',
      }),
    ),
    recording: CallRecording,
    sound: CallSound,
    analysis: AnalysisOutcome,
    timeline: Timeline,
    review: nullable(Review),
    redacted: nullable(Json, 'How many values of each kind were replaced before the call was stored.'),
    metadata: Metadata,
  },
  { title: 'CallDetails' },
)
export type CallDetails = Static<typeof CallDetails>

/** A change of a call's details. Each member that is sent replaces the stored one; metadata is merged by key. */
export const CallDetailsUpdate = Type.Partial(
  Type.Object({ ...commonDetails, timeline: nullable(Timeline), metadata: Metadata }),
  { title: 'CallDetailsUpdate' },
)
export type CallDetailsUpdate = Static<typeof CallDetailsUpdate>

/** A change of a call. An absent field stays as it is. */
export const CallChange = Type.Partial(
  Type.Object({
    // Not in the OpenAPI document: whether it is valid depends on the path.
    id: Type.String({ description: 'Must equal the id in the path, if sent.', 'x-documented': false }),
    status: documented(Status, '`live` on creation. A `completed` call never becomes live again.'),
    duration: Duration,
    ...textFields,
    ...limitedFields,
    transcript: documented(Turns, 'Replaces the stored transcript. Not together with `appendTranscript`.'),
    appendTranscript: Type.Object(
      { at: Type.Integer({ ...index, description: 'Index of the first of `turns`.' }), turns: Turns },
      {
        title: 'AppendTranscript',
        description:
          'Turns that follow the stored ones. Turns that are already stored and equal are skipped.',
      },
    ),
    appendTimeline: Type.Object(
      {
        at: Type.Integer({ ...index, description: 'Index of the first of `entries`.' }),
        entries: Type.Array(TimelineEntry, { maxItems: timelineEntriesMax }),
      },
      {
        title: 'AppendTimeline',
        description:
          'Entries that follow those of `details.timeline`. Entries that are already stored and equal are skipped. Not together with `details.timeline`.',
      },
    ),
    createdAt: documented(
      GivenTime,
      'When the call began (default: now). The first value that a request sends stays; later ones have no effect.',
    ),
    updatedAt: documented(GivenTime, 'Default: the time of the change.'),
    occurredAt: nullable(
      GivenTime,
      'When the event behind this request happened. An older event only fills gaps.',
    ),
    metadata: nullable(
      Json,
      'Up to 64 KiB. Merged by key: a null value clears its key, null clears all. The same as `details.metadata`.',
    ),
    details: documented(
      CallDetailsUpdate,
      'Each member that is sent replaces the stored one; null clears it. Metadata is merged by key.',
    ),
  }),
  {
    title: 'CallUpdate',
    // Limits for the OpenAPI document. The checks of changes enforce them with better messages.
    'x-documented': {
      not: {
        anyOf: [
          {
            properties: { transcript: {}, appendTranscript: {} },
            required: ['transcript', 'appendTranscript'],
          },
          {
            properties: {
              appendTimeline: {},
              details: { properties: { timeline: {} }, required: ['timeline'] },
            },
            required: ['appendTimeline', 'details'],
          },
          {
            properties: {
              metadata: {},
              // Without a type, which would add the rules for further members, and generators cannot express their
              // negation.
              details: { properties: { metadata: {} }, required: ['metadata'] },
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

/** The same of a platform or an archive, whose long texts are cut, so that no call is lost. */
export const ForeignChange = Type.Partial(Type.Object({ ...CallChange.properties, ...textFields }))

const Pagination = Type.Object(
  {
    total: Type.Integer({
      description:
        'How many calls match. With filters, at most 10,000 are counted; with a phrase, only the first 2,000 calls that contain its words.',
      example: 1,
    }),
    totalIsCapped: Type.Optional(
      Type.Boolean({
        description: 'Whether more calls match, or could match, than were counted. Only with filters.',
      }),
    ),
    limit: Type.Integer({ example: 100 }),
    offset: Type.Integer({ example: 0 }),
    next: nullable(Type.String({ description: 'The `cursor` for the next page; null on the last page.' })),
  },
  { title: 'Pagination' },
)

export const CallPage = Type.Object({ data: Type.Array(Call), pagination: Pagination }, { title: 'CallPage' })

function documented<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description }
}

function withLimit<S extends TSchema>(schema: S): S {
  const description = `${schema.description} At most ${limitedTextBytesMax} bytes.`
  return { ...documented(schema, description), 'x-bytesMax': limitedTextBytesMax }
}

function nullable<S extends TSchema>(schema: S, description?: string) {
  const { description: own, ...rest } = schema
  return Type.Unsafe<Static<S> | null>({ ...rest, description: description ?? own, nullable: true })
}
