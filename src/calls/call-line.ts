import { Type } from '@sinclair/typebox'
import { compileCheck } from '../validation.ts'
import { changeErrors } from './merge.ts'
import { CallChange } from './schemas.ts'

const idCharsShownMax = 128

/** A call as a line of NDJSON: what one request may say of it, with its id. */
export const CallLine = Type.Object(
  { ...CallChange.properties, id: Type.String({ description: "The platform's own id for the call." }) },
  { title: 'CallLine' },
)
export type CallLine = CallChange & { id: string }

/** @throws invalid_request */
export const checkCallLine = compileCheck(CallLine, changeErrors) as (value: unknown) => CallLine

/** The id by which an answer names a line, valid or not; null when the line has none. */
export function idOfLine(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string')
    return null
  return value.id.slice(0, idCharsShownMax).toWellFormed()
}
