import { describe, expect, test } from 'bun:test'
import type { SQL } from 'drizzle-orm'
import { type CallSearch, readCallSearch } from '../../../src/calls/finding/call-query.ts'
import { hasId } from '../../../src/calls/finding/conditions.ts'
import { CallFinder } from '../../../src/calls/finding/find-calls.ts'
import { newestFirst, timeOrders } from '../../../src/calls/finding/place.ts'
import { slicesOf } from '../../../src/calls/finding/scan.ts'
import { readWordQuery } from '../../../src/calls/finding/word-query.ts'
import { readRows } from '../../../src/db/store.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { recording } from '../../support/query-plan.ts'
import { startService } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'

const service = await startService()

const few = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
const quarterMs = 900_000
const iso = (quarter: number) => new Date(Date.UTC(2026, 0, 1) + quarter * quarterMs).toISOString()
const call = fc.record({
  createdAt: few(0, 0.5, 1, 1.5, 2, 400, 40_000).map(iso),
  occurredAt: few(1, 2, 2.5, 401).map(iso),
  status: few('live' as const, 'completed' as const),
  evaluation: few(null, 'success', 'fail'),
  duration: few(0, 1, 60),
  summary: few(null, 'alpha', 'alphabet', 'alpha beta', 'beta'),
  callerNumber: few(null, '+15551', '+15552'),
  callAnalysis: few({}, { k: 1 }, { k: '1' }),
})
const filters: Record<string, fc.Arbitrary<string[]>> = {
  status: few(['live'], ['live', 'completed']),
  evaluation: few(['none'], ['success', 'fail']),
  minDuration: few(['1']),
  number: few(['1555']),
  'analysis.k': few(['1']),
  text: few(['alpha'], ['beta al']),
  from: few([iso(0.5)], [iso(1)]),
  to: few([iso(1.5)], [iso(401)]),
  completedFrom: few([iso(1)], [iso(2.2)]),
  completedTo: few([iso(2.2)], [iso(401)], [iso(50_000)]),
}
const plan = fc.record({
  calls: fc.array(call, { minLength: 3, maxLength: 12, size: 'max' }),
  query: fc
    .subarray(Object.entries(filters), { maxLength: 3 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen))),
  counted: few(0, 2, 5, 10_000),
  slice: few(1, 2, 5),
})

test('slices have each call that is found once, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ calls, query, counted, slice }) => {
      const { projectId } = await service.mintProject()
      await putCalls(
        service.services,
        projectId,
        calls.map((call, n) => ({ ...call, id: `${n}` })),
      )
      await service.services.wordBacklog.finish()
      const orders = { orders: ['createdAt'], readCursor: () => undefined } as const
      const search = readCallSearch({ ...query, order: 'createdAt' }, orders, [])
      const db = service.services.database.readInBackground
      const limits = { listed: counted, slices: { first: 1, most: 2 } }
      const finder = new CallFinder(db, projectId, search, { limits })
      const read = readRows(db)
      const sliced: number[] = []
      for await (const part of slicesOf(await finder.scan(), read, slice)) {
        const rows = await read(`select calls.seq ${part.sql}`, part.params)
        sliced.push(...rows.map(([seq]) => Number(seq)))
      }
      const found = await finder.places(calls.length + 1)
      expect(sliced.sort((a, b) => a - b)).toEqual(found.map(({ seq }) => seq).sort((a, b) => a - b))
    }),
    runs(40),
  )
})

describe('the queries of a page and its total', () => {
  const search = readCallSearch(
    { evaluation: 'fail' },
    { orders: timeOrders, readCursor: () => undefined },
    [],
  )

  /** 400 calls, of which one in twenty failed. */
  async function mint() {
    const { projectId } = await service.mintProject()
    const calls = Array.from({ length: 400 }, (_, n) => {
      return { id: `${n}`, createdAt: iso(n), evaluation: n % 20 === 0 ? 'fail' : 'success' }
    })
    await putCalls(service.services, projectId, calls)
    return projectId
  }

  const queries: SQL[] = []
  const db = recording(service.services.database.readInBackground, queries)
  const { read } = service.services.database
  const limits = { listed: 10_000, slices: { first: 10, most: 10 } }
  const finderOf = (projectId: number, search: CallSearch) =>
    new CallFinder(db, projectId, search, { limits, read })

  /** How many queries `ask` takes. */
  async function queriesOf(ask: () => Promise<void>): Promise<number> {
    const before = queries.length
    await ask()
    return queries.length - before
  }

  test('look through the calls once', async () => {
    const counting = finderOf(await mint(), search)
    const counted = await queriesOf(async () => expect(await counting.count()).toBe(20))
    const paging = finderOf(await mint(), search)
    const paged = await queriesOf(async () => {
      expect(await paging.places(8)).toHaveLength(8)
      expect(await paging.count()).toBe(20)
    })
    expect(paged).toBeLessThanOrEqual(counted + 2)
    const last = finderOf(await mint(), search)
    expect(await last.places(5, { offset: 18 })).toHaveLength(2)
    expect(await queriesOf(async () => expect(await last.count()).toBe(20))).toBe(0)
  })

  test('count anew only once something has changed', async () => {
    const projectId = await mint()
    const count = (calls: number) =>
      queriesOf(async () => expect(await finderOf(projectId, search).count()).toBe(calls))
    const first = await count(20)
    expect(await count(20)).toBe(0)
    await putCalls(service.services, projectId, [{ id: '1', evaluation: 'fail' }])
    expect(await count(21)).toBe(first)
    expect(await count(21)).toBe(0)
  })

  test('are one for a word that few calls have', async () => {
    const projectId = await mint()
    await putCalls(service.services, projectId, [
      { id: '7', summary: 'Rarely' },
      { id: '9', summary: 'rare' },
    ])
    await service.services.wordBacklog.finish()
    for (const [conditions, ids] of [
      [[], ['9', '7']],
      [[hasId(['9'])], ['9']],
    ] as const) {
      const words = [readWordQuery('rare') ?? []].flat()
      const finder = finderOf(projectId, { conditions, words, order: newestFirst })
      const ask = async () => {
        expect((await finder.places(5)).map(({ id }) => id)).toEqual([...ids])
        expect(await finder.count()).toBe(ids.length)
      }
      expect(await queriesOf(ask)).toBe(1)
    }
  })

  test('are one without filters, however many calls there are', async () => {
    const all = finderOf(await mint(), { conditions: [], order: newestFirst })
    expect(await queriesOf(async () => expect(await all.places(50)).toHaveLength(50))).toBe(1)
  })
})
