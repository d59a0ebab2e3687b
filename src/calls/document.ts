import { type SQL, sql } from 'drizzle-orm'
import type { Call } from './schemas.ts'

/** Longer documents are read only once there is room for them. */
export const readAtOnceCharsMax = 262_144

export function isLong(document: string): boolean {
  return document.length > readAtOnceCharsMax
}

/** Called with the number of characters about to be read. @throws unavailable when there is no room for them */
export type Admit = (chars: number) => void

/**
 * A call as JSON: exactly the bytes that `GET /v1/calls/:id` returns. The fields must be in documented order, as those
 * of `newCall` and of stored documents are.
 */
export function toDocument(call: Call): string {
  const { callAnalysis, transcript, createdAt, updatedAt, ...before } = call
  const after = { transcript, createdAt, updatedAt }
  return `${JSON.stringify(before).slice(0, -1)},"callAnalysis":${analysisText(callAnalysis)},${JSON.stringify(after).slice(1)}`
}

/** The document with another `updatedAt`, which is the last field. */
export function withUpdatedAt(document: string, updatedAt: string): string {
  return `${document.slice(0, document.lastIndexOf('"updatedAt":'))}"updatedAt":"${updatedAt}"}`
}

const summaryCharsMax = 300
const jsonText = '(?:[^"\\\\]|\\\\u.{4}|\\\\[^u])*'
/** The fields before the summary, whose values are ids, states and numbers without escapes. */
const upToSummary = new RegExp(
  `^\\{"id":"[^"]*","status":"[^"]*","duration":[^,]*,"summary":(?:null|"(${jsonText}))`,
  's',
)

/** The first 300 characters of the summary, from the start of a document; null if it has none. */
export function readSummary(documentStart: string): string | null {
  const text = upToSummary.exec(documentStart)?.[1]
  return text === undefined ? null : JSON.parse(`"${text}"`).slice(0, summaryCharsMax).toWellFormed()
}

const firstWordsCharsMin = 24
const firstWordsCharsMax = 200
const firstOfCaller = new RegExp(
  `,"transcript":\\[(?:\\{"role":"assistant","content":"${jsonText}"\\},)*\\{"role":"user","content":"(${jsonText})`,
  's',
)

/** What the caller says first, a sentence or two, from the start of a document. Null if no turn of the caller is in it. */
export function readFirstWords(documentStart: string): string | null {
  const firstTurn = firstOfCaller.exec(documentStart)?.[1]
  if (firstTurn === undefined) return null
  const content: string = JSON.parse(`"${firstTurn}"`)
  let words = ''
  for (const sentence of content.trim().split(/(?<=[.!?。？！])\s+/u)) {
    if (words.length >= firstWordsCharsMin) break
    words += (words && ' ') + sentence
  }
  return words.slice(0, firstWordsCharsMax).toWellFormed() || null
}

/** Writes -0 as such, which `JSON.stringify` writes as 0. */
function analysisText(value: unknown): string {
  return holdsNegativeZero(value) ? signedText(value) : JSON.stringify(value)
}

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0)
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsNegativeZero)
}

function signedText(value: unknown): string {
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(signedText).join(',')}]`
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${signedText(member)}`)
  return `{${members.join(',')}}`
}

/** JSON in UTF-8 from the database, in its own buffer. */
export type JsonBytes = Uint8Array<ArrayBuffer>

/** Characters of `],"createdAt":"…","updatedAt":"…"}`, with which every document ends. All are ASCII. */
export const endChars = 80
/** How many of them come before the time of `updatedAt`. */
export const upToUpdatedAtChars = 54

const parts = sql.raw('from call_parts where call_parts.seq = call_documents.seq order by turn_count')
// As bytes: SQLite would count the characters of a text from its start.
const bytes = sql.raw('cast(call_documents.document as blob)')

/**
 * A call's document from call_documents, as the API returns it. Turns appended to a live call are stored as parts in
 * call_parts, so that an append writes only its own turns. Any other change writes the whole document again.
 */
export const servedDocument: SQL<string> = sql`case when not has_parts then call_documents.document else
  substr(${bytes}, 1, octet_length(call_documents.document) - ${sql.raw(`${endChars}`)})
  || (select group_concat(turns, '') from (select turns ${parts}))
  || substr(${bytes}, ${sql.raw(`-${endChars}, ${upToUpdatedAtChars}`)})
  || (select updated_at ${parts} desc limit 1) || '"}' end`

/** The size of that document. SQLite knows the size of a stored text without reading it. */
export const servedBytes: SQL<number> = sql`octet_length(call_documents.document) + case when not has_parts then 0 else
  (select sum(octet_length(turns)) ${parts}) end`
