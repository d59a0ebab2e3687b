import { Call, CallDetails } from '../schemas.ts'

/** A call's fields in order. */
export const callFields = Object.keys(Call.properties)

/** The members of the details that can be columns: all but the timeline. */
const detailColumns = Object.entries(CallDetails.properties).flatMap(([name, { type, properties }]) => {
  if (type === 'array') return []
  return properties ? Object.keys(properties).map((key) => `details.${name}.${key}`) : `details.${name}`
})
const metadataColumn = /^details\.metadata\../

/** The columns of a table. A transcript and an analysis fit no cell. */
export const columns: readonly string[] = [
  ...callFields.filter((name) => name !== 'transcript' && name !== 'callAnalysis'),
  ...detailColumns,
]

export function isDetailColumn(name: string): boolean {
  return detailColumns.includes(name) || metadataColumn.test(name)
}

/**
 * The columns of a table, in order; those of metadata at the end.
 * @param fields undefined for all of the call
 * @param isDetailed whether to add all of the details
 */
export function columnsOf(fields: ReadonlySet<string> | undefined, isDetailed: boolean): string[] {
  const isWanted = (name: string) =>
    fields?.has(name) || (isDetailColumn(name) ? isDetailed : fields === undefined)
  return [...columns.filter(isWanted), ...[...(fields ?? [])].filter((name) => metadataColumn.test(name))]
}

/** A cell of a column of details: several values with commas, and other JSON as text. */
export function detailCell(details: object, column: string): string | number | boolean | null {
  const [, member = '', , key] = /^details\.(\w+)(\.(.+))?$/s.exec(column) ?? []
  const value = key === undefined ? memberOf(details, member) : memberOf(memberOf(details, member), key)
  if (typeof value !== 'object') return value as string | number | boolean
  if (value === null) return null
  const isSimple = Array.isArray(value) && value.every((each) => typeof each !== 'object')
  return isSimple ? value.join(', ') : JSON.stringify(value)
}

function memberOf(value: unknown, key: string): unknown {
  return Object.hasOwn(Object(value), key) ? Object(value)[key] : null
}

const analysisStart = ',"callAnalysis":'
const transcriptStart = ',"transcript":['

/** The values of the fields before the analysis. @param start the document up to its analysis */
export function readStart(start: string): Record<string, string | number | boolean | null> {
  return JSON.parse(`${start}}`)
}

/**
 * A document with some of its fields. Analysis and transcript are cut out unparsed: quotes inside a text are escaped, so
 * these two begin at the first `,"callAnalysis":` and the last `,"transcript":[`.
 */
export function pickFields(document: string, fields: ReadonlySet<string>): string {
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
