import type { Static } from '@sinclair/typebox'
import type { NewKey as KeyInput, KeyRecord } from '../auth/keys.ts'
import { invalidRequest } from '../errors.ts'
import type { CreatedKey, KeyRow } from './answers.ts'
import type { NewKey } from './schemas.ts'

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** What a person asks for, as a key is made from it. @throws invalid_request */
export function toKeyInput(input: Static<typeof NewKey>, createdBy: string): KeyInput {
  return { ...input, expiresAt: input.expiresAt === null ? null : readTime(input.expiresAt), createdBy }
}

export function toKeyRow(record: KeyRecord): KeyRow {
  const { expiresAt, createdAt, lastUsedAt, revokedAt } = record
  return {
    id: record.id,
    name: record.name,
    kind: record.kind,
    hint: record.hint,
    allowedIps: record.allowedIps,
    createdBy: record.createdBy,
    lastUsedIp: record.lastUsedIp,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: toIso(expiresAt),
    lastUsedAt: toIso(lastUsedAt),
    revokedAt: toIso(revokedAt),
  }
}

export function toCreatedKey(record: KeyRecord & { key: string }): CreatedKey {
  return { ...toKeyRow(record), key: record.key }
}

function readTime(text: string): number {
  const time = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  const message = 'must be an ISO 8601 time with its zone, such as 2027-01-31T09:30:00Z, or null'
  throw invalidRequest([{ field: 'expiresAt', message }])
}

function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
