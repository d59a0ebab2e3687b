import type { RedactionCounts } from '../../redaction/kinds.ts'
import type { Call, CallDetails } from '../schemas.ts'

/** What our own analysis gives a call. */
export interface CallAnalysis {
  /** What the call's details say of it. */
  brief: CallDetails['analysis']
  /** What is served where the platform says nothing. */
  fills: Pick<Call, 'summary' | 'evaluation'> & {
    fields: Readonly<Record<string, string | number | boolean>>
  }
  /** How much was redacted in it. */
  redacted: RedactionCounts
  /** The rest, which only src/analysis reads. */
  record: Readonly<Record<string, unknown>>
}

/** The analysis as call_details has it. */
interface StoredAnalysis extends CallAnalysis {
  /** The fields that it fills, as the platform says them. */
  own: Partial<Pick<Call, 'summary' | 'evaluation' | 'callAnalysis'>>
}

/** Reads `call_details.analysis`. */
export function readAnalysis(text: string | null): StoredAnalysis | null {
  return text === null ? null : JSON.parse(text)
}

/** A copy of the call as the platform says it. */
export function withoutFills(call: Call, analysis: StoredAnalysis | null): Call {
  return { ...call, ...analysis?.own }
}

/**
 * Fills the fields of a call of which the platform says nothing, those of `callAnalysis` key by key.
 * @returns the call as it is served, and the analysis as it is stored
 */
export function fill(call: Call, analysis: CallAnalysis | null): { call: Call; stored: string | null } {
  if (!analysis) return { call, stored: null }
  const { brief, fills, redacted, record } = analysis
  const own: StoredAnalysis['own'] = {}
  const filledCall = { ...call }
  for (const field of ['summary', 'evaluation'] as const) {
    if (!isNothing(call[field]) || fills[field] === null) continue
    own[field] = call[field]
    filledCall[field] = fills[field]
  }
  const ofPlatform = new Map(Object.entries(call.callAnalysis ?? {}))
  const fields = Object.entries(fills.fields).filter(([key]) => isNothing(ofPlatform.get(key)))
  if (fields.length > 0) {
    own.callAnalysis = call.callAnalysis
    filledCall.callAnalysis = { ...call.callAnalysis, ...Object.fromEntries(fields) }
  }
  return { call: filledCall, stored: JSON.stringify({ brief, fills, redacted, record, own }) }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
