import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Client, createClient } from '@libsql/client'
import { type Primary, startPrimary } from '../support/primary.ts'

let primary: Primary
let client: Client

beforeEach(async () => {
  primary = await startPrimary()
  client = createClient({ url: primary.url, intMode: 'number' })
  await client.execute('create table notes (note text)')
})

afterEach(async () => {
  client.close()
  await primary.stop()
})

// What the modes with a primary rest on; were a server to behave differently, these say so first.

test('a primary that was killed and restarted has what it acknowledged', async () => {
  await client.execute("insert into notes values ('kept')")
  await primary.signal('SIGKILL')
  expect(await client.execute('select 1').catch(() => 'away')).toBe('away')
  await primary.restart()
  expect((await client.execute('select note from notes')).rows.map(({ note }) => note)).toEqual(['kept'])
})

test('a primary that was frozen goes on where it was', async () => {
  await primary.signal('SIGSTOP')
  const frozen = client.execute('select 1 as one')
  expect(await Promise.race([frozen, Bun.sleep(300).then(() => 'nothing')])).toBe('nothing')
  await primary.signal('SIGCONT')
  expect((await frozen).rows[0]?.one).toBe(1)
})

test('a primary refuses a text of 8 MB in the words that the writer looks for', async () => {
  const answer = await client
    .execute({ sql: 'insert into notes values (?)', args: ['x'.repeat(2 ** 23)] })
    .catch(String)
  expect(String(answer)).toContain('string or blob too big')
})

test('a primary enforces foreign keys, and refuses to zero deleted pages', async () => {
  expect((await client.execute('pragma foreign_keys')).rows[0]?.foreign_keys).toBe(1)
  expect(String(await client.execute('pragma secure_delete = on').catch(String))).toContain('unsupported')
})
