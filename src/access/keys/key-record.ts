import type { keys } from '../../db/schema.ts'
import { refuseFields } from '../../errors.ts'
import type { KeyScope } from '../../identity.ts'
import { toIso } from '../../text/instant.ts'
import { tagsProblem } from '../../text/tags.ts'
import { nameProblem } from '../../validation.ts'
import { validateIpEntries } from './ip-rules.ts'
import type { KeyKind } from './token.ts'

const allowedIpsMax = 1_000
const allowedOriginsMax = 100

/** A key as people see it, without the secret. */
export type KeyRecord = ReturnType<typeof toRecord>

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
  tags?: string[] | undefined
  expiresAt?: number | null | undefined
}

/** @throws invalid_request naming each bad field and entry */
export function checkKeyInput(input: KeyInput, now: number): void {
  const { kind, scope, name, allowedIps = [], expiresAt = null } = input
  const isOver = expiresAt !== null && !(expiresAt > now && Number.isSafeInteger(expiresAt))
  refuseFields({
    name: name !== undefined && nameProblem(name),
    scope: kind === 'ingest' && scope !== undefined && 'is for API keys: an ingest key has none',
    allowedIps: allowedIps.length > allowedIpsMax && `must have at most ${allowedIpsMax} entries`,
    ...Object.fromEntries(
      validateIpEntries(allowedIps).map(({ index, message }) => [`allowedIps.${index}`, message]),
    ),
    ...originProblems(input),
    tags: tagsProblemOf(input),
    expiresAt: isOver && 'must be a time in the future',
  })
}

function tagsProblemOf({ scope, tags = [] }: KeyInput): string | null {
  // Other keys read whole items, by their ids and in lists.
  if (tags.length > 0 && scope !== 'search') return 'needs the scope search'
  return tagsProblem(tags)
}

/** What is wrong with the origins whose pages may use a new key in a browser. */
function originProblems({ kind, scope = 'full', allowedOrigins = [] }: KeyInput): Record<string, string> {
  if (allowedOrigins.length === 0) return {}
  // Whoever opens the page can read the key.
  if (kind === 'ingest' || scope === 'full') return { allowedOrigins: 'needs the scope read or search' }
  if (allowedOrigins.length > allowedOriginsMax)
    return { allowedOrigins: `must have at most ${allowedOriginsMax} entries` }
  const message = 'must be an origin such as https://app.example.com'
  return Object.fromEntries(
    allowedOrigins.flatMap((origin, at) => (isOrigin(origin) ? [] : [[`allowedOrigins.${at}`, message]])),
  )
}

/** Whether the text is an origin as browsers send it: in lower case, without a path. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

export function toRecord({ hash: _, projectId: __, ...row }: typeof keys.$inferSelect) {
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
