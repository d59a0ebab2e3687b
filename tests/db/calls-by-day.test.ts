import { afterAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { calls, callsByDay } from '../../src/db/schema.ts'
import type { Project } from '../../src/projects/projects.ts'
import { openFreshDatabase } from '../support/database.ts'
import { projectsOf } from '../support/projects.ts'

const dayMs = 86_400_000
const { database, close } = await openFreshDatabase()
afterAll(close)
const projects = projectsOf(database)

test('a call counts on the UTC day it was created on', async () => {
  const { projectId } = await projects.create('days')
  await insertCalls(projectId, [0, dayMs - 1, dayMs, 20_000 * dayMs, 20_000 * dayMs + 1])
  expect(await days(projectId)).toEqual([
    [0, 2],
    [1, 1],
    [20_000, 2],
  ])
})

test('a deleted call no longer counts, and a day without calls is gone', async () => {
  const { projectId } = await projects.create('deletions')
  await insertCalls(projectId, [0, 1, dayMs])
  await database.write.delete(calls).where(sql`project_id = ${projectId} and created_at in (0, ${dayMs})`)
  expect(await days(projectId)).toEqual([[0, 1]])
  await database.write.delete(calls).where(eq(calls.projectId, projectId))
  expect(await days(projectId)).toEqual([])
})

test("a project's counts are its own", async () => {
  const [one, two] = [await projects.create('one'), await projects.create('two')]
  await insertCalls(one.projectId, [0, 0])
  await insertCalls(two.projectId, [0])
  await database.write.delete(calls).where(eq(calls.projectId, one.projectId))
  expect(await days(one.projectId)).toEqual([])
  expect(await days(two.projectId)).toEqual([[0, 1]])
})

test('a write that fails counts nothing', async () => {
  const { projectId }: Project = await projects.create('failures')
  const failed = database.write.batch([
    database.write.insert(calls).values(call(projectId, 'same', 0)),
    database.write.insert(calls).values(call(projectId, 'same', 0)),
  ])
  expect(await failed.catch((error) => String(error.cause ?? error))).toContain('UNIQUE')
  expect(await days(projectId)).toEqual([])
})

test('the counts equal the rows after any order of writes', async () => {
  const { projectId } = await projects.create('any order')
  for (let round = 0; round < 5; round++) {
    const times = Array.from({ length: 40 }, (_, n) => ((n * 7 + round) % 5) * dayMs + n)
    await insertCalls(projectId, times, `round ${round}`)
    await database.write.delete(calls).where(sql`project_id = ${projectId} and (seq * 31) % 3 = 0`)
    const rows = await database.read.all<{ day: number; n: number }>(sql`
      select created_at / ${sql.raw(String(dayMs))} as day, count(*) as n from calls where project_id = ${projectId}
      group by day order by day`)
    expect(await days(projectId)).toEqual(rows.map(({ day, n }) => [day, n]))
  }
})

async function insertCalls(projectId: number, times: number[], prefix = 'call'): Promise<void> {
  const values = times.map((createdAt, n) => call(projectId, `${prefix} ${n}`, createdAt))
  await database.write.insert(calls).values(values)
}

function call(projectId: number, id: string, createdAt: number): typeof calls.$inferInsert {
  const rest = { status: 'live', isEngaged: false, duration: 0, documentChars: 2, changeSeq: 1 } as const
  return { projectId, id, createdAt, updatedAt: createdAt, ...rest }
}

async function days(projectId: number): Promise<[number, number][]> {
  const rows = await database.read
    .select()
    .from(callsByDay)
    .where(eq(callsByDay.projectId, projectId))
    .orderBy(callsByDay.day)
  return rows.map((row) => [row.day, row.calls])
}
