import type { keys } from '../db/schema.ts'
import { type FieldError, invalidRequest } from '../errors.ts'
import type { KeyScope } from '../identity.ts'
import { toIso } from '../text/instant.ts'
import { nameProblem } from '../validation.ts'
import { originProblems } from './allowed-origins.ts'
import { validateIpEntries } from './ip-rules.ts'
import type { KeyKind } from './token.ts'

const allowedIpsMax = 1_000

/** A key as people see it, without the secret. Times are ISO 8601, UTC. */
export interface KeyRecord {
  id: string
  name: string
  kind: KeyKind
  /** Null for an ingest key. */
  scope: KeyScope | null
  /** `ck_live_…` and the last four characters. */
  hint: string
  allowedIps: string[]
  allowedOrigins: string[]
  expiresAt: string | null
  createdAt: string
  createdBy: string | null
  lastUsedAt: string | null
  lastUsedIp: string | null
  revokedAt: string | null
  /** The id of the key that it replaces, if it was made by a rotation. */
  replaces: string | null
}

/** A new key: the only value that holds the secret. */
export interface CreatedKey extends KeyRecord {
  key: string
}

/** A person's input for a key; `undefined` is not checked. */
interface KeyInput {
  kind: KeyKind
  scope?: KeyScope | undefined
  name?: string | undefined
  allowedIps?: string[] | undefined
  allowedOrigins?: string[] | undefined
  expiresAt?: number | null | undefined
}

/** @throws invalid_request naming each bad field and entry */
export function checkKeyInput(input: KeyInput, now: number): void {
  const { kind, scope, name, allowedIps = [], expiresAt = null } = input
  const problems: FieldError[] = []
  const nameFault = name === undefined ? null : nameProblem(name)
  if (nameFault) problems.push({ field: 'name', message: nameFault })
  if (kind === 'ingest' && scope !== undefined) {
    problems.push({ field: 'scope', message: 'is for API keys: an ingest key has none' })
  }
  if (allowedIps.length > allowedIpsMax) {
    problems.push({ field: 'allowedIps', message: `must have at most ${allowedIpsMax} entries` })
  }
  for (const bad of validateIpEntries(allowedIps)) {
    problems.push({ field: `allowedIps.${bad.index}`, message: bad.message })
  }
  problems.push(...originProblems(input))
  if (expiresAt !== null && !(expiresAt > now && Number.isSafeInteger(expiresAt))) {
    problems.push({ field: 'expiresAt', message: 'must be a time in the future' })
  }
  if (problems.length > 0) throw invalidRequest(problems)
}

export function toRecord({ hash: _, projectId: __, ...row }: typeof keys.$inferSelect): KeyRecord {
  return {
    ...row,
    hint: shownHint(row),
    expiresAt: toIso(row.expiresAt),
    createdAt: new Date(row.createdAt).toISOString(),
    lastUsedAt: toIso(row.lastUsedAt),
    revokedAt: toIso(row.revokedAt),
  }
}

/** How the audit trail names a key. */
export function keyLabel(key: Pick<KeyRecord, 'name' | 'kind' | 'scope' | 'hint'>): string {
  const scope = key.scope === null ? '' : `, ${key.scope}`
  return `${key.name} (${shownHint(key)}${scope})`
}

export function shownHint({ kind, hint }: { kind: KeyKind; hint: string }): string {
  return `ck_${kind}_…${hint}`
}
