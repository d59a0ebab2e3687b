import { expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import {
  type CountedName,
  countAny,
  countsByQuarter,
  countsByValue,
  countsOfAllTime,
  dayMs,
  type Period,
  recount,
  wrongCounts,
} from '../../../src/calls/finding/counts.ts'
import { readPage } from '../../../src/calls/reading/page.ts'
import { callCounts, calls } from '../../../src/db/schema.ts'
import { openFreshDatabase } from '../../support/database.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { projectsOf } from '../../support/projects.ts'

const quarterMs = 900_000

const { database } = await openFreshDatabase()
const projects = projectsOf(database)

type Listed = typeof calls.$inferSelect

test("a project's counts are its own, and are deleted with it", async () => {
  const [one, two] = [await mint(), await mint()]
  await insertMany(one, 60)
  await insertMany(two, 30)
  await deleteCalls(one, 'true')
  expect(await expectRight(one)).toEqual([])
  expect(await countsOf(one)).toEqual([])
  expect(await expectRight(two)).toHaveLength(30)
  await database.write.run(sql`delete from projects where id = ${two}`)
  expect(await countsOf(two)).toEqual([])
})

test('calls are found by a value while few have it, and again when none had it in between', async () => {
  const projectId = await mint()
  const entries = async () =>
    await database.read.all(
      sql`select seq from call_values where project_id = ${projectId} and value = '["status","completed"]'`,
    )
  const areFew = async () =>
    (await countAny(database.read, projectId, [{ name: 'status', values: ['"completed"', '"live"'] }]))[0]
  await insertMany(projectId, 1_000)
  expect([await areFew(), (await entries()).length]).toEqual([{ calls: 1_000, areFew: true }, 1_000])
  await database.write.run(
    sql`update calls set status = 'live' where project_id = ${projectId} and seq % 10 = 0`,
  )
  expect([await areFew(), (await entries()).length]).toEqual([{ calls: 1_000, areFew: true }, 900])
  await deleteCalls(projectId, 'true')
  await insertMany(projectId, 1_100)
  expect(await areFew()).toEqual({ calls: 1_100, areFew: false })
  await deleteCalls(projectId, 'seq % 2')
  expect(await areFew()).toEqual({ calls: 550, areFew: false })
  await deleteCalls(projectId, 'true')
  expect([await areFew(), await entries()]).toEqual([{ calls: 0, areFew: true }, []])
})

test('a write that fails counts nothing', async () => {
  const projectId = await mint()
  const insert = () => database.write.insert(calls).values(row(projectId, { id: 'same', createdAt: 0 }))
  const failed = database.write.batch({ first: insert(), second: insert() })
  expect(await failed.catch((error) => String(error.cause ?? error))).toContain('UNIQUE')
  expect(await expectRight(projectId)).toEqual([])
})

test('calls that are counted wrong are found, and counted again', async () => {
  const [one, other] = [await mint(), await mint()]
  await insertMany(other, 300)
  await insertMany(one, 3_000)
  const wrong = () => database.read.all<unknown>(sql.raw(wrongCounts))
  for (const spoilt of [
    sql`update projects set calls = calls - 1 where id = ${one}`,
    sql`update call_counts set fail = fail - 1 where project_id = ${one} and name = ''`,
    sql`delete from call_counts where project_id = ${one} and value = 'null'`,
    sql`insert into call_counts values (${one}, 1, 'source', '"x"', 1, 0, 0, 1, 0, true)`,
  ]) {
    expect(await wrong()).toEqual([])
    await database.write.run(spoilt)
    expect(await wrong()).toEqual([{ project_id: one }])
    await recount(database.write, one)
    await expectRight(one)
  }
  await expectRight(other)
})

/** Few times, so that most are shared; some of them are the first and last of a quarter or a day. */
const time = fc
  .tuple(fc.constantFrom(0, 1, 40), fc.constantFrom(0, 1, 5_000, quarterMs - 1, quarterMs, dayMs - 1))
  .map(([day, ms]) => day * dayMs + ms)
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      insert: fc.array(time, { maxLength: 4 }),
      copies: fc.integer({ min: 1, max: 30 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ remove: fc.integer({ min: 2, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ change: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ move: fc.integer({ min: 1, max: 9 }), to: time }) },
)

test('pages and counts are those of an array, whatever is inserted, changed, moved and deleted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15, size: 'max' }), time, time, async (steps, from, to) => {
      const projectId = await mint()
      let made = 0
      for (const action of steps) {
        if ('insert' in action) {
          const times = action.insert.flatMap((at) => new Array<number>(action.copies).fill(at))
          // Not in the order of their ids.
          const rows = times.map((createdAt) =>
            row(projectId, { createdAt, id: `${(++made * 7_919) % 10_007}` }),
          )
          if (rows.length > 0) await database.write.insert(calls).values(rows)
        } else if ('remove' in action) {
          await deleteCalls(projectId, `seq % ${action.remove} = 0`)
        } else if ('move' in action) {
          // As in one write: also their evaluation may change.
          await database.write.run(sql`
            update calls set created_at = ${action.to} + seq % 3, evaluation = case when seq % 2 then evaluation else 'fail' end
            where project_id = ${projectId} and seq % ${action.move} = 0`)
        } else {
          await database.write.run(sql`
            update calls set evaluation = case seq % 4 when 0 then 'success' when 1 then 'fail' when 2 then 'B' end,
              ended_reason = case when seq % 3 then 'a' end, source = 's' || seq % 2, is_engaged = seq % 2,
              status = case when seq % 5 then 'completed' else 'live' end, duration = seq * 3.7, agent_id = ended_reason
            where project_id = ${projectId} and seq % ${action.change} = 0`)
        }
      }
      const listed = await expectRight(projectId)
      for (const offset of [0, 1, 70, 256, listed.length >> 1, listed.length - 1, listed.length]) {
        if (offset < 0) continue
        for (const order of ['-createdAt', 'createdAt'] as const) {
          const { total, end } = await readPage(database.read, projectId, { limit: 1, offset, order })
          const [last, call] = [
            offset >= listed.length - 1,
            (order === 'createdAt' ? listed.toReversed() : listed)[offset],
          ]
          expect({ total, end }).toEqual({
            total: listed.length,
            end: last || !call ? null : { createdAt: call.createdAt, id: call.id },
          })
        }
      }
      await expectCounts(projectId, listed, { from, to: to + 1 })
    }),
    runs(15),
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

function row(projectId: number, call: Pick<Listed, 'createdAt' | 'id'>): typeof calls.$inferInsert {
  const rest = { status: 'live', isEngaged: false, duration: 0, documentChars: 2, changeSeq: 1 } as const
  return { projectId, updatedAt: call.createdAt, ...call, ...rest }
}

/** Compares the counts of a project with its calls, and returns these, newest first. */
async function expectRight(projectId: number): Promise<Listed[]> {
  const listed = await database.read
    .select()
    .from(calls)
    .where(eq(calls.projectId, projectId))
    .orderBy(sql`created_at desc, id desc`)
  expect((await readPage(database.read, projectId, { limit: 0, offset: 0 })).total).toBe(listed.length)
  await expectCounts(projectId, listed, { from: 0, to: 100 * dayMs })
  for (const name of ['evaluation', 'endedReason', 'source', 'agentId'] as const) {
    const counts = await database.read.all(countsOfAllTime(projectId, name))
    const values = Map.groupBy(listed, (call) => JSON.stringify(call[name]))
    expect(counts).toEqual([...values].map(([value, { length }]) => ({ value, calls: length })).sort(byValue))
  }
  return listed
}

async function expectCounts(projectId: number, listed: Listed[], period: Period): Promise<void> {
  const within = listed.filter(({ createdAt }) => createdAt >= period.from && createdAt < period.to)
  const columns = sql`sum(calls) as calls, sum(success) as success, sum(fail) as fail, sum(unevaluated) as unevaluated,
    sum(engaged) as engaged`
  const quarters = await database.read.all(sql`
    select until, ${columns} from (${countsByQuarter(projectId, period)}) group by until order by until`)
  const endOf = ({ createdAt }: Listed, ms: number) => Math.floor(createdAt / ms + 1) * ms
  const byQuarter = Map.groupBy(within, (call) => endOf(call, quarterMs))
  expect(quarters).toEqual(
    [...byQuarter].sort(([a], [b]) => a - b).map(([until, some]) => ({ until, ...naiveCounts(some) })),
  )
  const values: Record<CountedName, (call: Listed) => string | null> = {
    endedReason: ({ endedReason }) => JSON.stringify(endedReason),
    source: ({ source }) => JSON.stringify(source),
    agentId: ({ agentId }) => JSON.stringify(agentId),
    duration: ({ status, duration }) =>
      status === 'live' ? null : `${Math.min(1_800, Math.floor(duration / 10) * 10)}`,
  }
  for (const name of ['endedReason', 'source', 'agentId', 'duration'] as const) {
    const counts = await database.read.all(sql`
      select value, ${columns} from (${countsByValue(projectId, name, period)}) group by value order by value`)
    const byName = Map.groupBy(within, values[name])
    byName.delete(null)
    expect(counts).toEqual(
      [...byName].map(([value, some]) => ({ value: `${value}`, ...naiveCounts(some) })).sort(byValue),
    )
  }
}

function byValue(a: { value: string }, b: { value: string }): number {
  return a.value < b.value ? -1 : 1
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

async function countsOf(projectId: number) {
  return await database.read.select().from(callCounts).where(eq(callCounts.projectId, projectId))
}
