import type { Call, CallChange } from '../../../src/calls/schemas.ts'
import { foldText, stemOf, wordsOf } from '../../../src/text/words.ts'

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

/** What the service says of the calls of these tests beside their fields. */
export function besideOf({ duration, summary }: Pick<Call, 'duration' | 'summary'>) {
  const labels = summary?.split(' ') ?? []
  return { source: duration === 0 ? null : `from ${duration}`, labels, reviewed: labels.includes('alpha') }
}

type Values = readonly string[]
type Meets = (call: Call, values: Values) => boolean

const is =
  (field: 'evaluation' | 'endedReason'): Meets =>
  (call, values) =>
    values.some((value) => (value === 'none' ? call[field] === null : call[field] === value))

/** Whether one of a call's values is asked for; `none` asks for calls without any. */
const isAny = (own: Values, values: Values) =>
  values.some((value) => (value === 'none' ? own.length === 0 : own.includes(value)))

const digits = (number: string | null) => (number ?? '').replace(/[ +\-()./]/g, '')

/** What each filter means, said in another way. */
const meanings: Record<string, Meets> = {
  status: (call, values) => values.includes(call.status),
  evaluation: is('evaluation'),
  endedReason: is('endedReason'),
  isEngaged: (call, values) => values.includes(String(call.isEngaged)),
  from: (call, [time = '']) => call.createdAt >= time,
  to: (call, [time = '']) => call.createdAt < time,
  updatedFrom: (call, [time = '']) => call.updatedAt >= time,
  minDuration: (call, [least]) => call.duration >= Number(least),
  maxDuration: (call, [most]) => call.duration <= Number(most),
  callerNumber: (call, values) => call.callerNumber !== null && values.includes(call.callerNumber),
  calledNumber: (call, values) => call.calledNumber !== null && values.includes(call.calledNumber),
  number: (call, values) =>
    [call.callerNumber, call.calledNumber].some((number) =>
      values.some((value) => {
        const asked = value.replace(/\D/g, '')
        return digits(number).startsWith(asked) || digits(number).endsWith(asked)
      }),
    ),
  source: (call, values) => values.includes(besideOf(call).source ?? 'none'),
  label: (call, values) => isAny(besideOf(call).labels, values),
  reviewed: (call, values) => values.includes(String(besideOf(call).reviewed)),
  flagged: (_, values) => values.includes('false'),
  text: (call, values) => values.some((text) => isFound(wordsSaid(call), text)),
}

/** Whether a call is in the list that these parameters ask for. */
export function isListed(
  call: Call,
  query: Readonly<Record<string, Values>>,
  agentIds: Values = [],
): boolean {
  return Object.entries(query).every(([name, values]) => {
    if (name === 'agentId') return isAny(agentIds, values)
    const meets = meanings[name]
    if (meets) return meets(call, values)
    const value = call.callAnalysis?.[name.slice('analysis.'.length)]
    if (typeof value === 'number') return values.some((text) => text.trim() !== '' && Number(text) === value)
    return (typeof value === 'string' || typeof value === 'boolean') && values.includes(String(value))
  })
}
