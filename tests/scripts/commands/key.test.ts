import { describe, expect, test } from 'bun:test'
import { CommandLine, withService } from '../../support/command-line.ts'

describe('callbook key', () => {
  test('a key is shown once, with its rules; a list never holds it', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project()
    const args = ['key', 'create', '--project', 'Acme', '--name', 'CI', '--kind', 'ingest']
    const rules = ['--allow-ip', '10.0.0.0/8', '--allow-ip', '::1', '--expires', '2999-01-31T10:00:00+01:00']
    const { value, code } = await callbook.json([...args, ...rules])
    expect(code).toBe(0)
    expect(Object.keys(value)).toEqual([
      'id',
      'key',
      'name',
      'kind',
      'scope',
      'allowedIps',
      'tags',
      'expiresAt',
    ])
    expect(value.key).toMatch(/^ck_ingest_[0-9a-f]{60}$/)
    expect(value).toMatchObject({
      name: 'CI',
      kind: 'ingest',
      scope: null,
      allowedIps: ['10.0.0.0/8', '::1'],
      expiresAt: '2999-01-31T09:00:00.000Z',
    })
    const plain = await callbook.json(['key', 'create', '--project', id, '--name', 'x'])
    expect(plain.value).toMatchObject({ kind: 'live', scope: 'full', allowedIps: [], expiresAt: null })
    const list = await callbook.json(['key', 'list', '--project', id])
    expect(list.value.map((key: { id: string }) => key.id)).toEqual([plain.value.id, value.id])
    expect(list.value.map((key: { scope: string | null }) => key.scope)).toEqual(['full', null])
    expect(list.out).not.toContain(value.key)
    const agents = await callbook.json([
      'key',
      'create',
      '--project',
      id,
      '--name',
      'agents',
      '--scope',
      'search',
    ])
    expect(agents.value.scope).toBe('search')
    const { out } = await callbook.run(['key', 'list', '--project', id])
    expect(out).not.toContain(value.key)
    expect(out).toMatch(/ID +NAME +KIND +SCOPE +KEY[\s\S]*agents +live +search +ck_live_/)
  })

  test.each([
    [['--allow-ip', '10.0.0.1', '--allow-ip', '300.1.1.1'], '--allow-ip 300.1.1.1: is not an IPv4'],
    [['--allow-ip', '10.0.0.0/33'], '--allow-ip 10.0.0.0/33: has a prefix length'],
    [['--expires', 'tomorrow'], '--expires tomorrow: must be an ISO 8601 time'],
    [['--expires', '2999-02-30'], '--expires 2999-02-30: must be an ISO 8601 time'],
    [['--expires', '2999-01-01T10:00:00'], 'must be an ISO 8601 time with its zone'],
    [['--kind', 'ingest', '--scope', 'read'], '--scope: is for API keys'],
    [['--allow-origin', 'https://a.example'], '--allow-origin: needs the scope read or search'],
    [['--scope', 'read', '--allow-origin', 'a.example'], '--allow-origin a.example: must be an origin'],
    [['--scope', 'write'], "--scope <scope>' argument 'write' is invalid"],
    [['--expires', '2020-01-01'], '--expires: must be a time in the future'],
  ])('%p is refused with the name of the option', async (args, message) => {
    const callbook = new CommandLine()
    await callbook.project()
    const { code, out, err } = await callbook.run([
      'key',
      'create',
      '--project',
      'Acme',
      '--name',
      'x',
      ...args,
    ])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
    expect((await callbook.json(['key', 'list', '--project', 'Acme'])).value).toEqual([])
  })

  test('a running service accepts a new key at once, and answers 401 from the first request after its revocation', async () => {
    await withService(async ({ url }, callbook) => {
      await callbook.project()
      const { value } = await callbook.json(['key', 'create', '--project', 'Acme', '--name', 'x'])
      const read = () => fetch(`${url}/v1/calls`, { headers: { authorization: `Bearer ${value.key}` } })
      expect((await read()).status).toBe(200)
      const revoked = await callbook.json(['key', 'revoke', value.id])
      expect(revoked).toMatchObject({ code: 0, value: { id: value.id, revoked: true } })
      expect((await read()).status).toBe(401)
      expect((await callbook.spawned(['key', 'revoke', value.id])).code).toBe(1)
      expect((await callbook.run(['key', 'revoke', 'key_0'])).err).toBe('No key has the id key_0.\n')
    })
  })

  test('a running service follows an edit and a rotation at once', async () => {
    await withService(async ({ url }, callbook) => {
      await callbook.project()
      const { value } = await callbook.json(['key', 'create', '--project', 'Acme', '--name', 'x'])
      const read = async (key: string) =>
        (await fetch(`${url}/v1/calls`, { headers: { authorization: `Bearer ${key}` } })).status
      expect(await read(value.key)).toBe(200)
      const edit = ['key', 'edit', value.id]
      const edited = await callbook.json([...edit, '--name', 'y', '--allow-ip', '203.0.113.7'])
      expect(edited.value).toMatchObject({ name: 'y', allowedIps: ['203.0.113.7'], expiresAt: null })
      expect(await read(value.key)).toBe(403)
      const opened = await callbook.json([...edit, '--allow-ip', '*', '--expires', '2999-01-31'])
      expect(opened.value).toMatchObject({ name: 'y', expiresAt: '2999-01-31T23:59:59.999Z' })
      const nothing = await callbook.run(edit)
      expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('Say what to change')])
      const bad = await callbook.run([...edit, '--allow-ip', '300.1.1.1', '--expires', 'soon'])
      expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('--expires soon: must be')])

      const rotated = await callbook.json(['key', 'rotate', value.id, '--overlap', '90m'])
      expect(rotated.value).toMatchObject({ name: 'y', scope: 'full', replaces: value.id })
      expect([await read(value.key), await read(rotated.value.key)]).toEqual([200, 200])
      const again = await callbook.json(['key', 'rotate', rotated.value.id, '--overlap', '0h'])
      expect([await read(rotated.value.key), await read(again.value.key)]).toEqual([401, 200])
      const { err } = await callbook.run(['key', 'rotate', again.value.id, '--overlap', '90s'])
      expect(err).toContain('--overlap 90s: must be a time such as 30m, 24h or 7d')
    })
  })
})
