import { graphemeStart } from '../text/graphemes.ts'
import { valueAt, withoutHidden } from '../validation.ts'
import { type Grounds, noGrounds } from './grounds.ts'
import type { Transcript } from './prompt.ts'
import type { Findings, FoundField, JudgedCriterion, RubricContent, RubricField } from './schemas.ts'

const summaryCharsMax = 4_000
const valueCharsMax = 2_000
const rationaleCharsMax = 1_000
const quoteCharsMax = 1_000
/** A quotation of fewer words can be in a passage by chance. */
const quotedWordsMin = 3
const verdicts = ['pass', 'fail', 'unknown'] as const

export interface Reading {
  /**
   * Exactly what the rubric asks, in its order; `unknown` or null where the answer is missing, has another form, or is
   * not supported by the transcript.
   */
  findings: Findings
  /** What has another form. Nothing of the answer is in these sentences. */
  problems: string[]
  /** Criteria and fields without an answer, as sentences. */
  missing: string[]
}

/** Why a verdict is unknown: something that was found has changed since. */
export const knowledgeChanged = 'knowledge changed'

/** Reads the object that a model answered. @param grounds what `grounded` criteria are checked against */
export function readFindings(
  answer: unknown,
  rubric: RubricContent,
  transcript: Transcript,
  grounds: Grounds = noGrounds,
): Reading {
  const problems: string[] = []
  const missing: string[] = []
  /** A part of the answer; undefined where it has another form. */
  const read = <T>(value: unknown, path: string, as: (value: unknown) => T | undefined, form: string) => {
    const part = as(value)
    if (part === undefined) problems.push(`${path} must be ${form}`)
    return part
  }
  const entriesOf = (section: 'criteria' | 'fields') => {
    const entries = valueAt(answer, section)
    if (rubric[section].length > 0) read(entries, section, asObject, 'an object')
    return (name: string) => {
      const path = `${section}.${name}`
      const entry = valueAt(entries, name)
      if (entry === undefined) missing.push(`${path} is missing`)
      const part = <T>(of: string, as: (value: unknown) => T | undefined, form: string) =>
        entry === undefined ? undefined : read(valueAt(entry, of), `${path}.${of}`, as, form)
      const turns = part('turns', asIntegers, 'a list of integers') ?? []
      // Invisible characters stay, since the turn has them too.
      const quote = (part('quote', asText, 'a text') ?? '').replace(/\p{Cc}+/gu, ' ').trim()
      const isSupported = supports({ turns, quote }, transcript)
      const evidence = isSupported
        ? { turns: [...new Set(turns)], quote: cut(quote, quoteCharsMax) }
        : { turns: [], quote: '' }
      return { part, isSupported, evidence }
    }
  }

  const criterion = entriesOf('criteria')
  const criteria = rubric.criteria.map(({ id, kind }) => {
    const { part, isSupported, evidence } = criterion(id)
    const result = part('result', asVerdict, 'pass, fail or unknown')
    const rationale = prose(part('rationale', asText, 'a text') ?? '', rationaleCharsMax)
    const judged: JudgedCriterion = {
      id,
      result: (isSupported && result) || 'unknown',
      rationale,
      ...evidence,
      support: null,
    }
    if (kind !== 'grounded') return judged
    const support = part('support', asText, 'a text') ?? ''
    return checkedAgainst(grounds, judged, support, transcript)
  })
  const field = entriesOf('fields')
  const fields = rubric.fields.map((question) => {
    const { part, isSupported, evidence } = field(question.key)
    const value = part('value', (value) => asValue(value, question), `${forms[question.type]} or null`)
    return { key: question.key, value: (isSupported ? value : null) ?? null, ...evidence }
  })
  const summary = rubric.summary && read(valueAt(answer, 'summary'), 'summary', asText, 'a text')
  return {
    findings: { summary: prose(summary ?? '', summaryCharsMax) || null, criteria, fields },
    problems,
    missing,
  }
}

/** Checks a verdict against what was found, and makes it `unknown` unless that supports it. */
function checkedAgainst(
  { passages, tools, hasChanged }: Grounds,
  judged: JudgedCriterion,
  words: string,
  transcript: Transcript,
): JudgedCriterion {
  const { result, turns, quote } = judged
  const unknown = (rationale = judged.rationale): JudgedCriterion => ({
    ...judged,
    result: 'unknown',
    rationale,
  })
  const ofAgent = turns.map((turn) => transcript[turn]).filter((turn) => turn?.role === 'assistant')
  if (result === 'unknown' || !ofAgent.some((turn) => turn && occurs(quote, turn.content))) return unknown()
  const found = [...passages, ...tools.map((tool) => ({ ...tool, itemId: null, isChanged: false }))]
  if (result === 'fail') {
    // The words are in what was found, so the verdict is wrong.
    const isThere = wordsIn(quote) >= quotedWordsMin && found.some(({ text }) => occurs(quote, text))
    return isThere ? unknown() : hasChanged ? unknown(knowledgeChanged) : judged
  }
  const supporting = found.filter(({ text }) => isQuotation(words) && occurs(words, text))
  const [support] = supporting.filter(({ isChanged }) => !isChanged)
  if (!support) return supporting.length > 0 ? unknown(knowledgeChanged) : unknown()
  const { itemId, name } = support
  return { ...judged, support: { itemId, name, quote: cut(words.trim(), quoteCharsMax) } }
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' })

function wordsIn(text: string): number {
  return [...wordSegmenter.segment(text)].filter(({ isWordLike }) => isWordLike).length
}

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
const asVerdict = (value: unknown) => verdicts.find((verdict) => verdict === value)
const asObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined

function asIntegers(value: unknown): number[] | undefined {
  const isList = Array.isArray(value) && value.every((each) => Number.isInteger(each))
  return isList ? value : undefined
}

const forms: Record<RubricField['type'], string> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  enum: 'one of the choices',
}

/** A value as the field has it; undefined where it is of another type. */
function asValue(value: unknown, { type, choices = [] }: RubricField): FoundField['value'] | undefined {
  if (value === null) return null
  if (type === 'enum') return choices.find((choice) => choice === value)
  if (typeof value === 'string') return type === 'string' ? plain(value, valueCharsMax) || null : undefined
  if (typeof value === 'boolean') return type === 'boolean' ? value : undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return type === 'number' || (type === 'integer' && Number.isSafeInteger(value)) ? value : undefined
}

/** Whether all turns exist, and the quotation is one and occurs in one of them. */
export function supports(
  { turns, quote }: { turns: number[]; quote: string },
  transcript: Transcript,
): boolean {
  const quoted = turns.map((turn) => transcript[turn])
  return (
    isQuotation(quote) &&
    quoted.every((turn) => turn !== undefined) &&
    quoted.some(({ content }) => occurs(quote, content))
  )
}

/** Whether a text has a letter or a number, and no half of a character. */
function isQuotation(text: string): boolean {
  return text.isWellFormed() && /[\p{L}\p{N}]/u.test(text)
}

function occurs(quote: string, text: string): boolean {
  return fold(text).includes(fold(quote))
}

/** Case, white space and control characters aside. Σ has two lower cases, depending on what follows it. */
function fold(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/[\s\p{Cc}]+/gu, '')
}

/** What a model wrote in its own words, without anything that HTML would take for a tag. */
function prose(text: string, charsMax: number): string {
  return plain(text, charsMax).replace(/<(?=[a-z/!?])/gi, '‹')
}

/** Returns the text on one line, without invisible characters. */
function plain(text: string, charsMax: number): string {
  return cut(withoutHidden(text), charsMax)
}

function cut(text: string, charsMax: number): string {
  return text.toWellFormed().slice(0, graphemeStart(text, 0, charsMax))
}
