import type { Turn } from '../../../src/calls/schemas.ts'
import { type RedactionKind, redactionKinds } from '../../../src/redaction/kinds.ts'
import { redact } from '../../../src/redaction/redact.ts'
import { finished } from '../../../src/threads/time-slices.ts'
import { createRandom } from '../random.ts'
import type { Forms } from './forms.ts'
import { pick } from './values.ts'

interface Span {
  kind: RedactionKind
  start: number
  end: number
}

interface Planted {
  text: string
  /** The spans that must be redacted. */
  truth: Span[]
}

/** The accuracy for one kind, or for all together. */
export interface Accuracy {
  /** How many values must be redacted, and how many of those are, whole and as their kind. */
  wanted: number
  found: number
  /** How many marks there are, and how many of those replace exactly one value. */
  marks: number
  right: number
}

export interface Measured {
  kinds: Map<RedactionKind | 'all', Accuracy>
  /** Some texts with their errors. */
  wrong: string[]
}

/** Frequent kinds are planted more often. */
const planted = [
  ...['phone', 'phone', 'phone', 'phone', 'card', 'card', 'email', 'email', 'iban', 'ssn'],
  ...['decoy', 'decoy'],
] as (RedactionKind | 'decoy')[]
/** A mark may include an adjacent space or bracket. */
const excessCharsMax = 2
const wrongShownMax = 400

/**
 * Phone numbers in the real dialogues, by their shapes there, as read by eye. The other runs of seven digits are
 * addresses and amounts.
 */
const realNumbers =
  /(?<![\w$,+-]|\d[. ])(?:\+\d[\d -]{7,}\d|\(\d{3}\) \d{3}-\d{4}|\d{3}[- ]\d{3}[- ]\d{4}|\d{1,2} \d{4}[ -]\d{4}|\d \d\d \d\d \d\d \d\d|\d{5} \d{5}|\d{4} \d{6}|\d{2}-\d{3} \d{4})(?![\w-]|[.,]\d)/g

/** Plants a value into each dialogue, and checks what is redacted of it and of the rest. */
export function measureAccuracy(dialogues: readonly Turn[][], forms: Forms, seed: number): Measured {
  const random = createRandom(seed)
  const kinds = new Map<RedactionKind | 'all', Accuracy>(
    (['all', ...redactionKinds] as const).map((kind) => [kind, { wanted: 0, found: 0, marks: 0, right: 0 }]),
  )
  const count = (kind: RedactionKind, name: keyof Accuracy) => {
    for (const of of [kind, 'all'] as const) {
      const accuracy = kinds.get(of)
      if (accuracy) accuracy[name]++
    }
  }
  const wrong: string[] = []
  for (const turns of dialogues) {
    const chosen = Math.floor(random() * turns.length)
    for (const [at, { content }] of turns.entries()) {
      const { text, truth } = at === chosen ? plantInto(content, forms, random) : realOf(content)
      const { text: redacted } = finished(redact(text, { kinds: redactionKinds, country: 'US' }))
      const marks = marksOf(text, redacted)
      let isWrong = false
      for (const one of truth) {
        count(one.kind, 'wanted')
        if (marks.some((mark) => covers(mark, one))) count(one.kind, 'found')
        else isWrong = true
      }
      for (const mark of marks) {
        count(mark.kind, 'marks')
        if (truth.some((one) => covers(mark, one) && isNoMore(mark, one))) count(mark.kind, 'right')
        else isWrong = true
      }
      if (isWrong && wrong.length < wrongShownMax) wrong.push(`${text}\n    ${redacted}`)
    }
  }
  return { kinds, wrong }
}

/** Plants a sentence before or after a turn's text. */
function plantInto(content: string, { values, sentences }: Forms, random: () => number): Planted {
  const kind = pick(random, planted)
  const value = pick(random, values[kind])(random)
  const [before = '', after = ''] = pick(random, sentences[kind]).split('{}')
  const isFirst = random() < 0.5
  const start = (isFirst ? 0 : content.length + 1) + before.length
  const sentence = `${before}${value}${after}`
  const text = isFirst ? `${sentence} ${content}` : `${content} ${sentence}`
  const real = realOf(content).truth.map((one) => {
    const by = isFirst ? sentence.length + 1 : 0
    return { ...one, start: one.start + by, end: one.end + by }
  })
  if (kind === 'decoy') return { text, truth: real }
  const label = /^(?:area code |SSN |tel\. |IBAN:|[(<](?=.*[)>]$))/.exec(value)?.[0].length ?? 0
  const end = start + value.replace(/^[(<](.*)[)>]$/, ' $1').replace(/ ext\. 12$/, '').length
  return { text, truth: [...real, { kind, start: start + label, end }] }
}

function realOf(content: string): Planted {
  const truth = [...content.matchAll(realNumbers)].map(({ 0: number, index }) => ({
    ...{ kind: 'phone' as const, start: index, end: index + number.length },
  }))
  return { text: content, truth }
}

/** The spans that a text's marks replace. */
function marksOf(text: string, redacted: string): Span[] {
  const spans: Span[] = []
  const parts = redacted.split(/\[(phone|email|card|iban|ssn)\]/)
  let end = parts[0]?.length ?? 0
  for (let at = 1; at < parts.length; at += 2) {
    const rest = parts[at + 1] ?? ''
    const isLast = at + 2 >= parts.length
    const next = isLast ? text.length - rest.length : text.indexOf(rest === '' ? ' ' : rest, end + 1)
    spans.push({ kind: parts[at] as RedactionKind, start: end, end: next })
    end = next + rest.length
  }
  return spans
}

function covers(mark: Span, one: Span): boolean {
  return mark.kind === one.kind && mark.start <= one.start && mark.end >= one.end
}

function isNoMore(mark: Span, one: Span): boolean {
  return one.start - mark.start <= excessCharsMax && mark.end - one.end <= excessCharsMax
}
