import { Type } from '@sinclair/typebox'
import { compileCheck } from '../../validation.ts'
import { CallChange, CallDetails, CallDetailsUpdate, ForeignChange } from '../schemas.ts'
import { changeErrors } from './merge.ts'
import type { OwnDetails } from './merge-details.ts'

const idCharsShownMax = 128

/** A line of NDJSON: a call's change with its id. */
export const CallLine = Type.Object(
  { ...CallChange.properties, id: Type.String({ description: "The platform's own id for the call." }) },
  { title: 'CallLine' },
)
export type CallLine = CallChange & { id: string }

/** @throws invalid_request */
export const checkCallLine = compileCheck(CallLine, changeErrors) as (value: unknown) => CallLine

/** A line of an export, which also has the details that no request can set. */
const ExportedLine = Type.Object({
  ...ForeignChange.properties,
  id: CallLine.properties.id,
  details: Type.Optional(
    Type.Object({ ...Type.Partial(CallDetails).properties, ...CallDetailsUpdate.properties }),
  ),
})
type ExportedLine = CallLine & { details?: OwnDetails }
const checkExportedLine = compileCheck(ExportedLine, changeErrors) as (value: unknown) => ExportedLine

/** @throws invalid_request */
export function readExportedLine(value: unknown): { change: CallLine; own: OwnDetails | undefined } {
  const change = checkExportedLine(value)
  const { source, review, redacted, costSource, costMissing } = change.details ?? {}
  const cost = { ...(costSource !== undefined && { costSource }), ...(costMissing && { costMissing }) }
  return {
    change,
    own: change.details && { source, review, redacted, ...cost },
  }
}

/** The id by which an answer names a line, valid or not; null if the line has none. */
export function idOfLine(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string')
    return null
  return value.id.slice(0, idCharsShownMax).toWellFormed()
}
