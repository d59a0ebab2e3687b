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

const january = { from: iso(start), to: iso(start + 31 * day) }

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
  test('are counted in groups that leave none out, live calls not among them', async () => {
    const durations = [0, 9.999, 10, 29, 30, 59.5, 60, 299, 300, 1_799, 1_800, 86_400]
    const projectId = await projectWith([
      ...durations.map((duration, n) => ({
        id: `d${n}`,
        status: 'completed' as const,
        duration,
        createdAt: iso(start + n),
      })),
      { id: 'live', createdAt: iso(start), duration: 5 },
    ])
    const { figures } = service.services
    const { data } = await figures.read(projectId, { ...january, by: 'duration' })
    expect(data.map(({ key, calls }) => [key, calls])).toEqual([
      ['0', 2],
      ['10', 2],
      ['30', 2],
      ['60', 1],
      ['120', 0],
      ['180', 1],
      ['300', 1],
      ['600', 0],
      ['1200', 1],
      ['1800', 2],
    ])
    // Each has the calls that the list finds.
    const listed = await figures.read(projectId, {
      ...january,
      status: 'completed',
      minDuration: '10',
      maxDuration: String(30 * (1 - Number.EPSILON / 2)),
    })
    expect(listed.total).toBe(2)
    const pairs = await figures.read(projectId, { ...january, by: 'duration,evaluation' })
    expect(pairs.data.map(({ keys }) => keys)).toEqual(
      ['0', '10', '30', '60', '180', '300', '1200', '1800'].map((key) => [key, 'none']),
    )
    expect((await figures.read(await projectWith([]), { by: 'duration' })).data).toEqual([])
  })
})

test('a leap year has all of its days', async () => {
  const period = { from: '2028-01-01T00:00:00Z', to: '2029-01-01T00:00:00Z' }
  expect(await readDays(service.services, await projectWith([]), period)).toHaveLength(366)
})
