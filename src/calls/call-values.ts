import { createHash } from 'node:crypto'
import type { ReviewMarks } from '../db/schema.ts'
import type { Call } from './schemas.ts'

/** Members of one call's analysis that it can be found by: the first ones, so that no write is slow. */
const analysisValuesMax = 200
/** Longer values are kept as their hash. */
const valueCharsMax = 200

/**
 * What a call is found by beside its columns, as call_values holds it: each string, number and boolean at the top level
 * of its analysis, as `["analysis.KEY",VALUE]`, and each label and mark of its review.
 */
export function valuesOf({ callAnalysis }: Pick<Call, 'callAnalysis'>, review: ReviewMarks | null): string[] {
  const marks = review ? reviewMarks.filter((mark) => review[mark]).map(markValue) : []
  const labels = new Set(review?.labels.map(labelValue))
  return [...labels, ...marks, ...analysisValues(callAnalysis)]
}

const reviewMarks = ['reviewed', 'noted', 'flagged'] as const
export type ReviewMark = (typeof reviewMarks)[number]

/** What a call with the mark has in call_values. */
export function markValue(mark: ReviewMark): string {
  return toValue(mark, true)
}

/** A label as call_values holds it. */
export function labelValue(label: string): string {
  return toValue('label', label)
}

function analysisValues(callAnalysis: Call['callAnalysis']): string[] {
  return Object.entries(callAnalysis ?? {})
    .filter(
      ([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
    )
    .slice(0, analysisValuesMax)
    .map(([key, value]) => toValue(`analysis.${key}`, value))
}

/** The values that a text in a query may mean: `4` is a string, and a number too. */
export function valuesMeant(name: string, text: string): string[] {
  const values: unknown[] = [text]
  if (text === 'true' || text === 'false') values.push(text === 'true')
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) values.push(Number(text))
  return values.map((value) => toValue(name, value))
}

function toValue(name: string, value: unknown): string {
  const text = JSON.stringify([name, value])
  return text.length <= valueCharsMax ? text : createHash('sha256').update(text).digest('hex')
}
