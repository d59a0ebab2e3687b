import type { Verdict } from '../analysis/schemas.ts'
import type { Review } from '../calls/schemas.ts'
import type { CallAnalysis } from '../calls/writing/fills.ts'
import type { MadeCall } from './made-calls.ts'
import practice from './practice.json' with { type: 'json' }

/** What stands where the name of a model would. */
const judgedBy = 'example'
const reviewer = 'Ada Lovelace'
const requests: Record<string, string> = {
  reschedule: 'move',
  book: 'book',
  cancel: 'cancel',
  question: 'question',
}

interface Finding {
  result: Verdict
  rationale: string
  /** Who says what the verdict rests on, and how one finds it. */
  role: 'user' | 'assistant'
  says?: RegExp
}

/** What a model might have found out about a call, each verdict with a quotation; null where nobody spoke to the agent. */
export function analysisOf({ call }: MadeCall): CallAnalysis | null {
  const { transcript = [], createdAt = '' } = call
  if (!transcript.some(({ role }) => role === 'user') || call.status === 'live') return null
  const criteria = practice.rubric.criteria.map(({ id }) => {
    const { result, rationale, role, says } = findings[id]?.(call) ?? unknown
    const isIt = (turn: (typeof transcript)[number]) =>
      turn.role === role && (says?.test(turn.content) ?? true)
    const turn = transcript.findLastIndex(isIt)
    const said = transcript[turn]
    // A verdict without a quotation is unknown.
    return said
      ? { id, result, rationale, turns: [turn], quote: said.content }
      : { id, result: 'unknown' as const, rationale: 'The call does not say.', turns: [], quote: '' }
  })
  const intent = String(call.callAnalysis?.intent)
  const fields = { request: requests[intent] ?? 'something else' }
  return {
    brief: {
      state: 'done',
      version: 1,
      criteria: Object.fromEntries(criteria.map(({ id, result }) => [id, result])),
    },
    fills: { summary: null, evaluation: null, fields },
    redacted: {},
    record: {
      reason: null,
      model: judgedBy,
      at: createdAt,
      tokens: null,
      summary: null,
      criteria,
      fields: Object.entries(fields).map(([key, value]) => ({
        key,
        value,
        turns: [0],
        quote: transcript[0]?.content ?? '',
      })),
    },
  }
}

const unknown: Finding = { result: 'unknown', rationale: '', role: 'user', says: /^$/ }
const findings: Record<string, (call: MadeCall['call']) => Finding> = {
  booked_or_clear_answer: ({ evaluation }) =>
    evaluation === 'success'
      ? { result: 'pass', rationale: 'The caller got what they asked for.', role: 'assistant' }
      : {
          result: 'fail',
          rationale: 'The call ended without an appointment and without an answer.',
          role: 'user',
        },
  confirmed_the_date: ({ transcript = [] }) => {
    const says = /\d:\d\d|Booked|moved it/
    return transcript.some(({ content, role }) => role === 'assistant' && says.test(content))
      ? { result: 'pass', rationale: 'The agent named the day and the time.', role: 'assistant', says }
      : unknown
  },
  asked_only_what_is_needed: ({ transcript = [] }) => {
    const says = /already gave/
    return transcript.some(({ content }) => says.test(content))
      ? {
          result: 'fail',
          rationale: 'The agent asked for what the caller had already said.',
          role: 'user',
          says,
        }
      : { result: 'pass', rationale: 'Each question was asked once.', role: 'assistant', says: /\?/ }
  },
}

/**
 * What a person says of a call. Mostly they agree with the analysis.
 * @param n a number of the call, by which a few differ
 */
export function reviewOf({ call }: MadeCall, n: number): Review {
  const isFailed = call.evaluation !== 'success'
  const disagrees = n % 9 === 4
  return {
    evaluation: isFailed === disagrees ? 'success' : 'fail',
    note: isFailed ? 'Should have been passed on to the office.' : null,
    labels: isFailed ? ['follow-up'] : [],
    reviewed: true,
    flaggedTurns: isFailed ? [2] : [],
    criteria: { booked_or_clear_answer: isFailed === disagrees ? 'pass' : 'fail' },
    assignee: null,
    by: reviewer,
    at: call.createdAt ?? '',
  }
}
