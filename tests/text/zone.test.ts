import { expect, test } from 'bun:test'
import { clockOf, partsOf } from '../../src/text/zone.ts'

const hourMs = 3_600_000

test('a period is cut at every change of a clock, also of two within a week', () => {
  const partsIn = (zone: string, from: string, to: string) => {
    const aheadAt = clockOf(zone)
    if (!aheadAt) throw new Error(`No clock of ${zone}`)
    return partsOf({ from: Date.parse(from), to: Date.parse(to) }, aheadAt).map(
      ({ from, ahead }) => `${new Date(from).toISOString()} ${ahead / hourMs}`,
    )
  }
  expect(partsIn('America/Boa_Vista', '2000-01-01', '2001-01-01')).toEqual([
    '2000-01-01T00:00:00.000Z -3',
    '2000-02-27T03:00:00.000Z -4',
    '2000-10-08T04:00:00.000Z -3',
    '2000-10-15T03:00:00.000Z -4',
  ])
  expect(partsIn('Australia/Lord_Howe', '2026-04-04', '2026-04-05')).toEqual([
    '2026-04-04T00:00:00.000Z 11',
    '2026-04-04T15:00:00.000Z 10.5',
  ])
  expect(partsIn('UTC', '2026-04-04', '2026-04-04')).toEqual([])
})
