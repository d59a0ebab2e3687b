import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { Keys } from '../../../src/access/keys/keys.ts'
import { hashKey } from '../../../src/access/keys/token.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { Rights } from '../../../src/db/rights.ts'
import { AppError } from '../../../src/errors.ts'
import { auditOf } from '../../support/audit.ts'
import { coreWith } from '../../support/core.ts'
import { logTo } from '../../support/part-log.ts'
import { startService } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'

const startMs = Date.UTC(2026, 0, 31)
const clock = { ms: startMs }

const service = await startService({ now: () => clock.ms })
const project = await service.mintProject()

const isoOf = (ms: number) => new Date(ms).toISOString()
type NewKey = Parameters<Keys['create']>[1]
const plain: NewKey = { name: 'a key', kind: 'live', allowedIps: [], expiresAt: null }

function create(input: Partial<NewKey> = {}) {
  return service.services.keys.create(project.projectId, { ...plain, ...input })
}

/** The fields that a creation is refused for, with what is said of each. */
async function problemsOf(input: Partial<NewKey>): Promise<Record<string, string>> {
  const error = await create(input).catch((thrown: unknown) => thrown)
  if (!(error instanceof AppError)) throw new Error('The key was created')
  expect(error.code).toBe('invalid_request')
  return Object.fromEntries((error.errors ?? []).map(({ field, message }) => [field, message]))
}

/** What a promise is rejected with. Not `expect().rejects`, which waits without letting a worker answer. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  )
}

async function recordOf(id: string) {
  return (await service.services.keys.list(project.projectId)).find((record) => record.id === id)
}

describe('creating a key', () => {
  test('shows the key once, and afterwards everything but the key', async () => {
    const { key, ...record } = await create({
      name: 'Dashboard',
      kind: 'ingest',
      allowedIps: ['10.0.0.0/8', '::1', '*'],
      expiresAt: clock.ms + 1,
      createdBy: 'someone',
    })
    expect(key).toMatch(/^ck_ingest_[0-9a-f]{60}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      name: 'Dashboard',
      kind: 'ingest',
      scope: null,
      hint: `ck_ingest_…${key.slice(-4)}`,
      allowedIps: ['10.0.0.0/8', '::1', '*'],
      allowedOrigins: [],
      tags: [],
      expiresAt: isoOf(clock.ms + 1),
      createdAt: isoOf(clock.ms),
      createdBy: 'someone',
      lastUsedAt: null,
      lastUsedIp: null,
      revokedAt: null,
      replaces: null,
    })
    expect(await recordOf(record.id)).toEqual(record)
  })

  test('names every bad field and every bad entry at once', async () => {
    expect(
      await problemsOf({ name: '', allowedIps: ['10.0.0.1', 'x', '10.0.0.0/33', ''], expiresAt: clock.ms }),
    ).toEqual({
      name: 'must not be blank',
      'allowedIps.1': 'is not an IPv4 or IPv6 address, a CIDR range or *',
      'allowedIps.2': 'has a prefix length that is not between 0 and 32',
      'allowedIps.3': 'is not an IPv4 or IPv6 address, a CIDR range or *',
      expiresAt: 'must be a time in the future',
    })
  })

  test('an API key has a scope, full by default; an ingest key has none and takes none', async () => {
    expect((await create()).scope).toBe('full')
    expect((await create({ scope: 'search' })).scope).toBe('search')
    expect((await create({ kind: 'ingest' })).scope).toBeNull()
    expect(await problemsOf({ kind: 'ingest', scope: 'read' })).toEqual({
      scope: 'is for API keys: an ingest key has none',
    })
  })

  test('origins are for a key that changes nothing, as browsers write them', async () => {
    const allowedOrigins = ['https://app.example.com', 'http://localhost:5173', 'https://[::1]:8443']
    for (const scope of ['read', 'search'] as const)
      expect((await create({ scope, allowedOrigins })).allowedOrigins).toEqual(allowedOrigins)
    for (const input of [{ allowedOrigins }, { scope: 'full' as const, allowedOrigins }])
      expect(await problemsOf(input)).toEqual({ allowedOrigins: 'needs the scope read or search' })
    expect(await problemsOf({ kind: 'ingest', allowedOrigins })).toHaveProperty('allowedOrigins')
    const bad = [
      '*',
      'null',
      '',
      'app.example.com',
      'https://App.example.com',
      'https://a.example/',
      'https://a:443',
      'file://x',
    ]
    expect(await problemsOf({ scope: 'read', allowedOrigins: bad })).toEqual(
      Object.fromEntries(
        bad.map((_, at) => [`allowedOrigins.${at}`, 'must be an origin such as https://app.example.com']),
      ),
    )
    const many = Array.from({ length: 101 }, (_, n) => `https://a${n}.example`)
    expect(await problemsOf({ scope: 'read', allowedOrigins: many })).toEqual({
      allowedOrigins: 'must have at most 100 entries',
    })
  })

  test('refuses a name that is blank or longer than 200 characters, counted as people count', async () => {
    for (const name of ['', ' ', '\t\n', '\u3000'])
      expect(await problemsOf({ name })).toEqual({ name: 'must not be blank' })
    expect(await problemsOf({ name: 'x'.repeat(201) })).toEqual({ name: 'must be at most 200 characters' })
    expect((await create({ name: '📞'.repeat(200) })).name).toBe('📞'.repeat(200))
  })

  test('refuses a name with a lone surrogate or an invisible character', async () => {
    expect(await problemsOf({ name: 'a\ud800b' })).toEqual({ name: 'must not contain a lone surrogate' })
    for (const [name, code] of [
      ['a\0b', 'U+0000'],
      ['a\u200bb', 'U+200B'],
    ] as const)
      expect(await problemsOf({ name })).toEqual({ name: expect.stringContaining(code) })
  })

  test('refuses an expiry that is not in the future or not a time', async () => {
    for (const expiresAt of [0, clock.ms - 1, clock.ms, Number.NaN, Number.POSITIVE_INFINITY])
      expect(await problemsOf({ expiresAt })).toEqual({ expiresAt: 'must be a time in the future' })
  })

  test('refuses an allow-list of more than 1,000 entries', async () => {
    const allowedIps = Array.from({ length: 1_001 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
    expect(await problemsOf({ allowedIps })).toEqual({ allowedIps: 'must have at most 1000 entries' })
    expect((await create({ allowedIps: allowedIps.slice(1) })).allowedIps).toHaveLength(1_000)
  })
})

describe('what is stored for a key', () => {
  test.skipIf(ofFilesOnly)('its SHA-256, and nowhere in any file the key or its secret part', async () => {
    const { key } = await create()
    await project.fetch('/v1/calls', { headers: { authorization: `Bearer ${key}` } })
    await service.services.database.write.all('pragma wal_checkpoint(passive)')
    const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    expect(files.some((bytes) => bytes.includes(hashKey(key)))).toBe(true)
    const secret = key.slice(-60)
    for (const part of [key, secret.slice(0, 30), secret.slice(30), Buffer.from(secret, 'hex')])
      expect(files.some((bytes) => bytes.includes(part))).toBe(false)
  })
})

test('a key that has just opened the routes of its kind does not open those of the other', async () => {
  const { keys } = service.services
  const kinds = ['live', 'ingest'] as const
  for (const [at, kind] of kinds.entries()) {
    const { key } = await create({ kind })
    const verify = (asked: 'live' | 'ingest') => keys.verify(asked, `Bearer ${key}`, () => '127.0.0.1')
    expect((await verify(kind)).projectId).toBe(project.projectId)
    expect(await codeOf(verify(kinds[1 - at] ?? kind))).toBe('invalid_api_key_format')
  }
})

test('a key that is left of a project when that is deleted opens nothing', async () => {
  const other = await service.mintProject()
  expect((await other.fetch('/v1/calls')).status).toBe(200)
  await service.services.database.write.run(
    sql`update projects set deleted_at = 1 where id = ${other.projectId}`,
  )
  const { key } = await service.services.keys.create(other.projectId, plain)
  for (const authorization of [`Bearer ${key}`, `Bearer ${other.key}`])
    expect((await other.fetch('/v1/calls', { headers: { authorization } })).status).toBe(401)
})

describe('the last use of a key', () => {
  /** Uses the key, and gives what is noted once the writes before it are done. */
  async function readAfterUse(key: string, id: string) {
    const answer = await project.fetch('/v1/calls', { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(200)
    await service.services.database.write.all('select 1')
    return recordOf(id)
  }

  test.skipIf(ofFilesOnly)('is stored with its address, at most once a minute', async () => {
    const { id, key } = await create()
    const firstUse = clock.ms
    expect(await readAfterUse(key, id)).toMatchObject({
      lastUsedAt: isoOf(firstUse),
      lastUsedIp: '127.0.0.1',
    })
    clock.ms = firstUse + 59_999
    expect(await readAfterUse(key, id)).toMatchObject({ lastUsedAt: isoOf(firstUse) })
    clock.ms = firstUse + 60_000
    expect(await readAfterUse(key, id)).toMatchObject({ lastUsedAt: isoOf(firstUse + 60_000) })
  })

  test.skipIf(ofFilesOnly)('is stored also when the clock was set back since the last time', async () => {
    const { id, key } = await create()
    const firstUse = clock.ms
    await readAfterUse(key, id)
    clock.ms = firstUse - 3_600_000
    expect(await readAfterUse(key, id)).toMatchObject({ lastUsedAt: isoOf(firstUse - 3_600_000) })
    clock.ms = firstUse
  })

  test('is not stored for a refused request', async () => {
    const { id, key } = await create({ allowedIps: ['10.0.0.1'] })
    const answer = await project.fetch('/v1/calls', { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(403)
    await service.services.database.write.all('select 1')
    expect(await recordOf(id)).toMatchObject({ lastUsedAt: null, lastUsedIp: null })
  })

  test.skipIf(ofFilesOnly)(
    'never fails a request: a failed write is logged and tried again a minute later',
    async () => {
      const { key } = await create()
      const closed = await openDatabase(service.services.database.file)
      await closed.close()
      const failures: unknown[] = []
      const { core } = service.services
      const log = { ...core.log, ...logTo((error) => failures.push(error)) }
      const keys = new Keys({ ...core, write: closed.write, now: () => clock.ms, log })
      const verify = () => keys.verify('live', `Bearer ${key}`, () => '127.0.0.1')
      expect((await verify()).projectId).toBe(project.projectId)
      await Bun.sleep(0)
      expect(failures).toHaveLength(1)
      await verify()
      clock.ms += 60_000
      await verify()
      await Bun.sleep(0)
      expect(failures).toHaveLength(2)
    },
  )
})

describe('revoking a key', () => {
  test('is possible once, and only for its own project', async () => {
    const { id } = await create()
    const other = await service.mintProject()
    const revoke = (projectId: number, keyId: string) => service.services.keys.revoke(projectId, keyId)
    expect(await codeOf(revoke(other.projectId, id))).toBe('not_found')
    expect(await codeOf(revoke(project.projectId, 'key_unknown'))).toBe('not_found')
    clock.ms += 5
    expect(await revoke(project.projectId, id)).toEqual({ id, revoked: true })
    expect(await recordOf(id)).toMatchObject({ revokedAt: isoOf(clock.ms) })
    expect(await codeOf(revoke(project.projectId, id))).toBe('not_found')
  })

  test.skipIf(ofFilesOnly)('holds in another process on the same database', async () => {
    const { id, key } = await create()
    const other = await openDatabase(service.services.database.file)
    const keys = new Keys(
      coreWith({ ...other, rights: new Rights(other), audit: auditOf(other), now: () => clock.ms }),
    )
    const use = () => project.fetch('/v1/calls', { headers: { authorization: `Bearer ${key}` } })
    expect((await use()).status).toBe(200)
    await keys.revoke(project.projectId, id)
    expect((await use()).status).toBe(401)
    await other.close()
  })
})

describe('listing keys', () => {
  test("gives a project's own, newest first, with no hash and no key", async () => {
    const own = await service.mintProject()
    const made: string[] = []
    for (const name of ['one', 'two', 'three']) {
      clock.ms += 1
      made.unshift((await service.services.keys.create(own.projectId, { ...plain, name })).id)
    }
    const listed = await service.services.keys.list(own.projectId)
    expect(listed.slice(0, 3).map(({ id }) => id)).toEqual(made)
    expect(listed).toHaveLength(5)
    expect(JSON.stringify(listed)).not.toMatch(/[0-9a-f]{60}/)
  })
})
