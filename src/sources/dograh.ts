import { toIso } from '../text/instant.ts'
import { findProblem, jsonOf, unfaithful } from '../validation.ts'
import { agentOf, Conversation, updateOf } from './call-fields.ts'
import type { CallHistory, Platform } from './event.ts'
import { Fields, isObject, listIn, withQuery } from './fields.ts'
import { bearerOf, isSecret } from './signature.ts'

// https://docs.dograh.com/developer/webhooks: users write the template of the body. This reads the guide's template.

/** Every value is text, empty if unknown. The transcript is behind a link with a key, which is not kept: the API tells it. */
export const dograh: Platform = {
  hasSecret(headers, secret) {
    return isSecret(bearerOf(headers), secret)
  },

  read(run) {
    const name = run.text('agent')
    const startedAt = run.time('calledAt')
    const logs = run.has('logs') ? run.object('logs').list('realtime_feedback_events') : []
    const conversation = readConversation(logs, startedAt)
    return updateOf(
      run.required('id'),
      {
        status: 'completed',
        duration: run.number('duration'),
        endedReason: run.text('disposition') ?? run.text('call_disposition'),
        callerNumber: run.phoneNumber('caller'),
        calledNumber: run.phoneNumber('called'),
        callAnalysis: objectOf(run.own('analysis')),
        transcript: conversation.transcript,
        createdAt: startedAt,
      },
      {
        agent: agentOf(name, name, run.plain('definition_id')),
        costUsd: run.number('charge_usd'),
        timeline: conversation.timeline,
      },
    )
  },

  attached(run) {
    return [objectOf(run.own('metadata')) ?? {}]
  },
}

/** The runs of all workflows, whose words are asked for. https://docs.dograh.com/api-reference/organizations */
export const dograhHistory: CallHistory = {
  api: null,
  headers: (apiKey) => ({ 'x-api-key': apiKey }),
  pageSize: 100,
  atOnce: 4,
  idName: 'id',
  // The template of the events is the user's.
  idForm: /^\d+$/,
  page: ({ span: { from, to }, cursor, pageSize: limit }) => ({
    path: withQuery('/api/v1/organizations/usage/runs', {
      start_date: toIso(from),
      end_date: toIso(to),
      sort_order: 'asc',
      page: cursor ?? 1,
      limit,
    }),
  }),
  read(answer, { cursor }) {
    const runs = listIn(answer, 'runs')
    const page = Number(cursor ?? 1)
    const hasMore = page < (Fields.of(answer).number('total_pages') ?? 0)
    // Events have the id as text.
    const items = runs.map((run) =>
      isObject(run) && typeof run.id === 'number' ? { ...run, id: `${run.id}` } : run,
    )
    return { items, next: hasMore ? `${page + 1}` : null }
  },
  totalIn: (answer) => answer.number('total_count'),
  startedAt: (run) => run.time('created_at'),
  fateOf: (run) => (run.text('mode') === 'textchat' ? 'notVoice' : 'ended'),
  more: (run) => ({
    path: `/api/v1/workflow/${encodeURIComponent(`${run.plain('workflow_id')}`)}/runs/${encodeURIComponent(run.required('id'))}`,
  }),
  eventOf: (run, { logs, annotations, definition_id }) => ({
    id: run.id,
    agent: run.workflow_name,
    calledAt: run.created_at,
    caller: run.caller_number,
    called: run.called_number,
    duration: run.call_duration_seconds,
    disposition: run.disposition,
    charge_usd: run.charge_usd,
    analysis: annotations,
    definition_id,
    logs,
  }),
}

/** What was said, as Dograh logs it. */
function readConversation(entries: Fields[], startedAt: number | undefined): Conversation {
  const conversation = new Conversation()
  for (const entry of entries) {
    const [type, payload] = [entry.text('type'), entry.object('payload')]
    const at = payload.time('timestamp')
    const atSeconds = startedAt === undefined || at === undefined ? undefined : (at - startedAt) / 1_000
    if (type === 'rtf-bot-text') conversation.say('assistant', payload.text('text'), atSeconds)
    if (type === 'rtf-user-transcription' && payload.boolean('final'))
      conversation.say('user', payload.text('text'), atSeconds)
    if (type === 'rtf-function-call-start')
      conversation.use('tool_call', payload.text('function_name'), atSeconds)
  }
  return conversation
}

/** A JSON object, which the template writes as text. */
function objectOf(value: unknown): Record<string, unknown> | undefined {
  if (isObject(value)) return value
  // The user's template may have something else here.
  const json = typeof value === 'string' ? jsonOf(value) : undefined
  // Checked like a body, since the body's check did not see inside this text.
  return isObject(json) && findProblem(json, unfaithful) === null ? json : undefined
}
