import type { Call } from './schemas.ts'
import { Call as CallSchema } from './schemas.ts'

export type CallField = keyof Call

/** A call's fields in order. */
export const callFields = Object.keys(CallSchema.properties) as CallField[]

/** The fields that can be columns of a table: all but the transcript and the analysis. */
export type CallColumn = Exclude<CallField, 'transcript' | 'callAnalysis'>

export function isColumn(field: CallField): field is CallColumn {
  return field !== 'transcript' && field !== 'callAnalysis'
}

const analysisStart = ',"callAnalysis":'
const transcriptStart = ',"transcript":['

/** The values of the fields before the analysis. @param start the document up to its analysis */
export function readStart(start: string): Omit<Pick<Call, CallColumn>, 'createdAt' | 'updatedAt'> {
  return JSON.parse(`${start}}`)
}

/**
 * A document with some of its fields. Analysis and transcript are cut out unparsed: quotes inside a text are escaped, so
 * these two begin at the first `,"callAnalysis":` and the last `,"transcript":[`.
 */
export function pickFields(document: string, fields: ReadonlySet<CallField>): string {
  const analysisAt = document.indexOf(analysisStart)
  const transcriptAt = document.lastIndexOf(transcriptStart)
  const timesAt = document.lastIndexOf(',"createdAt":')
  const { createdAt, updatedAt } = JSON.parse(`{${document.slice(timesAt + 1)}`)
  const values: Record<string, string | undefined> = {
    callAnalysis: document.slice(analysisAt + analysisStart.length, transcriptAt),
    transcript: document.slice(transcriptAt + transcriptStart.length - 1, timesAt),
    createdAt: JSON.stringify(createdAt),
    updatedAt: JSON.stringify(updatedAt),
  }
  for (const [name, value] of Object.entries(readStart(document.slice(0, analysisAt)))) {
    values[name] = JSON.stringify(value)
  }
  const members = callFields.filter((name) => fields.has(name)).map((name) => `"${name}":${values[name]}`)
  return `{${members.join(',')}}`
}
