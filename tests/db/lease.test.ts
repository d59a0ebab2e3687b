import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { Lease } from '../../src/core/lease.ts'
import { openFreshDatabase } from '../support/database.ts'

const { database } = await openFreshDatabase()

test('one of the nodes holds the lease, and another takes it once it is released or has run out', async () => {
  const [first, second, third] = [1, 2, 3].map(() => new Lease(database, 'work'))
  expect([await first?.take(), await second?.take()]).toEqual([true, false])
  expect(await first?.take()).toBe(true)
  // What it does not hold, it does not release.
  await second?.release()
  expect(await third?.take()).toBe(false)
  await first?.release()
  const fourth = new Lease(database, 'work')
  expect(await fourth.take()).toBe(true)
  await database.write.run(sql`update meta set value = '1 ' || value where name = 'lease_work'`)
  expect(await new Lease(database, 'work').take()).toBe(true)
  expect(await new Lease(database, 'other').take()).toBe(true)
})

test('a node writes nothing while another one holds the lease', async () => {
  const { read, write } = database
  expect(await new Lease(database, 'watched').take()).toBe(true)
  let writes = 0
  const watched = new Proxy(write, {
    get(target, name) {
      writes++
      return Reflect.get(target, name)
    },
  })
  expect(await new Lease({ read, write: watched }, 'watched').take()).toBe(false)
  expect(writes).toBe(0)
  await write.run(sql`update meta set value = '1 ' || value where name = 'lease_watched'`)
  expect(await new Lease({ read, write: watched }, 'watched').take()).toBe(true)
  expect(writes).toBeGreaterThan(0)
})
