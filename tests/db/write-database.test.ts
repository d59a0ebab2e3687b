import { expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { meta } from '../../src/db/schema.ts'
import { AppError } from '../../src/errors.ts'
import { openFreshDatabase } from '../support/database.ts'

const fresh = await openFreshDatabase()
const write = fresh.database.write

const insert = (name: string) => write.insert(meta).values({ name, value: name })

test('a batch runs in the order in which it is written, and gives each result under its name', async () => {
  const { one, more, none, renamed, found, deleted } = await write.batch({
    one: insert('one'),
    more: [insert('two').returning(), insert('three').returning()],
    none: [],
    renamed: sql`update ${meta} set value = 'changed' where name in ('one', 'two')`,
    found: write.select().from(meta).where(eq(meta.value, 'changed')).orderBy(meta.name),
    deleted: write.delete(meta).where(eq(meta.name, 'three')).returning({ name: meta.name }),
  })
  expect(one.rowsAffected).toBe(1)
  // Each of the list has rows of its own.
  expect(more.map(([row]) => row?.name)).toEqual(['two', 'three'])
  expect(none).toEqual([])
  expect(renamed.rowsAffected).toBe(2)
  expect(found.map(({ name }) => name)).toEqual(['one', 'two'])
  const names: { name: string }[] = deleted
  expect(names).toEqual([{ name: 'three' }])
})

test('a batch with a statement that fails changes nothing', async () => {
  const failed = write.batch({ first: insert('four'), again: insert('four') })
  expect(await failed.catch((error) => String(error.cause ?? error))).toContain('UNIQUE')
  expect(await write.select().from(meta).where(eq(meta.name, 'four'))).toEqual([])
})

test('a batch whose second requirement does not hold changes nothing, and fails with its error', async () => {
  const otherwise = (title: string) => () => new AppError('forbidden', title)
  const requirements = [
    { condition: sql`1 = 1`, otherwise: otherwise('first') },
    { condition: sql`1 = 2`, otherwise: otherwise('second') },
  ]
  await expect(write.batchIf(requirements, { five: insert('five') })).rejects.toThrow('second')
  expect(await write.select().from(meta).where(eq(meta.name, 'five'))).toEqual([])
  const { five } = await write.batchIf(requirements.slice(0, 1), { five: insert('five').returning() })
  expect(five.map(({ name }) => name)).toEqual(['five'])
})
