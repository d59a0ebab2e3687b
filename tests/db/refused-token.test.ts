import { afterAll, expect, test } from 'bun:test'
import { openRemoteReader } from '../../src/db/remote-reader.ts'
import { Writer } from '../../src/db/writer.ts'

let status = 401
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no', { status }) })
const location = { kind: 'remote', url: server.url.origin, authToken: 'expired' } as const
const writer = new Writer(location)
const reader = openRemoteReader(location)

afterAll(async () => {
  reader.close()
  await writer.close()
  await server.stop(true)
})

test('a server that refuses the token, or lets it read only, is unavailable and not an internal error', async () => {
  for (status of [401, 403]) {
    const failures = [
      await writer.client.execute('delete from notes').catch((error) => error),
      await writer.client.batch(['delete from notes']).catch((error) => error),
      await reader.db.all('select 1').catch((error) => error.cause),
    ]
    for (const failure of failures)
      expect(failure).toMatchObject({
        code: 'unavailable',
        message: 'The primary database refuses DATABASE_AUTH_TOKEN.',
      })
  }
})
