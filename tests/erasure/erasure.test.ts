import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { erasing } from '../../src/db/erasing.ts'
import type { OpenDatabase } from '../../src/db/open.ts'
import { erasures } from '../../src/db/schema.ts'
import { Erasure } from '../../src/erasure/erasure.ts'
import { coreOver } from '../support/core.ts'
import { openFreshDatabase } from '../support/database.ts'
import { projectsOf } from '../support/projects.ts'
import { until } from '../support/until.ts'

const { database } = await openFreshDatabase()

describe('an erasure', () => {
  test('that is closed during a read stays open without a failure, and the next start finishes it', async () => {
    const { projectId } = await projectsOf(database).create('closed')
    await database.write
      .insert(erasures)
      .values({ projectId, kind: 'call', idHash: 'hash', record: 1, changeSeq: 1, requestedAt: Date.now() })
    const failures: unknown[] = []
    let tries = 0
    const closed = await erasureOf(async () => {
      tries++
      return false
    }, failures)
    closed.schedule()
    await until(() => tries > 0)
    await closed.close()
    expect(failures).toEqual([])
    expect(await doneAt(projectId)).toEqual([null])

    await (await erasureOf(database.emptyLog, failures)).finish()
    expect(await doneAt(projectId)).toEqual([expect.any(Number)])
  })

  test('of more than is read and marked at a time marks each, also those of one moment', async () => {
    const { projectId } = await projectsOf(database).create('many')
    await database.write.run(sql`
      insert into ${erasures} (project_id, kind, id_hash, record, change_seq, requested_at)
      with recursive counted (n) as (select 1 union all select n + 1 from counted where n < 2500)
      select ${projectId}, 'call', n, n, n, n / 2400 from counted`)
    const failures: unknown[] = []
    await (await erasureOf(database.emptyLog, failures)).finish()
    expect(failures).toEqual([])
    expect((await doneAt(projectId)).filter((time) => time !== null)).toHaveLength(2_500)
  })

  test('does not take what was deleted of the same webhook meanwhile for its own', async () => {
    const { projectId } = await projectsOf(database).create('webhook')
    const erased = { projectId, kind: 'webhook', id: 'wh_1' } as const
    const deleteSome = () => database.write.run(erasing({ recordHash: () => 'hash', now: () => 1 }, erased))
    await deleteSome()
    const erasure = await erasureOf(async (waitMs) => {
      await deleteSome()
      return await database.emptyLog(waitMs)
    }, [])
    await erasure.finish()
    await erasure.close()
    expect(await doneAt(projectId)).toEqual([null])
    await (await erasureOf(database.emptyLog, [])).finish()
    expect(await doneAt(projectId)).toEqual([expect.any(Number)])
  })

  test('of a deleted item, and of what an item said before, leaves no vector in the index of its project', async () => {
    const projects = projectsOf(database)
    const kinds = ['item', 'text', 'call'] as const
    const ids: number[] = []
    for (const kind of kinds) {
      const { projectId } = await projects.create(`of one ${kind}`)
      ids.push(projectId)
      await database.write
        .insert(erasures)
        .values({ projectId, kind, idHash: 'hash', record: 1, changeSeq: 1, requestedAt: 1 })
    }
    const indexes: number[] = []
    const erasure = await erasureOf(database.emptyLog, [], async (projectId) => void indexes.push(projectId))
    await erasure.finish()
    expect(indexes).toEqual(ids.slice(0, 2))
  })
})

async function erasureOf(
  emptyLog: OpenDatabase['emptyLog'],
  failures: unknown[],
  eraseDeleted: (projectId: number) => Promise<void> = async () => undefined,
) {
  const core = await coreOver({ ...database, emptyLog }, (error) => failures.push(error))
  const erasure = new Erasure(core, {
    index: { eraseDeleted },
    removedFiles: { erase: async () => undefined },
  })
  return Object.assign(erasure, { close: core.jobs.close.bind(core.jobs) })
}

async function doneAt(projectId: number): Promise<(number | null)[]> {
  const rows = await database.read.select().from(erasures)
  return rows.filter((row) => row.projectId === projectId).map((row) => row.doneAt)
}
