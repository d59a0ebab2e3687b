import { describe, expect, test } from 'bun:test'
import type { CreatedKey } from '../../../src/access/keys/key-record.ts'
import type { Keys } from '../../../src/access/keys/keys.ts'
import { failureOf } from '../../support/failure.ts'
import { startService } from '../../support/service.ts'

const hourMs = 3_600_000
const clock = { ms: Date.UTC(2026, 0, 31) }

const service = await startService({ now: () => clock.ms })
const project = await service.mintProject()

const isoOf = (ms: number) => new Date(ms).toISOString()
type NewKey = Parameters<Keys['create']>[1]
const plain: NewKey = { name: 'a key', kind: 'live', allowedIps: [], expiresAt: null }
const create = (input: Partial<NewKey> = {}) =>
  service.services.keys.create(project.projectId, { ...plain, ...input })
const edit = (id: string, change: object) => service.services.keyChanges.edit(project.projectId, id, change)
const rotate = (id: string, overlapHours?: number) =>
  service.services.keyChanges.rotate(project.projectId, id, { overlapHours, createdBy: 'someone' })
const recordOf = async (id: string) =>
  (await service.services.keys.list(project.projectId)).find((record) => record.id === id)
const audit = async () => (await service.services.console.audit.list(project.projectId, { limit: 50 })).data
const statusWith = async ({ key }: CreatedKey) =>
  (await fetch(`${service.url}/v1/calls`, { headers: { authorization: `Bearer ${key}` } })).status

describe('editing a key', () => {
  test('holds from the next request on, and leaves the rest as it was', async () => {
    const key = await create({ scope: 'read' })
    expect(await statusWith(key)).toBe(200)
    const edited = await edit(key.id, { allowedIps: ['203.0.113.7'] })
    expect(await statusWith(key)).toBe(403)
    const { key: _, lastUsedAt: __, lastUsedIp: ___, ...before } = key
    expect(edited).toMatchObject({ ...before, allowedIps: ['203.0.113.7'] })
    await edit(key.id, { allowedIps: ['127.0.0.0/8', '::1'], expiresAt: clock.ms + hourMs, name: 'renamed' })
    expect(await statusWith(key)).toBe(200)
    clock.ms += hourMs
    expect(await statusWith(key)).toBe(401)
    await edit(key.id, { expiresAt: null, allowedOrigins: ['https://app.example.com'] })
    expect(await statusWith(key)).toBe(200)
    const [{ action, target } = { action: '', target: '' }] = await audit()
    expect([action, target]).toEqual([
      'key_changed',
      `renamed (${key.hint}, read): web pages → https://app.example.com; expires → never`,
    ])
  })

  test('without a change writes nothing', async () => {
    const key = await create()
    const before = await audit()
    await edit(key.id, { name: key.name, allowedIps: [], expiresAt: null })
    expect(await audit()).toEqual(before)
  })

  test.each([
    [{ name: ' ' }, 'name'],
    [{ allowedIps: ['10.0.0.300'] }, 'allowedIps.0'],
    [{ allowedOrigins: ['https://app.example.com'] }, 'allowedOrigins'],
    [{ expiresAt: 1 }, 'expiresAt'],
  ])('to %j is refused, and nothing changes', async (change, field) => {
    const { key: _, ...key } = await create()
    expect(await failureOf(edit(key.id, change))).toMatchObject({ errors: [{ field }] })
    expect(await recordOf(key.id)).toEqual(key)
  })

  test('of a revoked key, or one of another project, is not found', async () => {
    const key = await create()
    const other = await service.mintProject()
    const elsewhere = service.services.keyChanges.edit(other.projectId, key.id, { name: 'x' })
    expect(await failureOf(elsewhere)).toMatchObject({ code: 'not_found' })
    await service.services.keys.revoke(project.projectId, key.id)
    expect(await failureOf(edit(key.id, { name: 'x' }))).toMatchObject({ code: 'not_found' })
    expect(await failureOf(rotate(key.id))).toMatchObject({ code: 'not_found' })
  })
})

describe('rotating a key', () => {
  test('makes one like it, and both work until the overlap ends', async () => {
    const rules = { scope: 'read' as const, allowedIps: ['127.0.0.1'], expiresAt: clock.ms + 99 * hourMs }
    const old = await create({ name: 'agents', allowedOrigins: ['https://app.example.com'], ...rules })
    const made = await rotate(old.id)
    expect(made).toEqual({
      ...old,
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^ck_live_[0-9a-f]{60}$/),
      hint: `ck_live_…${made.key.slice(-4)}`,
      createdBy: 'someone',
      replaces: old.id,
    })
    expect(made.key).not.toBe(old.key)
    expect((await recordOf(old.id))?.expiresAt).toBe(isoOf(clock.ms + 24 * hourMs))
    expect([await statusWith(old), await statusWith(made)]).toEqual([200, 200])
    clock.ms += 24 * hourMs
    expect([await statusWith(old), await statusWith(made)]).toEqual([401, 200])
    const [{ action, target } = { action: '', target: '' }] = await audit()
    expect([action, target]).toEqual([
      'key_rotated',
      `agents (${old.hint}, read) → ${made.hint}, overlap 24 h`,
    ])
  })

  test('without an overlap ends the old key at once', async () => {
    const old = await create({ kind: 'live' })
    const made = await rotate(old.id, 0)
    expect([await statusWith(old), await statusWith(made)]).toEqual([401, 200])
  })

  test('never makes the old key last longer', async () => {
    const old = await create({ expiresAt: clock.ms + hourMs })
    await rotate(old.id, 48)
    expect((await recordOf(old.id))?.expiresAt).toBe(isoOf(clock.ms + hourMs))
  })

  test('is refused for a key that was rotated before or has expired, and for a bad overlap', async () => {
    const old = await create()
    for (const bad of [-1, 721, Number.NaN])
      expect(await failureOf(rotate(old.id, bad))).toMatchObject({ errors: [{ field: 'overlapHours' }] })
    await rotate(old.id)
    const keys = await service.services.keys.list(project.projectId)
    expect(await failureOf(rotate(old.id))).toMatchObject({ errors: [{ field: 'id' }] })
    const expired = await create({ expiresAt: clock.ms + 1 })
    clock.ms += 1
    expect(await failureOf(rotate(expired.id))).toMatchObject({ errors: [{ field: 'id' }] })
    expect(await service.services.keys.list(project.projectId)).toHaveLength(keys.length + 1)
  })
})
