import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { sql } from 'drizzle-orm'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { freshFolder } from '../support/at-end.ts'
import { browserOf } from '../support/console.ts'
import { startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import { repository } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'
import { spawnService } from '../support/spawned.ts'

const apiKey = `ck_live_${'0a'.repeat(30)}`
const ingestKey = `ck_ingest_${'1b'.repeat(30)}`
const password = 'correct horse battery'
const owner = { CALLBOOK_INIT_OWNER_EMAIL: 'Ada@Example.com', CALLBOOK_INIT_OWNER_PASSWORD: password }
const all = {
  CALLBOOK_INIT_PROJECT: 'support',
  CALLBOOK_INIT_API_KEY: apiKey,
  CALLBOOK_INIT_INGEST_KEY: ingestKey,
  ...owner,
}

const started = (env: Record<string, string>) => startService({ env })

async function ask({ url }: Pick<TestService, 'url'>, path: string, key: string, method = 'GET') {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return await fetch(url + path, { method, headers, ...(method === 'PUT' ? { body: '{}' } : {}) })
}

const signIn = (service: TestService, email: string) =>
  browserOf(service, null).send('POST', '/session', { email, password })

describe('what the first start makes', () => {
  test('project, keys and owner as they are given, and nothing is left to print', async () => {
    const service = await started(all)
    expect(await bootstrap(service.services)).toEqual({ firstKey: null, setupToken: null })
    const own = await (await ask(service, '/v1/key', apiKey)).json()
    expect(own).toMatchObject({ project: 'support', kind: 'live', scope: 'manage' })
    expect((await ask(service, '/ingest/calls/c1', ingestKey, 'PUT')).status).toBe(201)
    expect((await signIn(service, 'ada@example.com')).status).toBe(200)
    const [ada] = await service.services.console.people.list()
    expect(ada).toMatchObject({ name: 'Ada', email: 'ada@example.com', ownsConsole: true })
    expect(ada?.projects).toMatchObject([{ name: 'support', role: 'owner' }])
  })

  test('a key that is given is not printed; without an owner there is a link', async () => {
    const service = await started({ CALLBOOK_INIT_INGEST_KEY: ingestKey })
    expect(await bootstrap(service.services)).toEqual({ firstKey: null, setupToken: expect.any(String) })
    const keys = await service.services.keys.list(1)
    expect(keys.map(({ kind }) => kind)).toEqual(['ingest'])
  })

  test('an owner alone: a key is printed, of the project that is named', async () => {
    const service = await started({ ...owner, CALLBOOK_INIT_PROJECT: 'sales' })
    const first = await bootstrap(service.services)
    expect(first).toEqual({
      firstKey: { projectName: 'sales', key: expect.stringMatching(/^ck_live_/) },
      setupToken: null,
    })
    expect((await ask(service, '/v1/calls', first.firstKey?.key ?? '')).status).toBe(200)
  })

  test('later starts ignore all of it, bad values too', async () => {
    const service = await started(all)
    await bootstrap(service.services)
    await service.stop()
    const other = `ck_live_${'f'.repeat(60)}`
    const env = { CALLBOOK_INIT_PROJECT: ' ', CALLBOOK_INIT_API_KEY: other, CALLBOOK_INIT_OWNER_EMAIL: 'x' }
    const again = await startService({ env, dataDir: service.dataDir })
    expect(await bootstrap(again.services)).toEqual({ firstKey: null, setupToken: null })
    expect((await ask(again, '/v1/key', other)).status).toBe(401)
    expect((await ask(again, '/v1/key', apiKey)).status).toBe(200)
    expect(await again.services.projects.list()).toHaveLength(1)
  })

  test('two nodes that start at once on one database make it once, and neither prints anything', async () => {
    const primary = await startPrimary()
    const nodes = await Promise.all([startNode(primary, { env: all }), startNode(primary, { env: all })])
    const nothing = { firstKey: null, setupToken: null }
    expect(await Promise.all(nodes.map(({ services }) => bootstrap(services)))).toEqual([nothing, nothing])
    const { write } = nodes[0].services.core
    const count = (table: string) => write.all<{ n: number }>(sql.raw(`select count(*) as n from ${table}`))
    for (const [table, n] of [
      ['projects', 1],
      ['keys', 2],
      ['people', 1],
    ] as const)
      expect({ table, rows: await count(table) }).toEqual({ table, rows: [{ n }] })
    expect(await write.all(sql`select name from meta where name like 'console_%'`)).toEqual([
      { name: 'console_owner' },
    ])
  })
})

describe('a bad value', () => {
  test.each([
    ['CALLBOOK_INIT_PROJECT', { CALLBOOK_INIT_PROJECT: '  ' }],
    ['CALLBOOK_INIT_API_KEY', { CALLBOOK_INIT_API_KEY: 'secretive' }],
    ['CALLBOOK_INIT_API_KEY', { CALLBOOK_INIT_API_KEY: `ck_live_${'A'.repeat(60)}` }],
    ['CALLBOOK_INIT_API_KEY', { CALLBOOK_INIT_API_KEY: `${apiKey}\n` }],
    ['CALLBOOK_INIT_INGEST_KEY', { CALLBOOK_INIT_INGEST_KEY: apiKey }],
    ['CALLBOOK_INIT_OWNER_EMAIL', { ...owner, CALLBOOK_INIT_OWNER_EMAIL: 'ada' }],
    ['CALLBOOK_INIT_OWNER_PASSWORD', { ...owner, CALLBOOK_INIT_OWNER_PASSWORD: 'secretive' }],
    ['CALLBOOK_INIT_OWNER_PASSWORD', { CALLBOOK_INIT_OWNER_EMAIL: 'ada@example.com' }],
    ['CALLBOOK_INIT_OWNER_EMAIL', { CALLBOOK_INIT_OWNER_PASSWORD: password }],
  ])('of %s (%j) is named, not shown, and makes nothing', async (name, env) => {
    const service = await started(env)
    const error = await bootstrap(service.services).catch((error) => error)
    expect(error.problems).toEqual([expect.stringMatching(new RegExp(`^${name} must `))])
    expect(error.message).not.toMatch(/secretive|0a0a|AAAA|horse/)
    expect(await service.services.projects.list()).toEqual([])
  })

  test('stops the start with one message', async () => {
    const env = { CALLBOOK_INIT_API_KEY: 'secretive', CALLBOOK_INIT_OWNER_EMAIL: 'ada' }
    const { ended, stdout, stderr } = await spawnService({
      DATA_DIR: freshFolder(),
      LOG_LEVEL: 'trace',
      ...env,
    })
    expect(await ended).toBe(1)
    expect(stdout()).toBe('')
    expect(stderr()).toContain('CALLBOOK_INIT_API_KEY')
    expect(stderr()).toContain('CALLBOOK_INIT_OWNER_PASSWORD')
    expect(stderr()).not.toContain('secretive')
  })
})

test('no key and no password is printed, logged, or in a file', async () => {
  const dataDir = freshFolder()
  const service = await spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'trace', ...all })
  expect((await ask(service, '/v1/calls', apiKey)).status).toBe(200)
  await service.stop()
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  for (const text of [service.stdout(), service.stderr(), ...files])
    for (const secret of [apiKey.slice(8, -4), ingestKey.slice(10, -4), password])
      expect(text.includes(secret)).toBe(false)
})

test('the compose file passes each of them, empty by default', () => {
  const file = YAML.parse(readFileSync(join(repository, 'compose.yaml'), 'utf8')) as {
    services: { callbook: { environment: Record<string, string> } }
  }
  expect(file.services.callbook.environment).toMatchObject(
    Object.fromEntries(Object.keys(all).map((name) => [name, `\${${name}:-}`])),
  )
})
