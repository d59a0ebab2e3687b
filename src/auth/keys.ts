import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { AddressCheck } from '../console/answers.ts'
import type { AuditTrail, By } from '../console/audit.ts'
import type { ReadDatabase } from '../db/reader.ts'
import { ownsProject, requiring } from '../db/requirements.ts'
import { keys, projects } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import type { WriteDatabase } from '../db/writer.ts'
import { AppError, type FieldError, invalidRequest } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Log } from '../observability/log.ts'
import { nameProblem } from '../validation.ts'
import { compileIpRules, type IpRules, parseAddress, validateIpEntries } from './ip-rules.ts'
import { bearerToken, generateKey, hashKey, hasKeyPrefix, type KeyKind, keyHint } from './token.ts'

const allowedIpsMax = 1_000
const lastUsedEveryMs = 60_000
const rulesCachedMax = 1_000
const lastUsedTrackedMax = 10_000
const rowsCachedMax = 10_000

/** Who a request comes from: the one project of its key. */
export interface Caller {
  readonly projectId: number
  readonly keyId: string
  /** Null when it is unknown. */
  readonly clientAddress: () => string | null
}

export interface NewKey {
  name: string
  kind: KeyKind
  /** Addresses, CIDR ranges, `*`; empty is `*`. */
  allowedIps: string[]
  /** Milliseconds since 1970, or null for a key that does not expire. */
  expiresAt: number | null
  createdBy?: string | null
}

/** A key as it can be shown at any time: without itself. */
export interface KeyRecord {
  id: string
  name: string
  kind: KeyKind
  /** `ck_live_…` and the last four characters. */
  hint: string
  allowedIps: string[]
  expiresAt: number | null
  createdAt: number
  createdBy: string | null
  lastUsedAt: number | null
  lastUsedIp: string | null
  revokedAt: number | null
}

/** What a key is judged by. */
interface KeyRow {
  id: string
  projectId: number
  /** JSON. */
  allowedIps: string
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
}

interface KeysOptions {
  read: ReadDatabase
  /** Changes when anything in the database may have: what was read under the same number still holds. */
  dataVersion: () => number
  write: WriteDatabase
  audit: Pick<AuditTrail, 'entry'>
  now: () => number
  log: Pick<Log, 'warn'>
}

const queries = preparedQueries((db) => ({
  byHash: db
    .select({
      id: keys.id,
      projectId: keys.projectId,
      allowedIps: sql<string>`${keys.allowedIps}`,
      expiresAt: keys.expiresAt,
      revokedAt: keys.revokedAt,
      lastUsedAt: keys.lastUsedAt,
    })
    .from(keys)
    .innerJoin(projects, and(eq(projects.id, keys.projectId), isNull(projects.deletedAt)))
    .where(eq(keys.hash, sql.placeholder('hash')))
    .prepare(),
}))

/** API and ingest keys: made, judged, listed, revoked. Only their hashes are stored. */
export class Keys {
  readonly #options: KeysOptions
  readonly #rules = new LRUCache<string, IpRules>({ max: rulesCachedMax })
  /** Rows by hash, as they were at `#rowsVersion`. */
  readonly #rows = new LRUCache<string, KeyRow>({ max: rowsCachedMax })
  #rowsVersion = -1
  readonly #notedAt = new LRUCache<string, number>({ max: lastUsedTrackedMax })

  constructor(options: KeysOptions) {
    this.#options = options
  }

  /**
   * The only time the key itself is told.
   * @throws invalid_request naming each bad field and entry; forbidden for who does not own the project
   */
  async create(projectId: number, input: NewKey, by?: By): Promise<KeyRecord & { key: string }> {
    const problems = newKeyProblems(input, this.#options.now())
    if (problems.length > 0) throw invalidRequest(problems)
    const key = generateKey(input.kind)
    const record = {
      id: newId('key'),
      name: input.name,
      kind: input.kind,
      allowedIps: input.allowedIps,
      expiresAt: input.expiresAt,
      createdAt: this.#options.now(),
      createdBy: input.createdBy ?? null,
      lastUsedAt: null,
      lastUsedIp: null,
      revokedAt: null,
    }
    const { write, audit } = this.#options
    const hint = shownHint(input.kind, keyHint(key))
    const target = nameKey({ name: record.name, hint })
    await requiring([ownsProject(projectId, by)], (check) =>
      write.batch([
        write.run(check),
        write.insert(keys).values({ ...record, projectId, hash: hashKey(key), hint: keyHint(key) }),
        write.run(audit.entry({ by, projectId, action: 'key_created', target })),
      ]),
    )
    return { ...record, hint, key }
  }

  /**
   * The caller behind an Authorization header, judged in the documented order.
   * @param clientAddress asked only when the key has an allow-list or its last use is to be noted
   */
  async verify(
    kind: KeyKind,
    authorization: string | null,
    clientAddress: () => string | null,
  ): Promise<Caller> {
    const token = bearerToken(authorization)
    if (token === null) throw missingAuthorization()
    if (!hasKeyPrefix(token, kind)) throw invalidFormat(kind)
    const hash = hashKey(token)
    const row = this.#cached(hash) ?? (await this.#find(hash))
    if (!row || row.revokedAt !== null) throw invalidKey()
    const now = this.#options.now()
    if (row.expiresAt !== null && row.expiresAt <= now) throw expiredKey()
    if (hasRules(row.allowedIps) && !this.#rulesOf(row.allowedIps).allows(clientAddress()))
      throw wrongAddress()
    this.#noteUse(row, now, clientAddress)
    return { projectId: row.projectId, keyId: row.id, clientAddress }
  }

  async list(projectId: number): Promise<KeyRecord[]> {
    const rows = await this.#options.read
      .select()
      .from(keys)
      .where(eq(keys.projectId, projectId))
      .orderBy(desc(keys.createdAt), desc(keys.id))
    return rows.map(({ hash: _hash, projectId: _projectId, ...row }) => ({
      ...row,
      hint: shownHint(row.kind, row.hint),
    }))
  }

  /**
   * Holds from the next request on.
   * @throws forbidden for who does not own the project; not_found when it has no such key in use
   */
  async revoke(projectId: number, id: string, by?: By): Promise<{ id: string; revoked: true }> {
    const { read, write, audit, now } = this.#options
    const isThisKey = and(eq(keys.id, id), eq(keys.projectId, projectId))
    const [key] = await read
      .select({ kind: keys.kind, name: keys.name, hint: keys.hint })
      .from(keys)
      .where(isThisKey)
    const target = key ? nameKey({ name: key.name, hint: shownHint(key.kind, key.hint) }) : null
    const [, revoked] = await requiring([ownsProject(projectId, by)], (check) =>
      write.batch([
        write.run(check),
        write
          .update(keys)
          .set({ revokedAt: now() })
          .where(and(isThisKey, isNull(keys.revokedAt)))
          .returning({ id: keys.id }),
        write.run(audit.entry({ by, projectId, action: 'key_revoked', target })),
      ]),
    )
    if (revoked.length === 0)
      throw new AppError('not_found', 'Not found', { detail: 'There is no such key in use.' })
    return { id, revoked: true }
  }

  /** What is wrong with an allow-list that is being written, and whether an address would pass it. */
  checkAddress({
    allowedIps,
    address,
  }: {
    allowedIps: string[]
    address?: string | undefined
  }): AddressCheck {
    const problems = validateIpEntries(allowedIps).map(({ index, message }) => ({ index, message }))
    const bad = new Set(problems.map(({ index }) => index))
    const good = allowedIps.filter((_, index) => !bad.has(index))
    const parsed = address === undefined ? null : parseAddress(address.trim())
    // Without its bad entries a list may be empty, which would let everyone pass.
    const isJudged = parsed !== null && (good.length > 0 || problems.length === 0)
    return { problems, allows: isJudged ? compileIpRules(good).allows(parsed) : null }
  }

  /** The project a key belongs to, whatever its state. */
  async projectOf(id: string): Promise<number> {
    const [row] = await this.#options.read
      .select({ projectId: keys.projectId })
      .from(keys)
      .where(eq(keys.id, id))
    if (!row) throw new AppError('not_found', 'Not found', { detail: `There is no key with the id ${id}.` })
    return row.projectId
  }

  /** The row as last read, while nothing at all has been committed since. */
  #cached(hash: string): KeyRow | undefined {
    // Read before the row: a commit in between makes the number differ the next time.
    const version = this.#options.dataVersion()
    if (version !== this.#rowsVersion) this.#rows.clear()
    this.#rowsVersion = version
    return this.#rows.get(hash)
  }

  async #find(hash: string): Promise<KeyRow | undefined> {
    const row = await queries(this.#options.read).byHash.get({ hash })
    if (row) this.#rows.set(hash, row)
    return row
  }

  #rulesOf(allowedIps: string): IpRules {
    let rules = this.#rules.get(allowedIps)
    if (!rules) {
      rules = compileIpRules(JSON.parse(allowedIps))
      this.#rules.set(allowedIps, rules)
    }
    return rules
  }

  /** At most once a minute for each key, and never in the way of the request. */
  #noteUse(
    row: { id: string; lastUsedAt: number | null },
    now: number,
    clientAddress: () => string | null,
  ): void {
    const notedAt = this.#notedAt.get(row.id) ?? row.lastUsedAt
    // One in the future was noted by a clock that was set right since.
    if (notedAt !== null && Math.abs(now - notedAt) < lastUsedEveryMs) return
    this.#notedAt.set(row.id, now)
    this.#options.write
      .update(keys)
      .set({ lastUsedAt: now, lastUsedIp: clientAddress() })
      .where(eq(keys.id, row.id))
      .then(undefined, (error) => this.#options.log.warn({ error }, "A key's last use was not noted"))
  }
}

function newKeyProblems(input: NewKey, now: number): FieldError[] {
  const problems: FieldError[] = []
  const nameFault = nameProblem(input.name)
  if (nameFault) problems.push({ field: 'name', message: nameFault })
  if (input.allowedIps.length > allowedIpsMax) {
    problems.push({ field: 'allowedIps', message: `must have at most ${allowedIpsMax} entries` })
  }
  for (const bad of validateIpEntries(input.allowedIps)) {
    problems.push({ field: `allowedIps.${bad.index}`, message: bad.message })
  }
  if (input.expiresAt !== null && !(input.expiresAt > now && Number.isSafeInteger(input.expiresAt))) {
    problems.push({ field: 'expiresAt', message: 'must be a time in the future' })
  }
  return problems
}

/** A key as the audit trail names it. */
function nameKey({ name, hint }: { name: string; hint: string }): string {
  return `${name} (${hint})`
}

function hasRules(allowedIps: string): boolean {
  return allowedIps !== '[]'
}

function shownHint(kind: KeyKind, hint: string): string {
  return `ck_${kind}_…${hint}`
}

function missingAuthorization(): AppError {
  return new AppError('missing_authorization', 'Missing or invalid Authorization header', {
    detail: 'Send the API key as `Authorization: Bearer <key>`.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

const formatOf = {
  live: 'A key for this route starts with ck_live_; ingest keys open /ingest alone.',
  ingest:
    'A key for this route starts with ck_ingest_: create one of the kind Ingest in the console, or by `bun callbook key create --kind ingest`.',
} satisfies Record<KeyKind, string>

function invalidFormat(kind: KeyKind): AppError {
  return refused('invalid_api_key_format', 'Invalid API key format', formatOf[kind])
}

function invalidKey(): AppError {
  return refused('invalid_api_key', 'Invalid API key', 'The key is not known, or it has been revoked.')
}

function expiredKey(): AppError {
  return refused('api_key_expired', 'API key has expired', 'Create a new key and use it instead.')
}

function refused(
  code: 'invalid_api_key_format' | 'invalid_api_key' | 'api_key_expired',
  title: string,
  detail: string,
) {
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
