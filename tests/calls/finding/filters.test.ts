import { describe, expect, test } from 'bun:test'
import { readCallSearch } from '../../../src/calls/finding/call-query.ts'
import { CallFinder } from '../../../src/calls/finding/find-calls.ts'
import { timeOrders } from '../../../src/calls/finding/place.ts'
import type { Call, CallChange } from '../../../src/calls/schemas.ts'
import { escapeValue } from '../../../src/text/values.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { startService } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'
import { isListed, isFound as isSaid, type KnownCall, wordsSaid } from '../rules.ts'

const service = await startService()

type Query = Record<string, string[]>

const readCursor = () => undefined

const time = (hour: number) => new Date(Date.UTC(2026, 0, 5, hour)).toISOString()
const numbers = [null, '+15551', '+1 (555) 2', '5551', 'anonymous', '+2-15.55/1']
/** Fewer runs than asked for would be a failure, not a pass that shows little. */
const propertyTimeoutMs = 240_000
const few = <Value>(values: readonly Value[]) => fc.constantFrom(...values)

/** Few values of each field, so that filters find some calls. */
const step = (agentId: string) => ({ atSeconds: 1, kind: 'other' as const, agentId })
const change: fc.Arbitrary<CallChange> = fc.record({
  status: few(['live', 'completed']),
  evaluation: few([null, 'success', 'fail', 'B,x']),
  endedReason: few([null, 'a', 'b']),
  isEngaged: fc.boolean(),
  callerNumber: few(numbers),
  calledNumber: few(numbers),
  duration: few([0, 1, 1.5, 60]),
  details: few([
    {},
    { agent: null },
    { agent: { id: 'x', name: null } },
    { agent: { id: 'y', name: 'Y' } },
  ]).chain((details) =>
    few([{}, { timeline: null }, { timeline: [step('y')] }, { timeline: [step('z'), step('none')] }]).map(
      (timeline) => ({ ...details, ...timeline }),
    ),
  ),
  callAnalysis: few([null, {}, { k: 'x' }, { k: 4, l: true }, { k: '4', l: [1] }, { k: 'true', l: false }]),
  summary: few([null, 'alpha', 'beta', 'alpha beta', 'gamma', 'alphabet']),
  updatedAt: few([3, 4, 5]).map(time),
})
const created: fc.Arbitrary<CallChange> = fc
  .tuple(change, few([1, 2, 3]))
  .map(([change, hour]) => ({ ...change, createdAt: time(hour) }))

const some = (...values: string[]) => fc.uniqueArray(few(values), { minLength: 1, maxLength: 2 })
const one = (...values: string[]) => few(values).map((value) => [value])

const filters: Record<string, fc.Arbitrary<string[]>> = {
  status: some('live', 'completed'),
  evaluation: some('none', 'success', 'B,x', 'other'),
  endedReason: some('none', 'a', 'b'),
  isEngaged: some('true', 'false'),
  from: one(time(1), time(2)),
  to: one(time(2), time(3)),
  updatedFrom: one(time(4), time(5)),
  minDuration: one('0', '1', '1.5'),
  maxDuration: one('1', '60'),
  callerNumber: some('+15551', '5551', '15551'),
  calledNumber: some('+1 (555) 2', 'anonymous'),
  number: one('1', '555', '15552', '+15551', '2155'),
  agentId: some('x', 'y', 'z', 'none'),
  source: some('from 1', 'from 60', 'none'),
  label: some('alpha', 'beta', 'delta', 'none'),
  reviewed: some('true', 'false'),
  flagged: some('true', 'false'),
  text: one('alpha', 'beta', 'alpha beta', 'beta alp', 'gam', 'delta'),
  'analysis.k': some('x', '4', '4.0', 'true'),
  'analysis.l': some('true', 'false', '1'),
}
/** Few filters at once: hardly any call meets many. */
const query: fc.Arbitrary<Query> = fc
  .subarray(Object.entries(filters), { maxLength: 3 })
  .chain((chosen) => fc.record(Object.fromEntries(chosen)))

/** What the service says of the calls of these tests beside their fields. */
function ownOf({ duration, summary }: Call) {
  const labels = summary?.split(' ') ?? []
  const review = {
    evaluation: null,
    note: null,
    by: null,
    at: time(1),
    labels,
    reviewed: labels.includes('alpha'),
  }
  return { source: duration === 0 ? null : `from ${duration}`, review }
}

describe('a list of calls', () => {
  test(
    'is what a look at each call finds, in every order, by pages, while calls change',
    async () => {
      const write = fc.tuple(
        few(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']),
        fc.option(created),
      )
      const plan = fc.record({
        calls: fc.array(created, { minLength: 3, maxLength: 12 }),
        query,
        order: few([...timeOrders]),
        limit: few([1, 2, 5]),
        writes: fc.array(write, { maxLength: 6 }),
        // So few that each way to find calls is gone.
        counted: few([0, 2, 10_000]),
        least: few([1, 2, 2_000]),
        most: few([0, 2, 4, 2_000]),
      })
      await fc.assert(
        fc.asyncProperty(plan, async ({ calls, query, order, limit, writes, counted, least, most }) => {
          const project = await service.mintProject()
          const stored = new Map<string, Call>()
          const details = new Map<string, NonNullable<CallChange['details']>>()
          const isFound = (call: Call) =>
            isListed(
              { call, details: { ...details.get(call.id), ...ownOf(call) } as KnownCall['details'] },
              query,
            )
          /** Of so many calls with the whole words, those that have only a beginning of one are left out. */
          const isFoundHere = (call: Call) => {
            const { text = [] } = query
            const whole = (each: Call) =>
              text.some((words) => isSaid(wordsSaid(each), words, { asWhole: true }))
            return (
              isFound(call) &&
              (!query.text || [...stored.values()].filter(whole).length <= counted || whole(call))
            )
          }
          const put = async (id: string, change: CallChange) => {
            const answer = await project.send('PUT', `/ingest/calls/${id}`, change)
            if (!answer.ok) return
            const call: Call = await answer.json()
            stored.set(id, call)
            const own = ownOf(call)
            const { updatedAt } = call
            await service.services.ingest.putAll(project.projectId, [{ id, change: { updatedAt }, own }])
            details.set(id, { ...details.get(id), ...change.details })
          }
          await Promise.all(calls.map((call, n) => put('abcdefghijkl'[n] ?? '', call)))
          const escaped = Object.entries(query).map(([name, values]) => [name, values.map(escapeValue)])
          const asked = { ...Object.fromEntries(escaped), order: [order] }
          const search = readCallSearch(asked, { orders: timeOrders, readCursor }, [])
          const finder = () =>
            new CallFinder(service.services.database.readInBackground, project.projectId, search, {
              limits: { listed: counted, slices: { first: least, most: Math.max(1, most) } },
            })
          let last: Call | undefined
          for (let isOver = false; !isOver; ) {
            const matching = [...stored.values()].filter(isFoundHere).sort(inOrder(order))
            const expected = matching
              .filter((call) => !last || inOrder(order)(call, last) > 0)
              .slice(0, limit)
            const after = last && {
              createdAt: Date.parse(last.createdAt),
              id: last.id,
            }
            // Words that wait are found, but not counted among the whole words.
            if (query.text && counted < 10_000) await service.services.wordBacklog.finish()
            const found = await finder().places(limit, { ...(after ? { after } : {}) })
            expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
            const counts =
              Object.keys(query).length === 0 ? matching.length : Math.min(matching.length, counted + 1)
            expect(await finder().count(counted)).toBe(counts)
            const counting = finder()
            const skipped = await counting.places(limit, { offset: 2 })
            expect(skipped.map(({ id }) => id)).toEqual(matching.slice(2, 2 + limit).map(({ id }) => id))
            // Another limit, so that what is kept does not answer.
            expect(await counting.count(counted + 1)).toBe(
              Object.keys(query).length === 0 ? matching.length : Math.min(matching.length, counted + 2),
            )
            last = expected.at(-1) ?? last
            const [id, change] = writes.pop() ?? []
            if (id && change) await put(id, change)
            else if (id && stored.delete(id)) await service.services.calls.delete(project.projectId, id)
            isOver = expected.length < limit
          }
        }),
        { ...runs(25), interruptAfterTimeLimit: propertyTimeoutMs / 2, markInterruptAsFailure: true },
      )
    },
    propertyTimeoutMs,
  )

  test('has a call once when several values mean the same', async () => {
    const project = await service.mintProject()
    const reason = 'r'.repeat(200)
    const call = { id: 'a', callerNumber: '+1555', endedReason: `${reason}a`, callAnalysis: { k: 4 } }
    await putCalls(service.services, project.projectId, [call])
    for (const query of [
      'callerNumber=+1555,%2B1555',
      `endedReason=${reason}a,${reason}b`,
      'analysis.k=4,4.0',
    ]) {
      const { data, pagination } = await (await project.fetch(`/v1/calls?${query}`)).json()
      expect([query, data.length, pagination.total]).toEqual([query, 1, 1])
    }
  })
})

function inOrder(order: string): (a: Call, b: Call) => number {
  const sign = order.startsWith('-') ? -1 : 1
  const fields = ['createdAt', 'id'] as const
  return (a, b) => {
    const field = fields.find((field) => a[field] !== b[field])
    return !field ? 0 : a[field] < b[field] ? -sign : sign
  }
}
