import type { Call, CallChange, CallDetails, Turn } from '../../src/calls/schemas.ts'
import { foldText, stemOf, wordsOf } from '../../src/text/words.ts'

// The rules of calls, said in another way than the service says them: what a change makes of a call, which calls a list
// has and in which order.

/** Every word that is said in a call, folded, and every stem. */
export interface Said {
  words: string[]
  stems: Set<string>
}

export function wordsSaid({ summary, transcript }: Pick<CallChange, 'summary' | 'transcript'>): Said {
  const contents = [summary ?? '', ...(transcript ?? []).map(({ content }) => content)]
  const words = contents.flatMap((content) => wordsOf(content).map((word) => foldText(word.text)))
  // The last character of a script without spaces stands alone as well.
  const last = words.filter((word) => /\p{Script=Han}$/u.test(word)).map((word) => word.slice(-1))
  const all = [...new Set([...words, ...last])]
  return { words: all, stems: new Set(all.map(stemOf)) }
}

/** What finding means, said in another way: each word of the text is one of the call's in some form. */
export function isFound({ words, stems }: Said, text: string, { asWhole = false } = {}): boolean {
  const asked = wordsOf(text).map((word) => ({ ...word, text: foldText(word.text) }))
  return asked.every(({ text: word, isPrefix }, n) => {
    const isBeginning = !asWhole && n === asked.length - 1 && (word.length > 1 || isPrefix)
    return stems.has(stemOf(word)) || (isBeginning && words.some((other) => other.startsWith(word)))
  })
}

/** A call and what belongs to it. */
export interface KnownCall {
  call: Call
  details: CallDetails
  /** Null, or left out, for a call that is not known to be completed. */
  completedAt?: string | null
  /** False where nobody has said whether the caller was engaged, and nothing tells. */
  isEngagementKnown?: boolean
}

const mergedFields = ['duration', 'summary', 'evaluation', 'endedReason', 'isEngaged', 'transcript'] as const

/**
 * What a change makes of a call, where events come in their order. Null if its turns do not go on where those of the
 * call end.
 * @param before undefined for a new call
 * @param isDated whether a request has named when the call was created
 */
export function merged(before: Call | undefined, change: CallChange, isDated: boolean): Partial<Call> | null {
  const after: Partial<Call> = {}
  for (const field of mergedFields) {
    const value = change[field] === undefined ? before?.[field] : change[field]
    if (value !== undefined) Object.assign(after, { [field]: value })
  }
  after.status = change.status === 'completed' ? 'completed' : (before?.status ?? 'live')
  if (change.createdAt && !isDated) after.createdAt = new Date(change.createdAt).toISOString()
  else if (before) after.createdAt = before.createdAt
  if (!change.appendTranscript) return after
  const transcript = continued(before?.transcript ?? [], change.appendTranscript)
  return transcript && { ...after, transcript }
}

/** A turn that is there already is told again, or is another. */
function continued(there: Turn[], { at, turns }: { at: number; turns: Turn[] }): Turn[] | null {
  const isAnother = turns.some(({ role, content }, n) => {
    const known = there[at + n]
    return known !== undefined && (known.role !== role || known.content !== content)
  })
  return at > there.length || isAnother ? null : [...there, ...turns.slice(there.length - at)]
}

/** Of one time by id, bytewise descending. */
export function newestFirst(calls: Iterable<KnownCall>): KnownCall[] {
  const key = ({ call }: KnownCall) => `${call.createdAt} ${call.id}`
  return [...calls].sort((a, b) => (key(a) < key(b) ? 1 : -1))
}

/** A person's evaluation takes precedence over the platform's. */
export function evaluationOf({ call, details }: KnownCall): string | null {
  return details.review?.evaluation ?? call.evaluation
}

type Values = readonly string[]
type Meets = (known: KnownCall, values: Values) => boolean

/** Whether one of a call's values is asked for; `none` asks for calls without any. */
const isAny = (own: readonly (string | null | undefined)[], values: Values) => {
  const some = own.filter((value) => value !== null && value !== undefined)
  return values.some((value) => (value === 'none' ? some.length === 0 : some.includes(value)))
}

const isMarked = (mark: boolean | undefined, values: Values) => values.includes(String(mark ?? false))
const digits = (number: string | null) => (number ?? '').replace(/[ +\-()./]/g, '')

/** Calls without a figure are within no bound. */
const isAtLeast = (value: number | null | undefined, least: number) =>
  typeof value === 'number' && value >= least
const isAtMost = (value: number | null | undefined, most: number) =>
  typeof value === 'number' && value <= most

/** What each filter means. */
const meanings: Record<string, Meets> = {
  status: ({ call }, values) => values.includes(call.status),
  evaluation: (known, values) => isAny([evaluationOf(known)], values),
  endedReason: ({ call }, values) => isAny([call.endedReason], values),
  isEngaged: ({ call, isEngagementKnown = true }, values) =>
    isAny([isEngagementKnown ? String(call.isEngaged) : null], values),
  from: ({ call }, [time = '']) => call.createdAt >= time,
  to: ({ call }, [time = '']) => call.createdAt < time,
  completedFrom: ({ completedAt }, [time = '']) => typeof completedAt === 'string' && completedAt >= time,
  completedTo: ({ completedAt }, [time = '']) => typeof completedAt === 'string' && completedAt < time,
  updatedFrom: ({ call }, [time = '']) => call.updatedAt >= time,
  minDuration: ({ call }, [least]) => call.duration >= Number(least),
  maxDuration: ({ call }, [most]) => call.duration <= Number(most),
  callerNumber: ({ call }, values) => call.callerNumber !== null && values.includes(call.callerNumber),
  calledNumber: ({ call }, values) => call.calledNumber !== null && values.includes(call.calledNumber),
  number: ({ call }, values) =>
    [call.callerNumber, call.calledNumber].some((number) =>
      values.some((value) => {
        const asked = value.replace(/\D/g, '')
        return digits(number).startsWith(asked) || digits(number).endsWith(asked)
      }),
    ),
  agentId: ({ details: { agent, timeline } }, values) =>
    isAny([agent?.id, ...(timeline ?? []).map(({ agentId }) => agentId)], values),
  agentVersion: ({ details }, values) => isAny([details.agent?.version], values),
  direction: ({ details }, values) => isAny([details.direction], values),
  source: ({ details }, values) => isAny([details.source], values),
  label: ({ details }, values) => isAny(details.review?.labels ?? [], values),
  assignee: ({ details }, values) => isAny([details.review?.assignee], values),
  recording: ({ details }, values) => values.includes(details.recording?.state ?? 'none'),
  sound: ({ details }, values) => values.includes(details.sound?.state ?? 'none'),
  minResponseMs: ({ details }, [least]) => isAtLeast(details.sound?.responseMaxMs, Number(least)),
  maxResponseMs: ({ details }, [most]) => isAtMost(details.sound?.responseMaxMs, Number(most)),
  minDeadAirSeconds: ({ details }, [least]) => isAtLeast(details.sound?.deadAirSeconds, Number(least)),
  minTalkOverSeconds: ({ details }, [least]) => isAtLeast(details.sound?.talkOverSeconds, Number(least)),
  minAgentShare: ({ details }, [least]) => isAtLeast(details.sound?.agentShare, Number(least)),
  maxAgentShare: ({ details }, [most]) => isAtMost(details.sound?.agentShare, Number(most)),
  reviewed: ({ details }, values) => isMarked(details.review?.reviewed, values),
  noted: ({ details }, values) => isMarked(typeof details.review?.note === 'string', values),
  flagged: ({ details }, values) => isMarked((details.review?.flaggedTurns ?? []).length > 0, values),
  text: ({ call }, values) => values.some((text) => isFound(wordsSaid(call), text)),
}

/** The members of metadata that a call is found by: the first 32 by code point of those that have a value to find. */
export function metadataFound({ details }: Pick<KnownCall, 'details'>): Record<string, unknown> {
  const isToFind = (value: unknown) =>
    typeof value === 'string' ? value !== '' && [...value].length <= 100 : /number|boolean/.test(typeof value)
  const entries = Object.entries(details.metadata ?? {}).filter(([, value]) => isToFind(value))
  return Object.fromEntries(
    entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))).slice(0, 32),
  )
}

/** Whether a call is in the list that these parameters ask for. */
export function isListed(known: KnownCall, query: Readonly<Record<string, Values>>): boolean {
  return Object.entries(query).every(([name, values]) => {
    const meets = meanings[name]
    if (meets) return meets(known, values)
    const [, kind, key = ''] = /^(analysis|criterion|metadata)\.(.*)$/s.exec(name) ?? []
    if (kind === 'criterion') return values.includes(known.details.review?.criteria?.[key] ?? '')
    const value = kind === 'metadata' ? metadataFound(known)[key] : known.call.callAnalysis?.[key]
    if (typeof value === 'number') return values.some((text) => text.trim() !== '' && Number(text) === value)
    return (typeof value === 'string' || typeof value === 'boolean') && values.includes(String(value))
  })
}

/** What a figure shows of these calls. */
export function shownOf(calls: readonly KnownCall[], of: string, show: string): number | null {
  if (show === 'count') return calls.length
  const numbers = calls.flatMap((call) => numberOf(call, of) ?? []).sort((a, b) => a - b)
  const sum = numbers.reduce((all, each) => all + each, 0)
  if (numbers.length === 0) return null
  const rank = (percent: number) => numbers[Math.ceil((percent * numbers.length) / 100) - 1] ?? null
  if (show === 'sum') return sum
  if (show === 'min') return numbers[0] ?? null
  if (show === 'max') return numbers.at(-1) ?? null
  if (/^p\d+$/.test(show)) return rank(Number(show.slice(1)))
  return sum / numbers.length
}

/** A share is the average of ones and zeros. */
function numberOf({ call, details, isEngagementKnown = true }: KnownCall, of: string): number | null {
  const judged = (verdict: string | null | undefined, good: string, bad: string) =>
    verdict === good ? 1 : verdict === bad ? 0 : null
  const [, kind, key = ''] = /^(analysis|criterion)\.(.*)$/s.exec(of) ?? []
  if (kind === 'criterion') return judged(details.review?.criteria?.[key], 'pass', 'fail')
  if (kind === 'analysis') {
    const value = call.callAnalysis?.[key]
    return typeof value === 'number' ? value : null
  }
  switch (of) {
    case 'duration':
      return call.status === 'completed' ? call.duration : null
    case 'costUsd':
      return details.costUsd
    case 'latencyMs':
      return details.latencyMs
    case 'responseMs':
    case 'responseP95Ms':
    case 'responseMaxMs':
    case 'deadAirSeconds':
    case 'talkOverSeconds':
    case 'agentShare':
    case 'interruptions':
      return details.sound?.[of] ?? null
    case 'isEngaged':
      return isEngagementKnown ? Number(call.isEngaged) : null
    case 'success':
      return judged(evaluationOf({ call, details }), 'success', 'fail')
    default:
      throw new Error(`There is no rule for figures of ${of}`)
  }
}
