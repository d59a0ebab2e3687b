import { afterAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { countsByDay, pageStart, recount, wrongRanges } from '../../src/calls/ranges.ts'
import { callRanges, calls } from '../../src/db/schema.ts'
import { openFreshDatabase } from '../support/database.ts'
import fc from '../support/fast-check.ts'
import { projectsOf } from '../support/projects.ts'
import { planOf } from '../support/query-plan.ts'

const dayMs = 86_400_000
const callsMax = [0, 256, 4_096, 65_536]

const { database, close } = await openFreshDatabase()
afterAll(close)
const projects = projectsOf(database)

interface Key {
  createdAt: number
  id: string
}

interface Listed extends Key {
  evaluation: string | null
}

test('ranges are split when they are full, however the calls are spread', async () => {
  const projectId = await mint()
  for (const time of [
    '7',
    'value',
    '90000 - value',
    'value * 7919 % 90001',
    'value * 3600000',
    'value % 3',
  ]) {
    await insertMany(projectId, 5_000, time)
    const { ranges } = await expectRight(projectId)
    expect(ranges.filter(({ level, calls }) => calls > (callsMax[level] ?? 0))).toEqual([])
  }
  expect(await callAt(projectId, 29_999)).toMatchObject({ createdAt: 0 })
})

test('a page is found within one range, also of calls of one millisecond', async () => {
  const projectId = await mint()
  await insertMany(projectId, 20_000, '7')
  for (const offset of [0, 9_999, 19_999]) expect((await startAt(projectId, offset))?.skip).toBeLessThan(256)
  expect(await startAt(projectId, 20_000)).toBeUndefined()
  const plan = await planOf(database.file, pageStart(sql`${projectId}`, sql`1`))
  const seeks = plan.split('\n').filter((step) => step.startsWith('SEARCH call_ranges'))
  expect(seeks).toHaveLength(3)
  for (const seek of seeks) expect(seek).toContain('(created_at,id)<(?,?)')
})

test('a key is deleted with its call, and its range becomes part of the next newer one', async () => {
  const projectId = await mint()
  await insertMany(projectId, 66_000, 'value')
  for (const level of [3, 2, 1]) {
    const { ranges } = await expectRight(projectId)
    const ids = ranges.filter((range) => range.level === level && range.id !== '').map(({ id }) => id)
    expect(ids).not.toEqual([])
    await deleteCalls(projectId, `id in ('${ids.join("','")}')`)
    const { ranges: left } = await expectRight(projectId)
    expect(left.filter(({ id }) => ids.includes(id))).toEqual([])
    // A deletion may join two full ranges. Of more than three a quarter would be left.
    expect(left.filter(({ level, calls }) => calls > 3 * (callsMax[level] ?? 0))).toEqual([])
  }
  await deleteCalls(projectId, 'seq % 10 > 0')
  await insertMany(projectId, 6_000, 'value * 11')
  await expectRight(projectId)
  await deleteCalls(projectId, 'true')
  const none = { id: '', calls: 0, success: 0, fail: 0, unevaluated: 0 }
  expect((await expectRight(projectId)).ranges).toMatchObject([none, none, none])
})

test("a project's ranges are its own, and are deleted with it", async () => {
  const [one, two] = [await mint(), await mint()]
  await insertMany(one, 600, 'value')
  await insertMany(two, 300, 'value')
  await deleteCalls(one, 'true')
  expect((await expectRight(two)).listed).toHaveLength(300)
  await database.write.run(sql`delete from projects where id = ${two}`)
  expect((await expectRight(two)).ranges).toEqual([])
})

test('a write that fails counts nothing', async () => {
  const projectId = await mint()
  const insert = () => database.write.insert(calls).values(row(projectId, { id: 'same', createdAt: 0 }))
  const failed = database.write.batch([insert(), insert()])
  expect(await failed.catch((error) => String(error.cause ?? error))).toContain('UNIQUE')
  expect((await expectRight(projectId)).listed).toEqual([])
})

test('a call moves within a range that is too full, because two were joined', async () => {
  const projectId = await mint()
  await insertMany(projectId, 1_000, 'value * 1000')
  const { ranges } = await expectRight(projectId)
  const [, newer, older] = ranges.filter(({ level }) => level === 1)
  for (const key of [newer, older]) await insertMany(projectId, 60, `${key?.createdAt} - value`)
  await deleteCalls(projectId, `id = '${older?.id}'`)
  const { ranges: joined, listed } = await expectRight(projectId)
  const full = joined.find(({ level, calls }) => level === 1 && calls > 256)
  const within = listed.filter(({ createdAt }) => createdAt < (full?.createdAt ?? 0))
  const last = within[(full?.calls ?? 0) - 2]
  await database.write.run(sql`
    update calls set created_at = ${full?.createdAt} - 1 where project_id = ${projectId} and id = ${last?.id}`)
  expect((await expectRight(projectId)).ranges).not.toContainEqual(full)
})

test('ranges that count wrong are found, and made again from the calls', async () => {
  const [one, other] = [await mint(), await mint()]
  await insertMany(other, 300, 'value')
  await insertMany(one, 30_000, 'value * 7919 % 90001')
  const wrong = () => database.read.all<unknown>(sql.raw(wrongRanges))
  for (const spoilt of ['level = 3', 'level = 2 and id > ?', "level = 1 and id = ''"]) {
    expect(await wrong()).toEqual([])
    const where = sql.raw(spoilt.replace('?', "'5'"))
    await database.write.run(sql`
      update call_ranges set calls = calls + 1, fail = fail - 1 where project_id = ${one} and ${where}`)
    expect(await wrong()).toEqual([{ project_id: one }])
    await recount(database.write, one)
    const { ranges } = await expectRight(one)
    expect(ranges.filter(({ level, calls }) => calls > (callsMax[level] ?? 0))).toEqual([])
    await insertMany(one, 3_000, `90000 + ${spoilt.length} * value`)
    await expectRight(one)
  }
  await expectRight(other)
})

/** Few times, so that most are shared; some of them are a day's first and last. */
const time = fc
  .tuple(fc.constantFrom(0, 1, 40), fc.constantFrom(0, 1, 5_000, dayMs - 1))
  .map(([day, ms]) => day * dayMs + ms)
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      insert: fc.array(time, { maxLength: 4 }),
      copies: fc.integer({ min: 1, max: 150 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ remove: fc.integer({ min: 2, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ evaluate: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ move: fc.integer({ min: 1, max: 9 }), to: time }) },
)

test('pages and days are those of an array, whatever is inserted, changed, moved and deleted', async () => {
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
            update calls set evaluation = case seq % 4 when 0 then 'success' when 1 then 'fail' when 2 then 'B' end
            where project_id = ${projectId} and seq % ${action.evaluate} = 0`)
        }
      }
      const { listed } = await expectRight(projectId)
      for (const offset of [0, 1, 70, 256, listed.length >> 1, listed.length - 1, listed.length]) {
        if (offset >= 0) expect(await callAt(projectId, offset)).toEqual(listed[offset])
      }
      const period = { from, to: to + 1 }
      expect(await daysOf(projectId, period)).toEqual(naiveDays(listed, period))
    }),
    { numRuns: 25 },
  )
})

let minted = 0
async function mint(): Promise<number> {
  return (await projects.create(`project ${++minted}`)).projectId
}

/** @param time SQL of `value`, which is 1 and more */
async function insertMany(projectId: number, count: number, time: string): Promise<void> {
  await database.write.run(sql`
    insert into calls (project_id, id, created_at, updated_at, status, evaluation, is_engaged, duration, document_chars,
      change_seq)
    select ${projectId}, ${time} || '-' || (value * 7919 % 100003), ${sql.raw(time)}, 0, 'live',
      case value % 4 when 0 then 'success' when 1 then 'fail' when 2 then 'B' end, false, 0, 2, 1
    from generate_series(1, ${count})`)
}

async function deleteCalls(projectId: number, condition: string): Promise<void> {
  await database.write.delete(calls).where(sql`project_id = ${projectId} and ${sql.raw(condition)}`)
}

function row(projectId: number, call: Key): typeof calls.$inferInsert {
  const rest = { status: 'live', isEngaged: false, duration: 0, documentChars: 2, changeSeq: 1 } as const
  return { projectId, updatedAt: call.createdAt, ...call, ...rest }
}

/** Compares every range with the calls themselves. Returns both, newest first. */
async function expectRight(projectId: number) {
  const listed: Listed[] = await database.read
    .select({ createdAt: calls.createdAt, id: calls.id, evaluation: calls.evaluation })
    .from(calls)
    .where(eq(calls.projectId, projectId))
    .orderBy(sql`created_at desc, id desc`)
  const ranges = await database.read
    .select()
    .from(callRanges)
    .where(eq(callRanges.projectId, projectId))
    .orderBy(sql`level, created_at desc, id desc`)
  const [lowest = [], ...others] = [1, 2, 3].map((level) => ranges.filter((range) => range.level === level))
  expect(lowest).toEqual(cut(listed, lowest).map(({ range, part }) => ({ ...range, ...countsOf(part) })))
  let below = lowest
  for (const level of others) {
    expect(level).toEqual(cut(listed, level).map(({ range, part }) => ({ ...range, calls: part.length })))
    const keys = new Set(below.map(({ createdAt, id }) => `${createdAt} ${id}`))
    expect(level.filter(({ createdAt, id }) => !keys.has(`${createdAt} ${id}`))).toEqual([])
    below = level
  }
  return { listed, ranges }
}

/** The calls of each range: from its key down to the next key. */
function cut<Range extends Key>(listed: Listed[], ranges: Range[]): { range: Range; part: Listed[] }[] {
  const parts = ranges.map((range) => ({ range, part: [] as Listed[] }))
  let at = 0
  for (const call of listed) {
    for (let next = ranges[at + 1]; next && !isNewer(call, next); next = ranges[at + 1]) at++
    parts[at]?.part.push(call)
  }
  return parts
}

function isNewer(call: Key, key: Key): boolean {
  return call.createdAt === key.createdAt ? call.id > key.id : call.createdAt > key.createdAt
}

function countsOf(some: Listed[]) {
  const count = (evaluation: string | null) => some.filter((call) => call.evaluation === evaluation).length
  return { calls: some.length, success: count('success'), fail: count('fail'), unevaluated: count(null) }
}

async function startAt(projectId: number, offset: number) {
  const start = pageStart(sql`${projectId}`, sql`${offset}`)
  const [row] = await database.read.all<{ created_at: number; id: string; skip: number }>(start)
  return row
}

async function callAt(projectId: number, offset: number): Promise<Listed | undefined> {
  const start = await startAt(projectId, offset)
  if (!start) return undefined
  const [call] = await database.read.all<Listed>(sql`
    select created_at as createdAt, id, evaluation from calls
    where project_id = ${projectId} and (created_at, id) <= (${start.created_at}, ${start.id})
    order by created_at desc, id desc limit 1 offset ${start.skip}`)
  return call
}

async function daysOf(projectId: number, period: { from: number; to: number }) {
  return await database.read.all(sql`
    select day, sum(calls) as calls, sum(success) as success, sum(fail) as fail, sum(unevaluated) as unevaluated
    from (${countsByDay(projectId, { ...period, ahead: 0 })}) group by day order by day`)
}

function naiveDays(listed: Listed[], { from, to }: { from: number; to: number }) {
  const within = listed.filter(({ createdAt }) => createdAt >= from && createdAt < to)
  const byDay = Map.groupBy(within, ({ createdAt }) => Math.floor(createdAt / dayMs))
  return [...byDay].sort(([a], [b]) => a - b).map(([day, some]) => ({ day, ...countsOf(some) }))
}
