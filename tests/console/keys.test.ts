import { describe, expect, test } from 'bun:test'
import type { CreatedKey, KeyRecord } from '../../src/access/keys/key-record.ts'
import { startConsole } from '../support/console.ts'
import { badFields, expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService()
const set = await startConsole(service)
const project = await set.mintProject()

const plain = { name: 'console', kind: 'live', allowedIps: [], expiresAt: null }
const path = () => `/projects/${project.id}/keys`
const create = async (input: object = {}): Promise<CreatedKey> =>
  (await set.owner.send('POST', path(), { ...plain, ...input })).json()
const list = async (): Promise<KeyRecord[]> => (await set.owner.read(path())).data
const statusWith = async (key: string) =>
  (await fetch(`${service.url}/v1/calls`, { headers: { authorization: `Bearer ${key}` } })).status

describe('a key created in the console', () => {
  test('is shown once, opens /v1, shows its last use, and opens nothing once revoked', async () => {
    const { key, ...row } = await create({ name: 'my key' })
    expect(key).toMatch(/^ck_live_[0-9a-f]{60}$/)
    expect(row).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'my key',
      kind: 'live',
      scope: 'full',
      hint: `ck_live_…${key.slice(-4)}`,
      allowedIps: [],
      allowedOrigins: [],
      tags: [],
      createdBy: set.owner.name,
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
      lastUsedIp: null,
      revokedAt: null,
      replaces: null,
    })
    expect((await list())[0]).toEqual(row)
    expect(await statusWith(key)).toBe(200)
    // Noted beside the request, which does not wait for it.
    await until(async () => (await list())[0]?.lastUsedAt !== null)
    expect((await list())[0]).toMatchObject({ lastUsedAt: expect.any(String), lastUsedIp: '127.0.0.1' })
    const revoked = await set.owner.send('DELETE', `${path()}/${row.id}`)
    expect([revoked.status, await revoked.json()]).toEqual([200, { id: row.id, revoked: true }])
    expect(await statusWith(key)).toBe(401)
    expect((await list())[0]?.revokedAt).toEqual(expect.any(String))
    await expectProblem(await set.owner.send('DELETE', `${path()}/${row.id}`), 'not_found')
  })

  test('is in no later answer', async () => {
    const { key, id } = await create()
    const audit = await (await set.owner.fetch(`/projects/${project.id}/audit`)).text()
    const later = JSON.stringify([await list(), audit])
    expect(later).toContain(id)
    expect(later).not.toContain(key)
    expect(later).not.toMatch(/[0-9a-f]{60}/)
  })

  test('keeps its allow-list and its expiry', async () => {
    const { key, expiresAt, allowedIps } = await create({
      allowedIps: ['10.0.0.0/8'],
      expiresAt: '2999-01-31T10:30:00+01:00',
    })
    expect({ expiresAt, allowedIps }).toEqual({
      expiresAt: '2999-01-31T09:30:00.000Z',
      allowedIps: ['10.0.0.0/8'],
    })
    expect(await statusWith(key)).toBe(403)
  })

  test.each([
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(201) }, ['name']],
    [{ kind: 'other' }, ['kind']],
    [{ scope: 'other' }, ['scope']],
    [{ allowedOrigins: ['https://app.example.com'] }, ['allowedOrigins']],
    [{ scope: 'read', allowedOrigins: ['app.example.com'] }, ['allowedOrigins.0']],
    [{ kind: 'ingest', scope: 'read' }, ['scope']],
    [{ allowedIps: ['10.0.0.1', '10.0.0.300', '10.0.0.0/33'] }, ['allowedIps.1', 'allowedIps.2']],
    [{ allowedIps: Array(1_001).fill('10.0.0.1') }, ['allowedIps']],
    [{ expiresAt: '2999-01-31' }, ['expiresAt']],
    [{ expiresAt: '2999-01-31T10:30:00' }, ['expiresAt']],
    [{ expiresAt: '2020-01-31T10:30:00Z' }, ['expiresAt']],
    [{ expiresAt: 'never' }, ['expiresAt']],
    [{ expiresAt: 5 }, ['expiresAt']],
  ])('is refused with %j', async (input, fields) => {
    const answer = await set.owner.send('POST', path(), { ...plain, ...input })
    expect(await badFields(answer)).toEqual(fields)
  })
})

describe('an allow-list that is being typed', () => {
  test.each([
    [[], '10.0.0.1', [], true],
    [['*'], '2001:db8::1', [], true],
    [['10.0.0.0/8'], '10.1.2.3', [], true],
    [['10.0.0.0/8'], ' ::ffff:10.1.2.3 ', [], true],
    [['10.0.0.0/8'], '11.0.0.1', [], false],
    [['10.0.0.0/8'], undefined, [], null],
    [['10.0.0.0/8'], 'no address', [], null],
    [['10.0.0.0/8', '10.0.0'], '10.1.2.3', [1], true],
    [['10.0.0'], '10.1.2.3', [0], null],
  ])('%j is checked, and whether %p would pass', async (allowedIps, address, bad, allows) => {
    const answer = await set.owner.send('POST', `${path()}/check-address`, { allowedIps, address })
    const check = await answer.json()
    expect([answer.status, check.allows]).toEqual([200, allows])
    expect(check.problems.map(({ index }: { index: number }) => index)).toEqual(bad)
    for (const { message } of check.problems) expect(message).toMatch(/^(is|has) /)
  })
})
