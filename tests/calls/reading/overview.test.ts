import { describe, expect, test } from 'bun:test'
import type { CallChange } from '../../../src/calls/schemas.ts'
import { readDays } from '../../support/days.ts'
import { startService } from '../../support/service.ts'
import { putCalls } from '../put-calls.ts'

const day = 86_400_000
const start = Date.UTC(2026, 0, 1)

const service = await startService()

type Input = CallChange & { id: string }

async function projectWith(inputs: Input[]): Promise<number> {
  const { projectId } = await service.mintProject()
  await putCalls(service.services, projectId, inputs)
  return projectId
}

function iso(time: number): string {
  return new Date(time).toISOString()
}

const nothing = { data: [], others: { values: 0, calls: 0 } }
const january = { from: iso(start), to: iso(start + 31 * day), before: iso(start - 31 * day) }

/** Completed calls on the period's first day, one for each duration. */
function lasting(...durations: number[]): Input[] {
  return durations.map((duration, n) => ({
    id: `d${n}`,
    status: 'completed',
    duration,
    createdAt: iso(start + n),
  }))
}

describe('the figures', () => {
  test('are those of the period, beside those of the one before it', async () => {
    const before = iso(start - 31 * day)
    const projectId = await projectWith([
      {
        id: '1',
        createdAt: january.from,
        status: 'completed',
        duration: 10,
        evaluation: 'success',
        isEngaged: true,
      },
      { id: '2', createdAt: iso(start + day), status: 'completed', duration: 40, evaluation: 'fail' },
      {
        id: '3',
        createdAt: iso(start + day),
        status: 'completed',
        duration: 20,
        evaluation: 'B+',
        isEngaged: true,
      },
      { id: '4', createdAt: iso(start + 31 * day - 1), duration: 99, isEngaged: true },
      { id: 'after', createdAt: january.to, status: 'completed', duration: 1_000, evaluation: 'success' },
      { id: 'b1', createdAt: before, status: 'completed', duration: 5, evaluation: 'success' },
      { id: 'b2', createdAt: iso(start - 1), status: 'completed', duration: 6 },
      {
        id: 'b3',
        createdAt: iso(start - 31 * day - 1),
        status: 'completed',
        duration: 7,
        evaluation: 'fail',
      },
    ])
    expect(await service.services.overview.figures(projectId, january)).toEqual({
      calls: { value: 4, before: 2 },
      successRate: { value: 1 / 2, before: 1 },
      medianDuration: { value: 20, before: 5.5 },
      // Of the calls of which it is known.
      engagement: { value: 1, before: null },
    })
  })

  test('are compared with the days from the instant that is named, which may be an hour more or less', async () => {
    const hour = 3_600_000
    const projectId = await projectWith(
      [-7 * day - hour, -7 * day, -7 * day + hour - 1, -1].map((before, n) => ({
        id: `${n}`,
        createdAt: iso(start + before),
      })),
    )
    const { overview } = service.services
    const week = { from: iso(start), to: iso(start + 7 * day) }
    const callsSince = async (before: number) =>
      (await overview.figures(projectId, { ...week, before: iso(start + before) })).calls.before
    expect(await callsSince(-7 * day - hour)).toBe(4)
    expect(await callsSince(-7 * day)).toBe(3)
    expect(await callsSince(-7 * day + hour)).toBe(1)
    for (const before of ['', 'yesterday', week.from, iso(start - 366 * day - hour - 1)]) {
      const error = await overview.figures(projectId, { ...week, before }).catch((error) => error)
      expect(error.errors?.map(({ field }: { field: string }) => field)).toEqual(['before'])
    }
  })

  test('of nothing are none, not zero', async () => {
    const projectId = await projectWith([{ id: 'live', createdAt: iso(start) }])
    const other = await projectWith([])
    expect(await service.services.overview.figures(projectId, january)).toEqual({
      calls: { value: 1, before: 0 },
      successRate: { value: null, before: null },
      medianDuration: { value: null, before: null },
      engagement: { value: null, before: null },
    })
    expect(await service.services.overview.figures(other, january)).toMatchObject({
      calls: { value: 0, before: 0 },
      engagement: { value: null, before: null },
    })
  })

  test.each([
    [[7.25], 7.25],
    [[3, 1], 2],
    [[5, 1, 100], 5],
    [[0.1, 0.2], 0.15000000000000002],
    [[2, 2, 2, 9], 2],
    [Array.from({ length: 1_001 }, (_, n) => ((n * 7_919) % 1_001) / 8), 62.5],
  ])('have the median of %p', async (durations, median) => {
    const projectId = await projectWith(lasting(...durations))
    const { medianDuration } = await service.services.overview.figures(projectId, january)
    expect(medianDuration.value).toBe(median)
  })
})

describe('the days', () => {
  test('are all there, in UTC, each with its calls by evaluation', async () => {
    const projectId = await projectWith([
      { id: '1', createdAt: iso(start), evaluation: 'success' },
      { id: '2', createdAt: iso(start + day - 1), evaluation: 'fail' },
      { id: '3', createdAt: iso(start + day - 1), evaluation: 'B+' },
      { id: '4', createdAt: iso(start + 3 * day) },
      { id: '5', createdAt: iso(start + 3 * day), evaluation: 'success' },
      { id: 'before', createdAt: iso(start - 1), evaluation: 'success' },
    ])
    const none = { success: 0, fail: 0, other: 0, unevaluated: 0 }
    const days = await readDays(service.services, projectId, { from: iso(start), to: iso(start + 4 * day) })
    expect(days).toEqual([
      { day: '2026-01-01', ...none, success: 1, fail: 1, other: 1 },
      { day: '2026-01-02', ...none },
      { day: '2026-01-03', ...none },
      { day: '2026-01-04', ...none, success: 1, unevaluated: 1 },
    ])
  })

  test('are those of a time zone, also where its clocks change', async () => {
    const at = ['2026-03-28T22:59Z', '2026-03-28T23:00Z', '2026-03-29T21:59Z', '2026-03-29T22:00Z']
    const projectId = await projectWith(at.map((createdAt, n) => ({ id: `${n}`, createdAt })))
    // From midnight to midnight in Berlin, with the day of 23 hours between.
    const period = { from: '2026-03-27T23:00:00Z', to: '2026-03-30T22:00:00Z', timeZone: 'Europe/Berlin' }
    const days = await readDays(service.services, projectId, period)
    expect(days.map(({ day, unevaluated }) => [day, unevaluated])).toEqual([
      ['2026-03-28', 1],
      ['2026-03-29', 2],
      ['2026-03-30', 1],
    ])
    // All of a year, with the day of 25 hours; and clocks that change by half an hour.
    const year = { from: '2026-01-01T00:00:00+01:00', to: '2027-01-01T00:00:00+01:00' }
    const edges = ['2026-10-24T21:59Z', '2026-10-24T22:00Z', '2026-10-25T22:59Z', '2026-10-25T23:00Z']
    await putCalls(
      service.services,
      projectId,
      edges.map((createdAt, n) => ({ id: `autumn ${n}`.replace(' ', '-'), createdAt })),
    )
    const all = await readDays(service.services, projectId, { ...year, timeZone: 'Europe/Berlin' })
    expect(all).toHaveLength(365)
    const busy = all.flatMap(({ day, unevaluated }) => (unevaluated > 0 ? [[day.slice(5), unevaluated]] : []))
    expect(busy).toEqual([
      ['03-28', 1],
      ['03-29', 2],
      ['03-30', 1],
      ['10-24', 1],
      ['10-25', 2],
      ['10-26', 1],
    ])
    const lordHowe = {
      from: '2026-04-03T13:00:00Z',
      to: '2026-04-06T13:30:00Z',
      timeZone: 'Australia/Lord_Howe',
    }
    expect((await readDays(service.services, projectId, lordHowe)).map(({ day }) => day)).toEqual([
      '2026-04-04',
      '2026-04-05',
      '2026-04-06',
    ])
  })

  test('begin and end in the middle of a day when the period does', async () => {
    const projectId = await projectWith(
      [0, 6, 12, 18, 24, 30, 36].map((hour) => ({ id: `${hour}`, createdAt: iso(start + hour * 3_600_000) })),
    )
    const period = { from: iso(start + 12 * 3_600_000), to: iso(start + 30 * 3_600_000) }
    const days = await readDays(service.services, projectId, period)
    expect(days.map(({ day, unevaluated }) => [day, unevaluated])).toEqual([
      ['2026-01-01', 2],
      ['2026-01-02', 1],
    ])
  })
})

describe('the durations', () => {
  test('are counted in buckets that leave none out, live calls not among them', async () => {
    const projectId = await projectWith([
      ...lasting(0, 9.999, 10, 29, 30, 59.5, 60, 299, 300, 1_799, 1_800, 86_400),
      { id: 'live', createdAt: iso(start), duration: 5 },
    ])
    const { data: buckets } = await service.services.overview.durations(projectId, january)
    expect(buckets.map(({ from, to, calls }) => [from, to, calls])).toEqual([
      [0, 10, 2],
      [10, 30, 2],
      [30, 60, 2],
      [60, 120, 1],
      [120, 180, 0],
      [180, 300, 1],
      [300, 600, 1],
      [600, 1_200, 0],
      [1_200, 1_800, 1],
      [1_800, null, 2],
    ])
  })
})

describe('the end reasons', () => {
  test('are the hundred most frequent, and how many others there are', async () => {
    // Of the reasons 0 to 102: 3 calls each of the first two, 2 of the third, 1 of each other.
    const reasons = [0, 0, 0, 1, 1, 1, 2, 2, ...Array.from({ length: 100 }, (_, n) => n + 3)]
    const nameOf = (reason: number) => (reason === 2 ? null : `reason ${String(reason).padStart(3, '0')}`)
    const projectId = await projectWith(
      reasons.map((reason, n) => ({ id: `${n}`, createdAt: iso(start), endedReason: nameOf(reason) })),
    )
    const { data, others } = await service.services.overview.endReasons(projectId, january)
    expect(data).toEqual(
      Array.from({ length: 100 }, (_, reason) => ({ value: nameOf(reason), calls: [3, 3, 2][reason] ?? 1 })),
    )
    expect(others).toEqual({ values: 3, calls: 3 })
    expect(await service.services.overview.endReasons(await projectWith([]), january)).toEqual(nothing)
  })
})

describe('the origins', () => {
  test('are the platforms and agents of the period with their failures, the most failures first', async () => {
    const at = (days: number) => ({ createdAt: iso(start + days * day) })
    const by = (id: string, name: string | null) => ({ details: { agent: { id, name } } })
    const projectId = await projectWith([{ id: 'unnamed', ...at(1), evaluation: 'fail' }])
    const put = (id: string, event: object, source: string) =>
      service.services.ingest.putEvent(projectId, id, event, source)
    await put('1', { ...at(1), ...by('a', 'Ada'), evaluation: 'success' }, 'vapi')
    await put('2', { ...at(2), ...by('a', 'Ada L.') }, 'vapi')
    await put('3', { ...at(3), ...by('b', null), evaluation: 'fail' }, 'retell')
    await put('later', { ...at(31), ...by('c', null) }, 'bland')
    expect(await service.services.overview.origins(projectId, january)).toEqual({
      sources: {
        ...nothing,
        data: [
          { value: 'retell', name: null, calls: 1, failed: 1 },
          { value: 'vapi', name: null, calls: 2, failed: 0 },
        ],
      },
      agents: {
        ...nothing,
        data: [
          { value: 'b', name: null, calls: 1, failed: 1 },
          { value: 'a', name: 'Ada L.', calls: 2, failed: 0 },
        ],
      },
    })
    expect(await service.services.overview.origins(await projectWith([]), january)).toEqual({
      sources: nothing,
      agents: nothing,
    })
  })

  test('are at most a hundred of each, and how many others there are', async () => {
    const projectId = await projectWith(
      Array.from({ length: 104 }, (_, n) => ({
        id: `${n}`,
        createdAt: iso(start),
        details: { agent: { id: `agent ${String(Math.min(n, 102)).padStart(3, '0')}` } },
      })),
    )
    const { agents } = await service.services.overview.origins(projectId, january)
    expect([agents.data.length, agents.data[0]?.value]).toEqual([100, 'agent 102'])
    expect(agents.others).toEqual({ values: 3, calls: 3 })
  })
})

describe('every part of the overview', () => {
  test("counts no other project's calls, and none that was deleted", async () => {
    const input: Input = {
      id: 'a',
      createdAt: iso(start),
      status: 'completed',
      duration: 70,
      evaluation: 'success',
      endedReason: 'x',
    }
    const [one, two] = [await projectWith([input, { ...input, id: 'b' }]), await projectWith([input])]
    await service.services.calls.delete(one, 'b')
    for (const projectId of [one, two]) {
      const { figures, days, durations, endReasons } = await all(projectId)
      expect(figures.calls.value).toBe(1)
      expect(days.reduce((sum, { success }) => sum + success, 0)).toBe(1)
      expect(durations.reduce((sum, { calls }) => sum + calls, 0)).toBe(1)
      expect(endReasons).toEqual({ ...nothing, data: [{ value: 'x', calls: 1 }] })
    }
  })

  test('adds up to the same number of calls, of whatever kind they are', async () => {
    const projectId = await projectWith(
      Array.from({ length: 700 }, (_, n) => ({
        id: `${n}`,
        createdAt: iso(start + ((n * 7_919) % 31) * day + n),
        status: 'completed',
        duration: (n * 31) % 2_500,
        evaluation: [null, 'success', 'fail', 'B+'][n % 4] ?? null,
        endedReason: `reason ${n % 17}`,
      })),
    )
    const { figures, days, durations, endReasons } = await all(projectId)
    const ofDays = days.reduce((sum, row) => sum + row.success + row.fail + row.other + row.unevaluated, 0)
    expect([figures.calls.value, ofDays]).toEqual([700, 700])
    expect(durations.reduce((sum, { calls }) => sum + calls, 0)).toBe(700)
    expect(endReasons.data.reduce((sum, { calls }) => sum + calls, 0)).toBe(700)
  })

  test.each([
    [{ from: 'yesterday', to: january.to }, ['from']],
    [{ from: '', to: '2026-13-01T00:00:00Z' }, ['from', 'to']],
    [{ from: january.to, to: january.from }, ['to']],
    [{ from: january.from, to: january.from }, ['to']],
    [{ from: january.from, to: iso(start + 366 * day + 3_600_001) }, ['to']],
  ])('refuses the period %p', async (period, fields) => {
    const { overview } = service.services
    for (const verb of ['figures', 'durations', 'endReasons'] as const) {
      const error = await overview[verb](1, { ...period, before: january.before }).catch((error) => error)
      expect(error.code).toBe('invalid_request')
      expect(error.errors.map(({ field }: { field: string }) => field)).toEqual(fields)
    }
  })

  test('takes a leap year as a whole', async () => {
    const period = { from: '2028-01-01T00:00:00Z', to: '2029-01-01T00:00:00Z' }
    const days = await readDays(service.services, await projectWith([]), period)
    expect(days).toHaveLength(366)
  })

  async function all(projectId: number) {
    const { overview } = service.services
    const [figures, days, durations, endReasons] = await Promise.all([
      overview.figures(projectId, january),
      readDays(service.services, projectId, january),
      overview.durations(projectId, january),
      overview.endReasons(projectId, january),
    ])
    return { figures, days, durations: durations.data, endReasons }
  }
})
