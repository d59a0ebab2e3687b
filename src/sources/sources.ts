import { randomBytes } from 'node:crypto'
import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { erasing } from '../db/erasing.ts'
import { ownsProject } from '../db/requirements.ts'
import { projects, type SourcePoll, sourceFailures, sources } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { type AppError, invalidRequest, notFound, refuseFields } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { toIso } from '../text/instant.ts'
import { tagsProblem } from '../text/tags.ts'
import { nameProblem } from '../validation.ts'
import { isPlatform, type PlatformName, platformNames, setUpOf, type WebhookPlatform } from './catalog.ts'
import type { SourceOptions } from './event.ts'
import type { SourceChange } from './schemas.ts'
import { decode } from './signature.ts'

const sourcesPerProjectMax = 100
/** Of the sources with an API key that have verified no token yet, how many are tried. */
const untriedSourcesMax = 20
/** How long the previous secret is accepted after a rotation. */
const overlapMs = 86_400_000
/** An hour less than seven days, because deletions run once an hour. */
export const failuresKeptMs = 7 * 86_400_000 - 3_600_000
const secretCharsMax = 500
/** Of secrets that the owner chooses: anyone who knows the source's address can try shorter ones. */
const secretCharsMin = 16
const optionCharsMax = 200
const telnyxKeyBytes = 32
const pollEveryMsMax = 86_400_000

interface NewSource {
  platform: string
  /** The platform's name by default. */
  name?: string | undefined
  /** By default a new one, or none yet if the platform makes it. */
  secret?: string | undefined
  options?: Record<string, string> | undefined
  createdBy?: string | null
}

/** A source as people see it, without its secret. */
export type SourceRecord = ReturnType<typeof toRecord>

/** Has the secret if it was just made: it is shown only once. */
export type MadeSource = SourceRecord & { secret?: string }

/** A source with what is needed to check and read its requests. */
export interface OpenSource {
  id: string
  projectId: number
  platform: PlatformName
  /** The current one and, for a day after a rotation, the previous one. */
  secrets: string[]
  options: SourceOptions
  /** Null unless it is polled. */
  poll: SourcePoll | null
}

/** A source to whose address its platform sends. */
export type WebhookSource = OpenSource & { platform: WebhookPlatform }

interface SourcesParts {
  erasure: Pick<Erasure, 'schedule'>
}

const queries = preparedQueries((db) => {
  const selectSources = () =>
    db
      .select({ source: sources })
      .from(sources)
      .innerJoin(projects, and(eq(projects.id, sources.projectId), isNull(projects.deletedAt)))
  const isOf = (of: SQL) =>
    sql`${of}.platform = 'livekit' and ${of}.options ->> 'apiKey' = ${sql.placeholder('apiKey')}`
  // Whoever makes sources with another's API key keeps out none that has received something.
  const isTried = sql`(${sources.events} > 0 or ${sources.id} in (select id from ${sources} as untried
    where ${isOf(sql`untried`)} and events = 0 order by created_at desc, id desc limit ${untriedSourcesMax}))`
  return {
    byId: selectSources()
      .where(eq(sources.id, sql.placeholder('id')))
      .prepare(),
    byApiKey: selectSources()
      .where(and(isOf(sql`${sources}`), isTried))
      .orderBy(sql`${sources.events} = 0`, desc(sources.createdAt))
      .prepare(),
  }
})

/**
 * The sources of projects: platforms whose webhooks bring in calls. Secrets are stored unhashed, since signatures cannot
 * be checked otherwise, and are returned only when they are made.
 */
export class Sources {
  readonly #parts: Core & SourcesParts

  constructor(core: Core, parts: SourcesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @throws invalid_request naming each bad field; forbidden unless `by` owns the project */
  async create(projectId: number, input: NewSource, by?: ActedBy): Promise<MadeSource> {
    const { platform, createdBy = null } = input
    if (!isPlatform(platform))
      throw invalidRequest([{ field: 'platform', message: `must be one of ${platformNames.join(', ')}` }])
    const { label, secretFrom, secretOption = '' } = setUpOf(platform)
    const { [secretOption]: ofOption, ...given } = input.options ?? {}
    const { poll = 'off', tags = 'none', ...others } = given
    const options = { ...others, ...(poll !== 'off' && { poll }), ...(tags !== 'none' && { tags }) }
    const ownSecret = input.secret ?? ofOption
    const name = input.name ?? label
    refuseFields({
      name: nameProblem(name),
      secret: ownSecret !== undefined && secretProblem(platform, ownSecret),
      ...optionProblems(platform, given),
      ...missingOptions(platform, options),
    })
    const isMade = ownSecret === undefined && secretFrom === 'us'
    const secret = isMade ? newSecret() : (ownSecret ?? null)
    const { write, audit, now } = this.#parts
    const row = {
      id: `src_${randomBytes(16).toString('hex')}`,
      projectId,
      platform,
      name,
      secret,
      options,
      createdAt: now(),
      createdBy,
      ...(options.poll && { poll: firstPoll(now()), pollDueAt: now() }),
    }
    await write.batchIf([ownsProject(projectId, by), hasFewSources(projectId), hasOwnApiKey(row)], {
      created: write.insert(sources).values(row),
      entry: audit.entry({
        by,
        projectId,
        action: 'source_created',
        target: labelOf(row),
        targetRef: row.id,
      }),
    })
    const record = await this.get(projectId, row.id)
    return isMade && secret !== null ? { ...record, secret } : record
  }

  /** Newest first. @param projectId all projects if left out */
  async list(projectId?: number): Promise<SourceRecord[]> {
    return await this.#select(projectId === undefined ? undefined : eq(sources.projectId, projectId))
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<SourceRecord> {
    const [record] = await this.#select(isThis(projectId, id))
    if (!record) throw noSuchSource()
    return record
  }

  /**
   * Replaces the secret. The previous one is accepted for another day.
   * @param secret by default a new one; required if the platform makes it
   * @throws invalid_request, not_found
   */
  async rotate(projectId: number, id: string, secret?: string, by?: ActedBy): Promise<MadeSource> {
    const record = await this.get(projectId, id)
    const { secretFrom, secretName } = setUpOf(record.platform)
    const isMissing = secret === undefined && secretFrom === 'platform'
    refuseFields({
      secret: isMissing
        ? `is required: copy it from the platform (${secretName})`
        : secret !== undefined && secretProblem(record.platform, secret),
    })
    const present = secret ?? newSecret()
    const { write, audit, now, erasure } = this.#parts
    const { rotated } = await write.batchIf([ownsProject(projectId, by)], {
      // An earlier previous secret is overwritten, so its bytes must be erased.
      ledger: this.#erasing(projectId, id),
      rotated: write
        .update(sources)
        .set({
          secret: present,
          previousSecret: sql`${sources.secret}`,
          previousSecretUntil: sql`iif(${sources.secret} is null, null, ${now() + overlapMs})`,
        })
        .where(isThis(projectId, id))
        .returning({ id: sources.id }),
      entry: audit.entry({ by, projectId, action: 'source_rotated', target: labelOf(record), targetRef: id }),
    })
    if (rotated.length === 0) throw noSuchSource()
    erasure.schedule(projectId)
    const after = { ...record, hasSecret: true }
    return secret === undefined ? { ...after, secret: present } : after
  }

  /**
   * Changes the name and some of the options; null clears one. Another host needs the API key again, so that nobody has
   * the stored one sent to theirs.
   * @throws invalid_request naming each bad one; not_found; forbidden unless `by` owns the project
   */
  async change(projectId: number, id: string, change: SourceChange, by?: ActedBy): Promise<SourceRecord> {
    const record = await this.get(projectId, id)
    const { platform } = record
    const { name = record.name, options: given = {} } = change
    refuseFields({ name: nameProblem(name), ...optionProblems(platform, given) })
    const { write, audit, erasure, now } = this.#parts
    const options = {
      ...given,
      ...(given.poll === 'off' && { poll: null }),
      ...(given.tags === 'none' && { tags: null }),
    }
    const first = JSON.stringify(firstPoll(now()))
    const polling = options.poll
      ? { poll: sql`coalesce(${sources.poll}, ${first})`, pollDueAt: now() }
      : { poll: null, pollDueAt: null }
    const before = sql`${sources.options}`
    const isMoved = 'host' in options ? sql`${before} ->> 'host' is not ${options.host}` : sql`false`
    const optionsBefore = sql`iif(${isMoved}, json_remove(${before}, '$.apiKey'), ${before})`
    await write.batchIf([ownsProject(projectId, by), hasOwnApiKey({ id, projectId, platform, options })], {
      // A key that is replaced must be erased.
      ledger: this.#erasing(projectId, id),
      changed: write
        .update(sources)
        .set({
          name,
          options: sql`json_patch(${optionsBefore}, ${JSON.stringify(options)})`,
          ...('poll' in options && polling),
        })
        .where(isThis(projectId, id)),
      entry: audit.entry({
        by,
        projectId,
        action: 'source_changed',
        target: labelOf(record),
        targetRef: id,
      }),
    })
    erasure.schedule(projectId)
    return await this.get(projectId, id)
  }

  /** Takes effect with the next request. Secrets and failures are erased like a deleted record. @throws not_found */
  async delete(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    const { write, audit, erasure } = this.#parts
    const record = await this.get(projectId, id)
    const { deleted } = await write.batchIf([ownsProject(projectId, by)], {
      ledger: this.#erasing(projectId, id),
      deleted: write.delete(sources).where(isThis(projectId, id)).returning({ id: sources.id }),
      entry: audit.entry({ by, projectId, action: 'source_deleted', target: labelOf(record), targetRef: id }),
    })
    if (deleted.length === 0) throw noSuchSource()
    erasure.schedule(projectId)
    return { id, deleted: true }
  }

  /** The source of an ingest URL. @throws not_found, also when its project was deleted */
  async open(id: string): Promise<WebhookSource> {
    const { platform, ...source } = await this.#find(id)
    if (platform === 'livekit') throw noSuchSource()
    return { ...source, platform }
  }

  /** The sources of LiveKit with this API key, in any project; those that have received something first. */
  async openByApiKey(apiKey: string): Promise<OpenSource[]> {
    const rows = await queries(this.#parts.read).byApiKey.all({ apiKey })
    return rows.map(({ source }) => this.#open(source))
  }

  async #find(id: string): Promise<OpenSource> {
    const row = await queries(this.#parts.read).byId.get({ id })
    if (!row) throw noSuchSource()
    return this.#open(row.source)
  }

  #open(row: typeof sources.$inferSelect): OpenSource {
    const { id, projectId, platform, secret, previousSecret, previousSecretUntil, options, poll } = row
    if (!isPlatform(platform)) throw noSuchSource()
    const isOverlap = previousSecretUntil !== null && this.#parts.now() < previousSecretUntil
    const secrets = [secret, isOverlap ? previousSecret : null].filter((each) => each !== null)
    return { id, projectId, platform, secrets, options, poll }
  }

  /** The project that a source belongs to. @throws not_found */
  async projectOf(id: string): Promise<number> {
    return (await this.#find(id)).projectId
  }

  /** Erases previous secrets a day after their rotation. */
  async expireSecrets(): Promise<void> {
    const { read, write, now, erasure } = this.#parts
    const isOver = sql`${sources.previousSecretUntil} <= ${now()}`
    const over = await read
      .select({ id: sources.id, projectId: sources.projectId })
      .from(sources)
      .where(isOver)
    for (const { id, projectId } of over) {
      await write.batch({
        ledger: this.#erasing(projectId, id),
        forgotten: write
          .update(sources)
          .set({ previousSecret: null, previousSecretUntil: null })
          .where(and(eq(sources.id, id), isOver)),
      })
      erasure.schedule(projectId)
    }
  }

  #erasing(projectId: number, id: string): SQL {
    return erasing(this.#parts, { projectId, kind: 'source', id })
  }

  async #select(where: SQL | undefined): Promise<SourceRecord[]> {
    const { read, now } = this.#parts
    const failures = sql<number>`(select count(*) from ${sourceFailures}
      where source_id = ${sources.id} and at > ${now() - failuresKeptMs})`
    const rows = await read
      .select({ source: sources, project: projects.publicId, failures })
      .from(sources)
      .innerJoin(projects, and(eq(projects.id, sources.projectId), isNull(projects.deletedAt)))
      .where(where)
      .orderBy(sql`${sources.createdAt} desc, ${sources.id} desc`)
    return rows.map(({ source, project, failures }) => toRecord(source, { projectId: project, failures }))
  }
}

function isThis(projectId: number, id: string) {
  return and(eq(sources.id, id), eq(sources.projectId, projectId))
}

/** @param projectId the public id of its project */
function toRecord(
  row: typeof sources.$inferSelect,
  { projectId, failures }: { projectId: string; failures: number },
) {
  const { id, platform, name, secret, events, createdBy, poll } = row
  if (!isPlatform(platform)) throw new Error(`Unknown platform ${platform}`)
  const { apiKey, ...others } = row.options
  // Of the other platforms, it only says who sends.
  const isSecret = setUpOf(platform).apiKeyName !== undefined
  return {
    id,
    platform,
    name,
    projectId,
    options: isSecret ? others : row.options,
    /** A source without a secret refuses every request. */
    hasSecret: secret !== null,
    hasApiKey: isSecret && apiKey !== undefined,
    /** Genuine events, including those that are not about a call. */
    events,
    /** Events of the last week that could not be read and still are not; the newest 200 are kept. */
    failures,
    lastEventAt: toIso(row.lastEventAt),
    poll: poll && { every: row.options.poll ?? '', lastAt: toIso(poll.lastAt), reason: poll.reason },
    createdAt: new Date(row.createdAt).toISOString(),
    createdBy,
  }
}

function firstPoll(now: number): SourcePoll {
  return { since: now, from: now, lastAt: null, reason: null }
}

/** How often a source is polled, such as `5m`; null for a text that is no such time. */
export function pollEveryMs(text: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,3})([mh])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'h' ? 3_600_000 : 60_000)
  return ms <= pollEveryMsMax ? ms : null
}

/** How the audit trail names a source. */
function labelOf({ name, platform }: { name: string; platform: string }): string {
  return `${name} (${platform})`
}

function newSecret(): string {
  return randomBytes(32).toString('hex')
}

function asciiProblem(secret: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'must be printable ASCII characters without spaces'
  return secret.length > secretCharsMax ? `must be at most ${secretCharsMax} characters` : null
}

/** The origin of a host that is given as `api.eu.example.com`, or with its protocol; null for anything else. */
export function originOf(host: string): string | null {
  const text = host.includes('://') ? host : `https://${host}`
  const origin = URL.canParse(text) ? new URL(text).origin : null
  return origin === text.toLowerCase() ? origin : null
}

function hostProblem(host: string): string | null {
  return originOf(host) === null ? 'must be the name of a host, such as api.eu.example.com' : null
}

function secretProblem(platform: PlatformName, secret: string): string | null {
  const problem = asciiProblem(secret)
  if (problem) return problem
  if (setUpOf(platform).secretFrom === 'us' && secret.length < secretCharsMin)
    return `must be at least ${secretCharsMin} characters`
  const isKey = platform !== 'telnyx' || decode(secret, 'base64')?.length === telnyxKeyBytes
  return isKey ? null : "must be the account's public key: 32 bytes in base64"
}

/** @param options null for those that are cleared */
function optionProblems(
  platform: PlatformName,
  options: Record<string, string | null>,
): Record<string, string | null> {
  const { options: own, apiKeyName, hasNoHistory, required = [] } = setUpOf(platform)
  const choicesByName: Readonly<Record<string, readonly string[] | null>> = {
    ...own,
    callerChannel: ['0', '1'],
    ...(apiKeyName && { apiKey: null, host: null }),
    ...(!hasNoHistory && { poll: null }),
  }
  const problemOf = (name: string, value: string | null): string | null => {
    const choices = Object.hasOwn(choicesByName, name) ? choicesByName[name] : undefined
    if (choices !== undefined && value === null) return required.includes(name) ? 'is required' : null
    if (value !== null && apiKeyName && name === 'apiKey') return asciiProblem(value)
    if (value !== null && apiKeyName && name === 'host') return hostProblem(value)
    if (value !== null && choices === null && name === 'tags') return tagsProblem(value.split(','))
    if (value && !hasNoHistory && name === 'poll')
      return value === 'off' || pollEveryMs(value) ? null : 'must be 1m to 24h, such as 5m, or off'
    return optionProblem(value ?? '', choices, Object.keys(choicesByName))
  }
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [`options.${name}`, problemOf(name, value)]),
  )
}

function missingOptions(platform: PlatformName, options: SourceOptions): Record<string, string> {
  const missing = (setUpOf(platform).required ?? []).filter((name) => !options[name])
  return Object.fromEntries(missing.map((name) => [`options.${name}`, 'is required']))
}

function optionProblem(
  value: string,
  choices: readonly string[] | null | undefined,
  names: readonly string[],
): string | null {
  if (choices === undefined)
    return `is not known; this platform has ${names.length > 0 ? names.join(', ') : 'no options'}`
  if (choices && !choices.includes(value)) return `must be one of ${choices.join(', ')}`
  if (value.length > optionCharsMax) return `must be at most ${optionCharsMax} characters`
  return value.isWellFormed() && !value.includes('\0') ? null : 'must be Unicode text without U+0000'
}

function hasFewSources(projectId: number) {
  return {
    condition: sql`(select count(*) from ${sources} where project_id = ${projectId}) < ${sourcesPerProjectMax}`,
    otherwise: () =>
      invalidRequest([
        { field: 'project', message: `already has ${sourcesPerProjectMax} sources, the most it can have` },
      ]),
  }
}

/** Whether no other source of LiveKit in the project has its API key. */
function hasOwnApiKey({
  id,
  projectId,
  platform,
  options,
}: Pick<typeof sources.$inferSelect, 'id' | 'projectId' | 'platform'> & {
  options: Record<string, string | null>
}) {
  return {
    condition: sql`${platform} <> 'livekit' or not exists (select 1 from ${sources} where platform = 'livekit'
      and options ->> 'apiKey' = ${options.apiKey ?? null} and project_id = ${projectId} and id <> ${id})`,
    otherwise: () =>
      invalidRequest([{ field: 'options.apiKey', message: 'is that of another source of the project' }]),
  }
}

function noSuchSource(): AppError {
  return notFound('There is no such source. It may have been deleted.', 'Source not found')
}
