import { createRandom } from '../../../scripts/random.ts'
import type { Turn } from '../../../src/calls/schemas.ts'
import { type RedactionKind, redactionKinds } from '../../../src/redaction/kinds.ts'
import { redact } from '../../../src/redaction/redact.ts'
import { finished } from '../../../src/threads/time-slices.ts'
import { type FormSet, type PlantedKind, pick, plantedValue } from './planted.ts'

const seed = 20_261_122
/** A mark may include an adjacent space or bracket. */
const excessCharsMax = 2
/** Frequent kinds are planted more often. */
const planted: PlantedKind[] = [
  'phone',
  'phone',
  'phone',
  'phone',
  'card',
  'card',
  'email',
  'email',
  'iban',
  'ssn',
  'decoy',
  'decoy',
]

/**
 * Phone numbers in the real dialogues, by their shapes there, as read by eye. The other runs of seven digits are
 * addresses and amounts.
 */
const realNumbers =
  /(?<![\w$,+-]|\d[. ])(?:\+\d[\d -]{7,}\d|\(\d{3}\) \d{3}-\d{4}|\d{3}[- ]\d{3}[- ]\d{4}|\d{1,2} \d{4}[ -]\d{4}|\d \d\d \d\d \d\d \d\d|\d{5} \d{5}|\d{4} \d{6}|\d{2}-\d{3} \d{4})(?![\w-]|[.,]\d)/g

interface Span {
  kind: RedactionKind
  start: number
  end: number
}

/** For one kind, or for all together. */
export interface Accuracy {
  wanted: number
  /** The share of values that are redacted. */
  recall: number
  /** The share of marks that replace exactly one value. */
  precision: number
}

interface Counts {
  /** How many values must be redacted, and how many of those are, whole and as their kind. */
  wanted: number
  found: number
  /** How many marks there are, and how many of those replace exactly one value. */
  marks: number
  right: number
}

/** Plants a value into each dialogue, and measures what is redacted of it and of the rest, by kind. */
export function measureAccuracy(dialogues: readonly Turn[][], set: FormSet): Record<string, Accuracy> {
  const random = createRandom(seed)
  const counts = new Map<RedactionKind | 'all', Counts>(
    (['all', ...redactionKinds] as const).map((kind) => [kind, { wanted: 0, found: 0, marks: 0, right: 0 }]),
  )
  const count = (kind: RedactionKind, name: keyof Counts) => {
    for (const of of [counts.get(kind), counts.get('all')]) if (of) of[name]++
  }
  for (const turns of dialogues) {
    const chosen = Math.floor(random() * turns.length)
    for (const [at, { content }] of turns.entries()) {
      const real = realNumbersIn(content)
      const { text, truth } =
        at === chosen ? plantInto(content, real, { set, random }) : { text: content, truth: real }
      const marks = marksOf(text, redacted(text))
      for (const one of truth) {
        count(one.kind, 'wanted')
        if (marks.some((mark) => covers(mark, one))) count(one.kind, 'found')
      }
      for (const mark of marks) {
        count(mark.kind, 'marks')
        if (truth.some((one) => covers(mark, one) && isNoMore(mark, one))) count(mark.kind, 'right')
      }
    }
  }
  const accuracies = [...counts].map(
    ([kind, { wanted, found, marks, right }]) =>
      [kind, { wanted, recall: found / Math.max(1, wanted), precision: right / Math.max(1, marks) }] as const,
  )
  return Object.fromEntries(accuracies)
}

/** Plants a sentence before or after a turn's text. */
function plantInto(content: string, real: Span[], { set, random }: { set: FormSet; random: () => number }) {
  const kind = pick(random, planted)
  const value = plantedValue(set, kind, random)
  const [before = '', after = ''] = pick(random, set.sentences[kind]).split('{}')
  const sentence = `${before}${value}${after}`
  const isFirst = random() < 0.5
  const text = isFirst ? `${sentence} ${content}` : `${content} ${sentence}`
  const moved = isFirst ? sentence.length + 1 : 0
  const others = real.map((one) => ({ ...one, start: one.start + moved, end: one.end + moved }))
  if (kind === 'decoy') return { text, truth: others }
  const start = (isFirst ? 0 : content.length + 1) + before.length
  // A label, brackets around it and an extension are not part of the value.
  const label = /^(?:area code |SSN |tel\. |IBAN:|[(<](?=.*[)>]$))/.exec(value)?.[0].length ?? 0
  const end = start + value.replace(/^[(<](.*)[)>]$/, ' $1').replace(/ ext\. 12$/, '').length
  return { text, truth: [...others, { kind, start: start + label, end }] }
}

function realNumbersIn(content: string): Span[] {
  return [...content.matchAll(realNumbers)].map(({ 0: number, index: start }) => ({
    kind: 'phone',
    start,
    end: start + number.length,
  }))
}

/** The spans that a text's marks replace. */
function marksOf(text: string, redactedText: string): Span[] {
  const spans: Span[] = []
  const parts = redactedText.split(/\[(phone|email|card|iban|ssn)\]/)
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

export function redacted(text: string): string {
  return finished(redact(text, { kinds: redactionKinds, country: 'US' })).text
}
