import type { Platform, SignedRequest, SourceDetails, SourceUpdate } from './event.ts'
import {
  agentOf,
  Conversation,
  evaluationOf,
  isoTime,
  numbersOf,
  positive,
  readLabelled,
  secondsBetween,
  updateOf,
} from './facts.ts'
import { type Fields, isObject } from './fields.ts'
import { bearerOf, decode, isHmac, isRecent, isSecret, readDigits } from './signature.ts'

// https://docs.vapi.ai/server-url/events, https://docs.vapi.ai/server-url/server-authentication

const window = { pastMs: 300_000, futureMs: 300_000 }
const machines = new Set(['voicemail', 'customer-did-not-answer', 'customer-busy'])
const roles = new Map<string | undefined, 'user' | 'assistant'>([
  ['user', 'user'],
  ['bot', 'assistant'],
  ['assistant', 'assistant'],
])
const speakers = { ai: 'assistant', user: 'user' } as const

export const vapi: Platform = {
  hasSecret(headers, secret) {
    return isSecret(bearerOf(headers), secret) || isSecret(headers.get('x-vapi-secret'), secret)
  },

  isSigned(request, secret) {
    return isStandardWebhook(request, secret) || isCustomSigned(request, secret)
  },

  read(event) {
    const message = event.object('message')
    switch (message.text('type')) {
      case 'status-update':
        return readStatus(message)
      case 'conversation-update':
        return readConversation(message)
      case 'end-of-call-report':
        return readReport(message)
      default:
        return null
    }
  },
}

function isStandardWebhook({ headers, body, now }: SignedRequest, secret: string): boolean {
  const [id, timestamp] = [headers.get('webhook-id'), headers.get('webhook-timestamp')]
  const key = decode(secret.replace(/^whsec_/, ''), 'base64')
  if (!id || !key || !isRecent(readDigits(timestamp, 1_000), now, window)) return false
  const sent = headers.get('webhook-signature')?.split(' ') ?? []
  const signatures = sent.map((signature) => /^v1,(.*)$/.exec(signature)?.[1])
  return isHmac({ key, parts: [`${id}.${timestamp}.`, body], signatures, encoding: 'base64' })
}

/** Users choose algorithm, encoding and prefix in Vapi; the request does not tell which. */
function isCustomSigned({ headers, body, now }: SignedRequest, secret: string): boolean {
  const sent = headers.get('x-signature') ?? headers.get('x-vapi-signature')
  const signatures = [sent?.replace(/^(sha1|sha256|sha512)=/, '')]
  const timestamp = headers.get('x-timestamp')
  // The unit is undocumented.
  const isOnTime = ([1, 1_000] as const).some((unitMs) =>
    isRecent(readDigits(timestamp, unitMs), now, window),
  )
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

function readReport(message: Fields): SourceUpdate {
  const { id, change, details } = readCommon(message)
  const [analysis, artifact] = [message.object('analysis'), message.object('artifact')]
  const conversation = readArtifact(artifact)
  const [startedAt, endedAt] = [message.time('startedAt'), message.time('endedAt')]
  const endedReason = message.text('endedReason')
  const recording = artifact.object('recording')
  return updateOf(
    id,
    {
      ...change,
      status: 'completed',
      duration: positive(message.number('durationSeconds')) ?? secondsBetween(startedAt, endedAt),
      summary: analysis.text('summary'),
      evaluation: evaluationOf(analysis.plain('successEvaluation')),
      endedReason,
      isEngaged: conversation.isEngaged(machines.has(endedReason ?? '')),
      callAnalysis: readAnalysis(analysis, artifact),
      transcript: conversation.transcript,
      createdAt: change.createdAt ?? isoTime(startedAt),
      occurredAt: change.occurredAt ?? isoTime(endedAt),
    },
    {
      ...details,
      recordingUrl:
        recording.object('mono').openUrl('combinedUrl') ??
        recording.openUrl('stereoUrl') ??
        artifact.openUrl('recordingUrl') ??
        message.openUrl('recordingUrl'),
      costUsd: message.number('cost'),
      timeline: conversation.timeline,
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
  const agentId = call.text('assistantId') ?? call.text('squadId') ?? call.text('workflowId')
  const change = {
    ...numbersOf(direction, { person, own }),
    createdAt: isoTime(call.time('createdAt')),
    occurredAt: isoTime(message.time('timestamp')),
  }
  return {
    id: call.required('id'),
    change,
    details: { direction, agent: agentOf(agentId, part('assistant').text('name')) },
  }
}

function directionOf(type: string | undefined): SourceDetails['direction'] {
  if (type === 'inboundPhoneCall') return 'inbound'
  if (type === 'outboundPhoneCall') return 'outbound'
  return type === 'webCall' || type === 'vapi.websocketCall' ? 'web' : undefined
}

function readArtifact(artifact: Fields): Conversation {
  const messages = artifact.list('messages')
  if (messages.length > 0) return readMessages(messages)
  const formatted = artifact.list('messagesOpenAIFormatted')
  if (formatted.length > 0) return readOpenAi(formatted)
  return readLabelled(artifact.text('transcript') ?? '', speakers)
}

function readMessages(messages: Fields[]): Conversation {
  const conversation = new Conversation()
  for (const message of messages) {
    const [name, atSeconds] = [message.text('role'), message.number('secondsFromStart')]
    const role = roles.get(name)
    if (role) conversation.say(role, message.text('message'), atSeconds)
    if (name === 'tool_calls') {
      for (const call of message.list('toolCalls'))
        conversation.use('tool_call', call.object('function').text('name'), atSeconds)
    }
    if (name === 'tool_call_result') conversation.use('tool_result', message.text('name'), atSeconds)
  }
  return conversation
}

function readOpenAi(messages: Fields[]): Conversation {
  const conversation = new Conversation()
  for (const message of messages) {
    const role = roles.get(message.text('role'))
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
