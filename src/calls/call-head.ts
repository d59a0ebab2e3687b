import { getTableColumns } from 'drizzle-orm'
import { calls } from '../db/schema.ts'
import type { StoredCall } from './merge.ts'

/** Characters of a text that the head row keeps; the document holds all of it. */
const headTextCharsMax = 200

const { seq, projectId, id, createdAt, changeSeq, callerDigits, calledDigits, ...written } =
  getTableColumns(calls)
const { occurredAt: _, documentChars: __, ...facts } = written

/** The columns that every write of a call sets: all but those that stay as created and those the database computes. */
export const writtenColumns = written
/** The columns that a list shows. */
export const listedColumns = { id, createdAt, ...facts }

/** What a write sets `writtenColumns` to. */
export function toHead({
  call,
  document,
  occurredAt,
}: StoredCall): Record<keyof typeof written, string | number | null> {
  return {
    updatedAt: Date.parse(call.updatedAt),
    occurredAt,
    status: call.status,
    evaluation: headText(call.evaluation),
    isEngaged: call.isEngaged ? 1 : 0,
    duration: call.duration,
    callerNumber: headText(call.callerNumber),
    calledNumber: headText(call.calledNumber),
    endedReason: headText(call.endedReason),
    documentChars: document.length,
  }
}

/** As much of a text as the head row keeps, and filters compare. */
export function headText(text: string | null): string | null {
  return text === null ? null : text.slice(0, headTextCharsMax).toWellFormed()
}
