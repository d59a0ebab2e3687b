import { expect, test } from 'bun:test'
import { scryptSync } from 'node:crypto'
import { accounts } from '../../src/db/schema.ts'
import { freshFolder } from '../support/at-end.ts'
import { asCommand } from '../support/command.ts'
import { spawnService } from '../support/spawned.ts'

// As it is for everybody, in a process of its own: other tests of the console hash passwords cheaply.

test('a password is kept as its scrypt hash of 32 MiB, with a salt, and only it signs in', async () => {
  const dataDir = freshFolder()
  const service = await spawnService({ DATA_DIR: dataDir })
  const [, token] = /setup#([\w-]{32})/.exec(service.stdout()) ?? []
  const post = (path: string, body: object) =>
    fetch(`${service.url}/console/api${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', origin: service.url },
    })
  const [email, password] = ['ada@example.com', 'correct horse battery']
  expect((await post('/links/setup', { token, name: 'Ada', email, password })).status).toBe(200)

  const [kept] = await asCommand(dataDir, ({ database }) =>
    database.read.select({ hash: accounts.password }).from(accounts),
  )
  const [salt = '', key = ''] = kept?.hash?.split(':') ?? []
  expect(salt).toMatch(/^[\da-f]{32}$/)
  const options = { N: 16_384, r: 16, p: 1, maxmem: 67_108_864 }
  expect(scryptSync(password, salt, 64, options).toString('hex')).toBe(key)

  expect((await post('/session', { email, password })).status).toBe(200)
  expect((await post('/session', { email, password: `${password}.` })).status).toBe(401)
  await service.stop()
})
