import { expect, test } from 'bun:test'
import { scryptSync } from 'node:crypto'
import { accounts } from '../../src/db/schema.ts'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { startService } from '../support/service.ts'

// As it is for everybody: other tests of the console hash passwords cheaply.

test('a password is kept as its scrypt hash of 32 MiB, with a salt, and only it signs in', async () => {
  const service = await startService()
  const { setupToken } = await bootstrap(service.services)
  const post = (path: string, body: object) =>
    fetch(`${service.url}/console/api${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', origin: service.url },
    })
  const [email, password] = ['ada@example.com', 'correct horse battery']
  expect((await post('/links/setup', { token: setupToken, name: 'Ada', email, password })).status).toBe(200)

  const [kept] = await service.services.database.read.select({ hash: accounts.password }).from(accounts)
  const [salt = '', key = ''] = kept?.hash?.split(':') ?? []
  expect(salt).toMatch(/^[\da-f]{32}$/)
  const options = { N: 16_384, r: 16, p: 1, maxmem: 67_108_864 }
  expect(scryptSync(password, salt, 64, options).toString('hex')).toBe(key)

  expect((await post('/session', { email, password })).status).toBe(200)
  expect((await post('/session', { email, password: `${password}.` })).status).toBe(401)
  await service.stop()
})
