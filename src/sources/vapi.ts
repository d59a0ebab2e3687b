import { toIso } from '../text/instant.ts'
import {
  agentOf,
  Conversation,
  costKindOf,
  type EventCosts,
  engagementOf,
  latencyOf,
  medianOf,
  numbersOf,
  positive,
  readLabelled,
  roleOf,
  secondsBetween,
  sumOfKnown,
  updateOf,
  withoutUnknown,
} from './call-fields.ts'
import type {
  CallHistory,
  NamedRecording,
  Platform,
  SignedRequest,
  SourceDetails,
  SourceOptions,
  SourceUpdate,
  Span,
  TimelineEntry,
  TurnLatency,
} from './event.ts'
import { FieldFault, type Fields, isObject, listIn, withQuery } from './fields.ts'
import { bearerOf, decode, isHmac, isRecent, isSecret, readDigits } from './signature.ts'

// https://docs.vapi.ai/server-url/events, https://docs.vapi.ai/server-url/server-authentication

const machines = new Set(['voicemail', 'customer-did-not-answer', 'customer-busy'])
const speakers = { ai: 'assistant', user: 'user' } as const

export const vapi: Platform = {
  hasSecret(headers, secret) {
    return isSecret(bearerOf(headers), secret) || isSecret(headers.get('x-vapi-secret'), secret)
  },

  isSigned(request, secret) {
    return isStandardWebhook(request, secret) || isCustomSigned(request, secret)
  },

  read(event, options) {
    const message = event.object('message')
    switch (message.text('type')) {
      case 'status-update':
        return readStatus(message)
      case 'conversation-update':
        return readConversation(message)
      case 'end-of-call-report':
        return readReport(message, options)
      default:
        return null
    }
  },

  attached(event) {
    const call = event.object('message').object('call')
    const overrides = call.object('assistantOverrides')
    return [
      overrides.ownMembers('variableValues'),
      overrides.ownMembers('metadata'),
      call.ownMembers('metadata'),
    ]
  },

  // https://docs.vapi.ai/assistants/retrieve-call-artifacts
  recording: {
    api: 'https://api.vapi.ai',
    recordingIn: (event) => readRecording(event.object('message')),
    request: ({ id, reference }, apiKey) => ({
      path: `/call/${encodeURIComponent(id)}/${reference ?? stereo}`,
      headers: { authorization: `Bearer ${apiKey}` },
    }),
  },
}

const stereo = 'stereo-recording'
const dayMs = 86_400_000
/** The parts of a call that its report has beside it. */
const reported = [
  'artifact',
  'analysis',
  'startedAt',
  'endedAt',
  'endedReason',
  'cost',
  'costs',
  'costBreakdown',
].concat(['customer', 'phoneNumber', 'destination', 'assistantVersion'])

/**
 * The list has neither cursor nor order, so windows of at most a day are read: a full one is halved. A cursor is the
 * window's times. https://docs.vapi.ai/api-reference/calls/list
 */
export const vapiHistory: CallHistory = {
  api: 'https://api.vapi.ai',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  pageSize: 100,
  atOnce: 4,
  hasEmptyPages: true,
  idName: 'id',
  page({ span, cursor, pageSize }) {
    const { from, to } = windowOf(span, cursor)
    return { path: withQuery('/call', { limit: pageSize, createdAtGe: toIso(from), createdAtLt: toIso(to) }) }
  },
  read(answer, { span, cursor, pageSize }) {
    const items = listIn(answer)
    const { from, to } = windowOf(span, cursor)
    if (items.length < pageSize) {
      const end = Math.min(to + Math.min(2 * (to - from), dayMs), span.to)
      return { items, next: to < span.to ? `${to}-${end}` : null }
    }
    if (to - from <= 1) throw new FieldFault('body', `has ${pageSize} calls or more of one millisecond`)
    return { items: [], next: `${from}-${Math.floor((from + to) / 2)}` }
  },
  sample: { path: '/call?limit=100' },
  startedAt: (call) => call.time('createdAt'),
  fateOf(call) {
    const status = call.text('status') ?? ''
    if (['not-found', 'deletion-failed'].includes(status)) return 'deletedThere'
    return status === 'ended' ? 'ended' : 'live'
  },
  eventOf(call) {
    const parts = reported.flatMap((name) => (call[name] === undefined ? [] : [[name, call[name]]]))
    return { message: { type: 'end-of-call-report', call, ...Object.fromEntries(parts) } }
  },
}

function windowOf(span: Span, cursor: string | null): Span {
  const [from, to] = cursor?.split('-').map(Number) ?? []
  return from !== undefined && to !== undefined
    ? { from, to }
    : { from: span.from, to: Math.min(span.from + dayMs, span.to) }
}

/** The plain addresses only tell that there is a recording: they are private. */
function readRecording(message: Fields): NamedRecording | null {
  const artifact = message.object('artifact')
  const recording = artifact.object('recording')
  const isStereo =
    artifact.has('presignedStereoUrl') || artifact.has('stereoRecordingUrl') || recording.has('stereoUrl')
  const isMono =
    artifact.has('presignedMonoUrl') ||
    artifact.has('recordingUrl') ||
    message.has('recordingUrl') ||
    recording.has('mono')
  if (message.text('type') !== 'end-of-call-report' || (!isStereo && !isMono)) return null
  return withoutUnknown({
    url: artifact.address('presignedStereoUrl') ?? artifact.address('presignedMonoUrl'),
    urlExpiresAt: artifact.time('presignedUrlsExpiresAt'),
    reference: isStereo ? stereo : 'mono-recording',
  })
}

function isStandardWebhook({ headers, body, now }: SignedRequest, secret: string): boolean {
  const [id, timestamp] = [headers.get('webhook-id'), headers.get('webhook-timestamp')]
  const key = decode(secret.replace(/^whsec_/, ''), 'base64')
  if (!id || !key || !isRecent(readDigits(timestamp, 1_000), now)) return false
  const header = headers.get('webhook-signature')?.split(' ') ?? []
  const signatures = header.map((signature) => /^v1,(.*)$/.exec(signature)?.[1])
  return isHmac({ key, parts: [`${id}.${timestamp}.`, body], signatures, encoding: 'base64' })
}

/** Users choose algorithm, encoding and prefix in Vapi; the request does not tell which. */
function isCustomSigned({ headers, body, now }: SignedRequest, secret: string): boolean {
  const header = headers.get('x-signature') ?? headers.get('x-vapi-signature')
  const signatures = [header?.replace(/^(sha1|sha256|sha512)=/, '')]
  const timestamp = headers.get('x-timestamp')
  // The unit is undocumented.
  const isOnTime = ([1, 1_000] as const).some((unitMs) => isRecent(readDigits(timestamp, unitMs), now))
  if (timestamp !== null && !isOnTime) return false
  const parts = timestamp === null ? [body] : [`${timestamp}.`, body]
  const keys = [secret, decode(secret, 'base64')].filter((key) => key !== null)
  return keys.some((key) =>
    (['sha256', 'sha512', 'sha1'] as const).some((algorithm) =>
      (['hex', 'base64'] as const).some((encoding) =>
        isHmac({ key, parts, signatures, algorithm, encoding }),
      ),
    ),
  )
}

function readStatus(message: Fields): SourceUpdate {
  const hasEnded = message.text('status') === 'ended'
  const { id, change, details } = readCommon(message)
  const status = hasEnded ? 'completed' : 'live'
  // Without a time, it makes no snapshot of the conversation count as late. No other event contradicts it.
  return updateOf(
    id,
    { ...change, status, endedReason: message.text('endedReason'), occurredAt: undefined },
    details,
  )
}

function readConversation(message: Fields): SourceUpdate {
  const { id, change, details } = readCommon(message)
  const { transcript } = readOpenAi(message.list('messagesOpenAIFormatted'))
  // Without a time, a late snapshot would replace the whole conversation.
  const isDated = change.occurredAt !== undefined
  return updateOf(id, { ...change, status: 'live', transcript: isDated ? transcript : undefined }, details)
}

function readReport(message: Fields, options: SourceOptions): SourceUpdate {
  const { id, change, details } = readCommon(message)
  const [analysis, artifact] = [message.object('analysis'), message.object('artifact')]
  const [startedAt, endedAt] = [message.time('startedAt'), message.time('endedAt')]
  const duration = positive(message.number('durationSeconds')) ?? secondsBetween(startedAt, endedAt)
  const target = targetOf(message)
  const conversation = readArtifact(artifact, target !== undefined, options)
  if (target) conversation.use('transfer', target, duration)
  const performance = artifact.object('performanceMetrics')
  const latencies = performance.list('turnLatencies').map(readLatency)
  const endedReason = message.text('endedReason')
  const recording = artifact.object('recording')
  return updateOf(
    id,
    {
      ...change,
      status: 'completed',
      duration,
      summary: analysis.text('summary'),
      evaluation: analysis.plain('successEvaluation'),
      endedReason,
      isEngaged: engagementOf(machines.has(endedReason ?? '')),
      callAnalysis: readAnalysis(analysis, artifact),
      transcript: conversation.transcript,
      createdAt: change.createdAt ?? startedAt,
      occurredAt: change.occurredAt ?? endedAt,
    },
    {
      ...details,
      recordingUrl:
        recording.object('mono').openUrl('combinedUrl') ??
        recording.openUrl('stereoUrl') ??
        artifact.openUrl('recordingUrl') ??
        message.openUrl('recordingUrl'),
      costUsd: message.number('cost'),
      ...readCosts(message),
      latencyMs: medianOf(latencies.flatMap(({ total }) => total ?? [])),
      timeline: withLatencies(conversation, latencies),
      metadata: withoutUnknown({ interruptions: performance.number('numAssistantInterrupted') }),
    },
  )
}

function readCommon(message: Fields) {
  const call = message.object('call')
  const part = (name: string) => (message.has(name) ? message.object(name) : call.object(name))
  const [customer, phoneNumber] = [part('customer'), part('phoneNumber')]
  const direction = directionOf(call.text('type'))
  const person = customer.phoneNumber('number') ?? customer.phoneNumber('sipUri')
  const own =
    phoneNumber.phoneNumber('number') ??
    phoneNumber.phoneNumber('sipUri') ??
    call.object('phoneNumber').phoneNumber('twilioPhoneNumber')
  // Null for a squad, and for an assistant that was made for the call.
  const version = 'assistantVersion'
  const agentId = call.text('assistantId') ?? call.text('squadId') ?? call.text('workflowId')
  const change = {
    ...numbersOf(direction, { person, own }),
    createdAt: call.time('createdAt'),
    occurredAt: message.time('timestamp'),
  }
  return {
    id: call.required('id'),
    change,
    details: {
      direction,
      agent: agentOf(agentId, part('assistant').text('name'), message.plain(version) ?? call.plain(version)),
    },
  }
}

function readCosts(message: Fields): EventCosts {
  const costs = message.list('costs').map(readCost)
  if (costs.length > 0) return { costParts: costs, usage: costs }
  const sums = (message.has('costBreakdown') ? message : message.object('call')).object('costBreakdown')
  const analyses = sums.object('analysisCostBreakdown')
  const ofAnalyses = ['summary', 'structuredData', 'successEvaluation', 'structuredOutput']
  const usd = sumOfKnown(...ofAnalyses.map((name) => analyses.number(name)))
  const parts = ['transport', 'stt', 'llm', 'tts', 'vapi', 'chat']
  const [inputTokens, outputTokens] = [sums.number('llmPromptTokens'), sums.number('llmCompletionTokens')]
  const cachedTokens = sums.number('llmCachedPromptTokens')
  return {
    costParts: [...parts.map((name) => ({ name, usd: sums.number(name) })), { name: 'analysis', usd }],
    usage: [
      { kind: 'llm', inputTokens, cachedTokens, outputTokens },
      { kind: 'tts', characters: sums.number('ttsCharacters') },
    ],
  }
}

/** A part of the cost, and what was used for it. */
function readCost(cost: Fields) {
  const name = cost.text('type')
  const costKind = costKindOf(name)
  const kind = costKind === 'stt' || costKind === 'tts' ? costKind : ('llm' as const)
  // A whole configuration, with prompts and keys.
  const model = cost.object(kind === 'llm' ? 'model' : (name ?? ''))
  const minutes = kind === 'stt' ? cost.number('minutes') : undefined
  return {
    name,
    usd: cost.number('cost'),
    kind,
    provider: cost.text('provider') ?? model.text('provider'),
    model: model.text('model'),
    inputTokens: cost.number('promptTokens'),
    cachedTokens: cost.number('cachedPromptTokens'),
    outputTokens: cost.number('completionTokens'),
    characters: cost.number('characters'),
    seconds: minutes && minutes * 60,
  }
}

function directionOf(type: string | undefined): SourceDetails['direction'] {
  if (type === 'inboundPhoneCall') return 'inbound'
  if (type === 'outboundPhoneCall') return 'outbound'
  return type === 'webCall' || type === 'vapi.websocketCall' ? 'web' : undefined
}

/** Where the call ended: a number, a SIP address or an assistant. */
function targetOf(message: Fields): string | undefined {
  const place = message.has('destination') ? message : message.object('call')
  const destination = place.object('destination')
  return destination.phoneNumber('number') ?? destination.text('sipUri') ?? destination.text('assistantName')
}

function readLatency(turn: Fields): TurnLatency {
  return latencyOf({
    total: turn.number('turnLatency'),
    endOfTurn: turn.number('endpointingLatency'),
    transcription: turn.number('transcriberLatency'),
    model: turn.number('modelLatency'),
    voice: turn.number('voiceLatency'),
  })
}

/** Latencies do not name their turns: they belong to the replies, or else to the agent's turns, if there are as many. */
function withLatencies({ transcript, timeline }: Conversation, latencies: TurnLatency[]): TimelineEntry[] {
  const turns = [...transcript.keys()].filter((turn) => transcript[turn]?.role === 'assistant')
  const replies = turns.filter((turn) => transcript[turn - 1]?.role === 'user')
  const answers = [replies, turns].find(({ length }) => length === latencies.length) ?? []
  const ofTurn = new Map(answers.map((turn, at) => [turn, latencies[at]]))
  return timeline.map((entry) => {
    const latencyMs = entry.turn === null ? undefined : ofTurn.get(entry.turn)
    return latencyMs ? { ...entry, latencyMs } : entry
  })
}

/** @param wasTransferred whether the call left its assistants */
function readArtifact(artifact: Fields, wasTransferred: boolean, options: SourceOptions): Conversation {
  const messages = artifact.list('messages')
  if (messages.length > 0) {
    const handOff = wasTransferred ? /^handoff/ : /^(handoff|transferCall$)/
    return readMessages(messages, { activations: artifact.list('assistantActivations'), handOff, options })
  }
  const formatted = artifact.list('messagesOpenAIFormatted')
  if (formatted.length > 0) return readOpenAi(formatted)
  return readLabelled(artifact.text('transcript') ?? '', speakers)
}

interface ReadMessages {
  /** The assistants of the call in their order, which are the agents of its turns if there was a handoff to each but the first. */
  activations: Fields[]
  /** Matches the names of the tools that hand off. */
  handOff: RegExp
  options: SourceOptions
}

function readMessages(messages: Fields[], { activations, handOff, options }: ReadMessages): Conversation {
  const conversation = new Conversation()
  const agents = activations.map((each) => ({
    id: each.text('assistantId') ?? each.text('assistantName'),
    name: each.text('assistantName'),
  }))
  const handOffs = messages.flatMap(toolsOf).filter((tool) => handOff.test(tool.text('name') ?? '')).length
  const areKnown = agents.length === handOffs + 1
  let at = 0
  for (const message of messages) {
    const [name, atSeconds] = [message.text('role'), message.number('secondsFromStart')]
    const role = roleOf(name)
    const agent = () => ({ agentId: areKnown ? agents[at]?.id : undefined })
    if (role) conversation.say(role, message.text('message'), atSeconds, role === 'user' ? {} : agent())
    for (const tool of toolsOf(message)) {
      const toolName = tool.text('name')
      const text = conversation.toolText(options, tool, 'arguments')
      conversation.use('tool_call', toolName, atSeconds, { ...agent(), text })
      if (!areKnown || !handOff.test(toolName ?? '')) continue
      conversation.use('transfer', agents[at + 1]?.name, atSeconds, agent())
      at++
    }
    const answered = () => ({ ...agent(), text: conversation.toolText(options, message, 'result') })
    if (name === 'tool_call_result')
      conversation.use('tool_result', message.text('name'), atSeconds, answered())
  }
  return conversation
}

/** The tools that a message calls. */
function toolsOf(message: Fields): Fields[] {
  const calls = message.text('role') === 'tool_calls' ? message.list('toolCalls') : []
  return calls.map((call) => call.object('function'))
}

function readOpenAi(messages: Fields[]): Conversation {
  const conversation = new Conversation()
  for (const message of messages) {
    const role = roleOf(message.text('role'))
    // A message of parts or of tool calls has no text of its own.
    if (role && typeof message.plain('content') === 'string') conversation.say(role, message.text('content'))
  }
  return conversation
}

function readAnalysis(analysis: Fields, artifact: Fields): Record<string, unknown> {
  const structured = analysis.own('structuredData')
  const outputs = artifact.object('structuredOutputs')
  const results = outputs.names
    .map((id) => outputs.object(id))
    .map((output) => [output.text('name'), output.own('result')])
  const multi = analysis.own('structuredDataMulti')
  const hasMulti = multi !== undefined && !(Array.isArray(multi) && multi.length === 0)
  return {
    ...(isObject(structured) ? structured : structured === undefined ? {} : { structuredData: structured }),
    ...Object.fromEntries(results.filter(([name, result]) => name !== undefined && result !== undefined)),
    ...(hasMulti ? { structuredDataMulti: multi } : {}),
  }
}
