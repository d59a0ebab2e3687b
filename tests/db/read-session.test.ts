import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { openReader } from '../../src/db/reader.ts'
import { freshFolder } from '../support/at-end.ts'

test('the values of a failed query are not used by the next query', async () => {
  const folder = freshFolder()
  const writer = new Database(join(folder, 'test.db'))
  writer.exec("create table notes (owner text, body text); insert into notes values ('a', '{}'), ('b', '{}')")
  const { db, close } = openReader(join(folder, 'test.db'))
  try {
    const byOwner = db
      .select({
        owner: sql<string>`owner`,
        checked: sql<string>`json_extract(${sql.placeholder('json')}, '$')`,
      })
      .from(sql`notes where owner = ${sql.placeholder('owner')}`)
      .prepare()
    const ownerOf = async (owner: string, json = '{}') => (await byOwner.get({ owner, json }))?.owner
    for (const failing of [
      () => byOwner.get({ owner: 'a', json: '{' }),
      () => byOwner.all({ owner: 'a', json: '{' }),
    ]) {
      expect(await ownerOf('a')).toBe('a')
      expect(failing).toThrow('malformed JSON')
      expect(await ownerOf('b')).toBe('b')
      expect(await byOwner.all({ owner: 'b', json: '{}' })).toEqual([{ owner: 'b', checked: '{}' }])
    }

    // While the table is away, the statement cannot even be prepared anew.
    writer.exec('alter table notes rename to lost')
    for (const owner of ['a', 'b']) expect(() => byOwner.get({ owner, json: '{}' })).toThrow('no such table')
    writer.exec('alter table lost rename to notes')
    expect(await ownerOf('a')).toBe('a')
    expect(await ownerOf('nobody')).toBeUndefined()
  } finally {
    close()
    writer.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
