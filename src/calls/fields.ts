import type { Call } from './schemas.ts'
import { Call as CallSchema } from './schemas.ts'

export type CallField = keyof Call

/** A call's fields in their order. */
export const callFields = Object.keys(CallSchema.properties) as CallField[]

/** The fields that a document has before its analysis, as one can tell from its beginning. */
const beginning = ',"callAnalysis":'
const transcriptStart = ',"transcript":['

/** The values of a document's first fields. @param start the document up to its analysis */
export function readStart(
  start: string,
): Omit<Call, 'callAnalysis' | 'transcript' | 'createdAt' | 'updatedAt'> {
  return JSON.parse(`${start}}`)
}

/**
 * A document with some of its fields. Analysis and transcript are cut out as they are: inside a text quotes are escaped,
 * so the first `,"callAnalysis":` and the last `,"transcript":[` are where they begin.
 */
export function pickFields(document: string, fields: ReadonlySet<CallField>): string {
  const analysisAt = document.indexOf(beginning)
  const transcriptAt = document.lastIndexOf(transcriptStart)
  const timesAt = document.lastIndexOf(',"createdAt":')
  const { createdAt, updatedAt } = JSON.parse(`{${document.slice(timesAt + 1)}`)
  const values: Record<string, string | undefined> = {
    callAnalysis: document.slice(analysisAt + beginning.length, transcriptAt),
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
