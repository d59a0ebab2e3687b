import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { ownsProject, type Requirement } from '../../db/requirements.ts'
import { keys } from '../../db/schema.ts'
import { type AppError, invalidRequest, notFound } from '../../errors.ts'
import type { ActedBy } from '../../identity.ts'
import { newId } from '../../ids.ts'
import { toIso } from '../../text/instant.ts'
import { toTags } from '../../text/tags.ts'
import {
  type CreatedKey,
  checkKeyInput,
  type KeyRecord,
  keyLabel,
  shownHint,
  toRecord,
} from './key-record.ts'
import { generateKey, hashKey, keyHint } from './token.ts'

const msPerHour = 3_600_000
const overlapHoursDefault = 24
const overlapHoursMax = 720
const entriesNamedMax = 5

/** The changeable properties of a key. Kind and scope are not, so that no key ever opens more than it did. */
interface KeyEdit {
  name?: string | undefined
  allowedIps?: string[] | undefined
  allowedOrigins?: string[] | undefined
  tags?: string[] | undefined
  /** Null for a key that does not expire. */
  expiresAt?: number | null | undefined
}

interface Rotation {
  /** How long the old key keeps working; 0 ends it at once. */
  overlapHours?: number | undefined
  createdBy?: string | null
}

type KeyRow = typeof keys.$inferSelect

/** Changes keys in use. A change takes effect with the next request. */
export class KeyChanges {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * @throws invalid_request naming each bad field and entry; forbidden unless `by` owns the project; not_found when it
   * has no such key, or it is revoked
   */
  async edit(projectId: number, id: string, edit: KeyEdit, by?: ActedBy): Promise<KeyRecord> {
    const before = await this.#find(projectId, id)
    const { name, allowedIps, allowedOrigins, expiresAt } = edit
    const tags = edit.tags && toTags(edit.tags)
    const scope = before.scope ?? undefined
    checkKeyInput({ kind: before.kind, scope, ...edit }, this.#core.now())
    const changes = changesOf(before, { ...edit, tags })
    if (changes.length === 0) return toRecord(before)
    const { write, audit } = this.#core
    const target = `${keyLabel(before)}: ${changes.join('; ')}`
    const { changed } = await write.batchIf([ownsProject(projectId, by)], {
      changed: write
        .update(keys)
        // Drizzle skips undefined values.
        .set({ name, allowedIps, allowedOrigins, tags, expiresAt })
        .where(isInUse(projectId, id))
        .returning(),
      entry: audit.entry({ by, projectId, action: 'key_changed', target, targetRef: id }),
    })
    if (!changed[0]) throw noSuchKey()
    return toRecord(changed[0])
  }

  /**
   * Makes a key like another, which keeps working for the overlap and then expires. The new key expires when the old
   * one would have.
   * @throws invalid_request for a bad overlap, and for a key that has expired or was rotated before; forbidden unless
   * `by` owns the project; not_found for an unknown or revoked key
   */
  async rotate(projectId: number, id: string, rotation: Rotation = {}, by?: ActedBy): Promise<CreatedKey> {
    const { write, audit, now } = this.#core
    const { overlapHours = overlapHoursDefault, createdBy = null } = rotation
    if (!(overlapHours >= 0 && overlapHours <= overlapHoursMax)) {
      throw invalidRequest([{ field: 'overlapHours', message: `must be from 0 to ${overlapHoursMax}` }])
    }
    const old = await this.#find(projectId, id)
    const key = generateKey(old.kind)
    const successor = { id: newId('key'), hash: hashKey(key), hint: keyHint(key) }
    const [createdAt, endsAt] = [now(), now() + Math.round(overlapHours * msPerHour)]
    const target = `${keyLabel(old)} → ${shownHint({ ...old, ...successor })}, overlap ${overlapHours} h`
    const requirements = [ownsProject(projectId, by), isNotRotated(id), isNotExpired(id, createdAt)]
    const { rows } = await write.batchIf(requirements, {
      successor: sql`
          insert into ${keys} (id, project_id, kind, scope, name, hash, hint, allowed_ips, allowed_origins, tags, expires_at,
            created_at, created_by, replaces)
          select ${successor.id}, project_id, kind, scope, name, ${successor.hash}, ${successor.hint}, allowed_ips, allowed_origins,
            tags, expires_at, ${createdAt}, ${createdBy}, id
          from ${keys} where ${isInUse(projectId, id)}`,
      entry: audit.entry({ by, projectId, action: 'key_rotated', target, targetRef: id }),
      ended: write
        .update(keys)
        .set({ expiresAt: sql`min(coalesce(${keys.expiresAt}, ${endsAt}), ${endsAt})` })
        .where(isInUse(projectId, id)),
      rows: write.select().from(keys).where(eq(keys.id, successor.id)),
    })
    if (!rows[0]) throw noSuchKey()
    return { ...toRecord(rows[0]), key }
  }

  /** @throws not_found */
  async #find(projectId: number, id: string): Promise<KeyRow> {
    const [row] = await this.#core.read.select().from(keys).where(isInUse(projectId, id))
    if (!row) throw noSuchKey()
    return row
  }
}

function isInUse(projectId: number, id: string) {
  return and(eq(keys.id, id), eq(keys.projectId, projectId), isNull(keys.revokedAt))
}

/** A second rotation would copy the expiry that the first one set. */
function isNotRotated(id: string): Requirement {
  const message =
    'belongs to a key that was already rotated: rotate the key that replaced it, or create another'
  return {
    condition: sql`not exists (select 1 from ${keys} where replaces = ${id})`,
    otherwise: () => invalidRequest([{ field: 'id', message }]),
  }
}

function isNotExpired(id: string, now: number): Requirement {
  const message = 'belongs to an expired key: create another'
  return {
    condition: sql`not exists (select 1 from ${keys} where id = ${id} and expires_at <= ${now})`,
    otherwise: () => invalidRequest([{ field: 'id', message }]),
  }
}

/** The changes of an edit, as text for the audit trail. */
function changesOf(before: KeyRow, { name, allowedIps, allowedOrigins, tags, expiresAt }: KeyEdit): string[] {
  const changes: string[] = []
  if (name !== undefined && name !== before.name) changes.push(`name → ${name}`)
  if (allowedIps && String(allowedIps) !== String(before.allowedIps)) {
    changes.push(`addresses → ${listOf(allowedIps, 'any')}`)
  }
  if (allowedOrigins && String(allowedOrigins) !== String(before.allowedOrigins)) {
    changes.push(`web pages → ${listOf(allowedOrigins, 'none')}`)
  }
  if (tags && String(tags) !== String(before.tags)) changes.push(`tags → ${listOf(tags, 'any')}`)
  if (expiresAt !== undefined && expiresAt !== before.expiresAt) {
    changes.push(`expires → ${toIso(expiresAt) ?? 'never'}`)
  }
  return changes
}

function listOf(entries: string[], none: string): string {
  if (entries.length === 0) return none
  const more = entries.length - entriesNamedMax
  return entries.slice(0, entriesNamedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function noSuchKey(): AppError {
  return notFound('There is no such active key.')
}
