import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../../core/core.ts'
import { ownsProject } from '../../db/requirements.ts'
import { keys, projects } from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { AppError, notFound, ProjectWasDeleted } from '../../errors.ts'
import type { ActedBy, Caller, KeyScope } from '../../identity.ts'
import { newId } from '../../ids.ts'
import { toIso } from '../../text/instant.ts'
import { toTags } from '../../text/tags.ts'
import { compileIpRules, type IpRules, parseAddress, validateIpEntries } from './ip-rules.ts'
import { type CreatedKey, checkKeyInput, type KeyRecord, keyLabel, toRecord } from './key-record.ts'
import type { OwnKey } from './schemas.ts'
import { bearerToken, generateKey, hashKey, hasKeyPrefix, type KeyKind, keyHint } from './token.ts'

const lastUsedEveryMs = 60_000
const rulesCachedMax = 1_000
const lastUsedTrackedMax = 10_000
const rowsCachedMax = 10_000
/** A longer header has a valid key and many spaces, and is not worth caching. */
const headerCharsMax = 128

interface NewKey {
  name: string
  kind: KeyKind
  /** Only for API keys; `full` by default. */
  scope?: KeyScope | undefined
  /** Addresses, CIDR ranges, `*`; empty is `*`. */
  allowedIps: string[]
  /** Origins whose pages may use the key in a browser. None for a key that changes anything. */
  allowedOrigins?: string[] | undefined
  /** A key of the scope `search` finds only items with one of these tags; all items without. */
  tags?: string[] | undefined
  /** Null for a key that does not expire. */
  expiresAt: number | null
  createdBy?: string | null
}

interface AddressDraft {
  allowedIps: string[]
  address?: string | undefined
}

/** The columns that a key is checked with. */
type KeyRow = Pick<
  typeof keys.$inferSelect,
  'id' | 'projectId' | 'scope' | 'allowedOrigins' | 'tags' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'
> & {
  /** The project's public id. */
  project: string
  /** JSON. */
  allowedIps: string
}

const queries = preparedQueries((db) => ({
  byHash: db
    .select({
      id: keys.id,
      projectId: keys.projectId,
      project: projects.publicId,
      scope: keys.scope,
      allowedIps: sql<string>`${keys.allowedIps}`,
      allowedOrigins: keys.allowedOrigins,
      tags: keys.tags,
      expiresAt: keys.expiresAt,
      revokedAt: keys.revokedAt,
      lastUsedAt: keys.lastUsedAt,
    })
    .from(keys)
    .innerJoin(projects, and(eq(projects.id, keys.projectId), isNull(projects.deletedAt)))
    .where(eq(keys.hash, sql.placeholder('hash')))
    .prepare(),
}))

function cacheOf({ rights }: Core) {
  return rights.cache<string, KeyRow>(rowsCachedMax)
}

/** API and ingest keys. Only their hashes are stored. */
export class Keys {
  readonly #core: Core
  /** Compiled allow-lists by their JSON. */
  readonly #rules = new LRUCache<string, IpRules>({
    max: rulesCachedMax,
    memoMethod: (allowedIps) => compileIpRules(JSON.parse(allowedIps)),
  })
  /** Rows of keys that are not revoked, by their Authorization header. */
  readonly #cached: Record<KeyKind, ReturnType<typeof cacheOf>>
  /** Requests by key since the process started. */
  readonly #requests = new LRUCache<string, number>({ max: lastUsedTrackedMax })
  readonly #recordedAt = new LRUCache<string, number>({ max: lastUsedTrackedMax })

  constructor(core: Core) {
    this.#core = core
    this.#cached = { live: cacheOf(core), ingest: cacheOf(core) }
  }

  /** @throws invalid_request naming each bad field and entry; forbidden unless `by` owns the project */
  async create(projectId: number, input: NewKey, by?: ActedBy): Promise<CreatedKey> {
    checkKeyInput(input, this.#core.now())
    const { created, statements } = this.insertion(projectId, input, generateKey(input.kind), by)
    await this.#core.write.batchIf([ownsProject(projectId, by)], { statements })
    return created
  }

  /** The statements that create a key whose secret is known, and the key. The input is not checked. */
  insertion(projectId: number, input: NewKey, key: string, by?: ActedBy) {
    const row = {
      id: newId('key'),
      name: input.name,
      kind: input.kind,
      scope: input.kind === 'ingest' ? null : (input.scope ?? 'full'),
      hint: keyHint(key),
      allowedIps: input.allowedIps,
      allowedOrigins: input.allowedOrigins ?? [],
      tags: toTags(input.tags ?? []),
      expiresAt: input.expiresAt,
      createdAt: this.#core.now(),
      createdBy: input.createdBy ?? null,
      projectId,
      hash: hashKey(key),
      lastUsedAt: null,
      lastUsedIp: null,
      revokedAt: null,
      replaces: null,
    }
    const { write, audit } = this.#core
    const target = { target: keyLabel(row), targetRef: row.id }
    const entry = audit.entry({ by, projectId, action: 'key_created', ...target })
    return { created: { ...toRecord(row), key }, statements: [write.insert(keys).values(row), entry] }
  }

  /**
   * The caller behind an Authorization header, checked in the documented order.
   * @param clientAddress called only when the key has an allow-list or its last use is recorded
   */
  async verify(
    kind: KeyKind,
    authorization: string | null,
    clientAddress: () => string | null,
  ): Promise<Caller> {
    const caller = await this.#verify(kind, authorization, clientAddress)
    this.#requests.set(caller.keyId, this.requestsOf(caller.keyId) + 1)
    return caller
  }

  /** How many requests the key has sent to this process. */
  requestsOf(id: string): number {
    return this.#requests.get(id) ?? 0
  }

  async #verify(
    kind: KeyKind,
    authorization: string | null,
    clientAddress: () => string | null,
  ): Promise<Caller> {
    const isShort = authorization !== null && authorization.length <= headerCharsMax
    const find = () => this.#find(kind, authorization)
    const row = await (isShort ? this.#cached[kind](authorization, find) : find())
    const now = this.#core.now()
    if (row.expiresAt !== null && row.expiresAt <= now) {
      throw refusal('api_key_expired', 'API key has expired', 'Create a new key and use it instead.')
    }
    const hasRules = row.allowedIps !== '[]'
    if (hasRules && !this.#rules.memo(row.allowedIps).allows(clientAddress())) throw wrongAddress()
    this.#recordUse(row, now, clientAddress)
    const { id: keyId, projectId, project, scope, tags, allowedOrigins } = row
    const check = () => this.#verify(kind, authorization, clientAddress)
    return { projectId, project, keyId, scope, tags, allowedOrigins, clientAddress, check }
  }

  /** What the holder of a key may know of it. @throws unavailable if its project has just been deleted */
  async describe(projectId: number, id: string): Promise<OwnKey> {
    const [row] = await this.#core.read
      .select({
        id: keys.id,
        name: keys.name,
        project: projects.name,
        kind: keys.kind,
        scope: keys.scope,
        tags: keys.tags,
        expiresAt: keys.expiresAt,
      })
      .from(keys)
      .innerJoin(projects, eq(projects.id, keys.projectId))
      .where(and(eq(keys.id, id), eq(keys.projectId, projectId)))
    if (!row) throw new ProjectWasDeleted()
    return { ...row, expiresAt: toIso(row.expiresAt) }
  }

  async list(projectId: number): Promise<KeyRecord[]> {
    const rows = await this.#core.read
      .select()
      .from(keys)
      .where(eq(keys.projectId, projectId))
      .orderBy(desc(keys.createdAt), desc(keys.id))
    return rows.map(toRecord)
  }

  /**
   * Takes effect with the next request. @throws forbidden unless `by` owns the project; not_found for an unknown or
   * revoked key
   */
  async revoke(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; revoked: true }> {
    const { read, write, audit, now } = this.#core
    const isThisKey = and(eq(keys.id, id), eq(keys.projectId, projectId))
    const [key] = await read
      .select({ kind: keys.kind, scope: keys.scope, name: keys.name, hint: keys.hint })
      .from(keys)
      .where(isThisKey)
    const target = key ? keyLabel(key) : null
    const { revoked } = await write.batchIf([ownsProject(projectId, by)], {
      revoked: write
        .update(keys)
        .set({ revokedAt: now() })
        .where(and(isThisKey, isNull(keys.revokedAt)))
        .returning({ id: keys.id }),
      entry: audit.entry({ by, projectId, action: 'key_revoked', target, targetRef: id }),
    })
    if (revoked.length === 0) throw notFound('There is no such active key.')
    return { id, revoked: true }
  }

  /**
   * The problems of each entry in a draft of an allow-list, and whether the list would allow an address; `allows` is
   * null if the address is absent or invalid.
   */
  checkAddress({ allowedIps, address }: AddressDraft) {
    const problems = validateIpEntries(allowedIps).map(({ index, message }) => ({ index, message }))
    const bad = new Set(problems.map(({ index }) => index))
    const good = allowedIps.filter((_, index) => !bad.has(index))
    const ip = address === undefined ? null : parseAddress(address.trim())
    // A list may be empty without its bad entries, which would allow everyone.
    const isJudged = ip !== null && (good.length > 0 || problems.length === 0)
    return { problems, allows: isJudged ? compileIpRules(good).allows(ip) : null }
  }

  /** The project that a key belongs to, even a revoked one. */
  async projectOf(id: string): Promise<number> {
    const [row] = await this.#core.read
      .select({ projectId: keys.projectId })
      .from(keys)
      .where(eq(keys.id, id))
    if (!row) throw notFound(`No key has the id ${id}.`)
    return row.projectId
  }

  async #find(kind: KeyKind, authorization: string | null): Promise<KeyRow> {
    const token = bearerToken(authorization)
    if (token === null) throw missingAuthorization()
    if (!hasKeyPrefix(token, kind))
      throw refusal('invalid_api_key_format', 'Invalid API key format', formatOf[kind])
    const row = await queries(this.#core.read).byHash.get({ hash: hashKey(token) })
    if (!row || row.revokedAt !== null) {
      throw refusal('invalid_api_key', 'Invalid API key', 'The key is unknown or has been revoked.')
    }
    return row
  }

  /** Records a use at most once a minute for each key, without delaying the request. */
  #recordUse(row: KeyRow, now: number, clientAddress: () => string | null): void {
    const recordedAt = this.#recordedAt.get(row.id) ?? row.lastUsedAt
    // A time in the future was written before the clock was corrected.
    if (recordedAt !== null && Math.abs(now - recordedAt) < lastUsedEveryMs) return
    this.#recordedAt.set(row.id, now)
    this.#core.write
      .update(keys)
      .set({ lastUsedAt: now, lastUsedIp: clientAddress() })
      .where(eq(keys.id, row.id))
      .catch((error) => this.#core.log.warn({ error }, 'Could not record the last use of a key'))
  }
}

function missingAuthorization(): AppError {
  return new AppError('missing_authorization', 'Missing or invalid Authorization header', {
    detail: 'Send the API key as `Authorization: Bearer <key>`.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

const formatOf = {
  live: 'This route needs a key that starts with ck_live_. Ingest keys only open /ingest.',
  ingest:
    'This route needs a key that starts with ck_ingest_. Create one with Ingest access in the console, or with `bun callbook key create --kind ingest`.',
} satisfies Record<KeyKind, string>

/** A 401 for a key that was sent. */
function refusal(
  code: 'invalid_api_key_format' | 'invalid_api_key' | 'api_key_expired',
  title: string,
  detail: string,
): AppError {
  return new AppError(code, title, {
    detail,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}

function wrongAddress(): AppError {
  return new AppError('ip_address_not_allowed', 'IP address not allowed', {
    detail: "The request's address is not on the key's allow-list.",
  })
}
