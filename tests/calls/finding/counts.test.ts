import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { countBy, cutPeriod, dayMs, recount, wrongTotals } from '../../../src/calls/finding/counts.ts'
import { readPage } from '../../../src/calls/reading/page.ts'
import { calls } from '../../../src/db/schema.ts'
import { openFreshDatabase } from '../../support/database.ts'
import fc from '../../support/fast-check.ts'
import { projectsOf } from '../../support/projects.ts'

setDefaultTimeout(60_000)
const { database, close } = await openFreshDatabase()
afterAll(close)
const projects = projectsOf(database)

type Listed = typeof calls.$inferSelect

test("a project's total is its own", async () => {
  const [one, two] = [await mint(), await mint()]
  await insertMany(one, 60)
  await insertMany(two, 30)
  await deleteCalls(one, 'true')
  expect(await totalOf(one)).toBe(0)
  expect(await totalOf(two)).toBe(30)
})

test('a write that fails counts nothing', async () => {
  const projectId = await mint()
  const insert = () => database.write.insert(calls).values(row(projectId, { id: 'same', createdAt: 0 }))
  const failed = database.write.batch({ first: insert(), second: insert() })
  expect(await failed.catch((error) => String(error.cause ?? error))).toContain('UNIQUE')
  expect(await totalOf(projectId)).toBe(0)
})

test('a total that is wrong is found, and counted again', async () => {
  const projectId = await mint()
  await insertMany(projectId, 3_000)
  const wrong = () => database.read.all<unknown>(sql.raw(wrongTotals))
  expect(await wrong()).toEqual([])
  await database.write.run(sql`update projects set calls = calls - 1 where id = ${projectId}`)
  expect(await wrong()).toEqual([{ project_id: projectId }])
  await recount(database.write, projectId)
  expect(await totalOf(projectId)).toBe(3_000)
})

const time = fc
  .tuple(fc.constantFrom(0, 1, 40), fc.constantFrom(0, 1, 5_000, dayMs - 1))
  .map(([day, ms]) => day * dayMs + ms)

test('counts and parts of a period are those of an array', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(time, { maxLength: 60 }),
      time,
      time,
      fc.integer({ min: 0, max: 9 }),
      async (times, from, last, callsMax) => {
        const projectId = await mint()
        const rows = times.map((createdAt, at) => row(projectId, { createdAt, id: `${at}` }))
        if (rows.length > 0) await database.write.insert(calls).values(rows)
        await database.write.run(sql`
          update calls set evaluation = case seq % 4 when 0 then 'success' when 1 then 'fail' when 2 then 'B' end,
            source = case when seq % 3 then 's' || seq % 2 end, is_engaged = seq % 2 where project_id = ${projectId}`)
        const period = { from, to: last + 1 }
        const listed = await database.read.select().from(calls).where(eq(calls.projectId, projectId))
        const within = listed.filter(({ createdAt }) => createdAt >= from && createdAt <= last)
        const counted = await countBy(database.read, projectId, sql<string | null>`source`, period)
        const bySource = Map.groupBy(within, ({ source }) => source)
        expect(counted).toEqual(new Map([...bySource].map(([source, some]) => [source, naiveCounts(some)])))
        const all = await countBy(database.read, projectId, undefined, period)
        expect(all).toEqual(within.length > 0 ? new Map([[null, naiveCounts(within)]]) : new Map())
        if (from > last) return
        let reached = from
        for await (const part of cutPeriod(database.read, projectId, period, { callsMax })) {
          expect(part.from).toBe(reached)
          reached = part.to
        }
        expect(reached).toBe(period.to)
      },
    ),
    { numRuns: 50 },
  )
})

let minted = 0
async function mint(): Promise<number> {
  return (await projects.create(`project ${++minted}`)).projectId
}

async function insertMany(projectId: number, count: number): Promise<void> {
  await database.write.run(sql`
    insert into calls (project_id, id, created_at, updated_at, status, evaluation, is_engaged, duration, document_chars,
      change_seq)
    select ${projectId}, value, value * 7919 % 90001 * 1000, 0, 'completed',
      case value % 4 when 0 then 'success' when 1 then 'fail' when 2 then 'B' end, value % 2, value, 2, 1
    from generate_series(1, ${count})`)
}

async function deleteCalls(projectId: number, condition: string): Promise<void> {
  await database.write.delete(calls).where(sql`project_id = ${projectId} and ${sql.raw(condition)}`)
}

async function totalOf(projectId: number): Promise<number> {
  return (await readPage(database.read, projectId, { limit: 0, offset: 0 })).total
}

function row(projectId: number, call: Pick<Listed, 'createdAt' | 'id'>): typeof calls.$inferInsert {
  const rest = { status: 'live', isEngaged: false, duration: 0, documentChars: 2, changeSeq: 1 } as const
  return { projectId, updatedAt: call.createdAt, ...call, ...rest }
}

function naiveCounts(some: Listed[]) {
  const count = (evaluation: string | null) => some.filter((call) => call.evaluation === evaluation).length
  const engaged = some.filter(({ isEngaged }) => isEngaged).length
  return {
    calls: some.length,
    success: count('success'),
    fail: count('fail'),
    unevaluated: count(null),
    engaged,
  }
}
