import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Dates, dayLabel, plusDays } from '../../../src/console/ui/components/dates.ts'
import { firstDayOfWeek, localeOf } from '../../../src/console/ui/components/locale.ts'
import { byDay } from '../../../src/console/ui/views/calls/pages.ts'

const hourMs = 3_600_000
const sources = fileURLToPath(new URL('../../../src/console/ui/', import.meta.url))

describe('the days of a time zone', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    ['Europe/Berlin', '2026-07-01', '2026-06-30T22:00:00.000Z', 24],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    // Clocks change at midnight: the day begins at 1:00, and the day before ends with an hour twice.
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z', 23],
    ['America/Santiago', '2026-04-04', '2026-04-04T03:00:00.000Z', 25],
    ['UTC', '2026-02-28', '2026-02-28T00:00:00.000Z', 24],
  ])('in %s, %s begins at %s and has %d hours', (zone, day, start, hours) => {
    const dates = new Dates(zone)
    const { from, to } = dates.rangeOf(day)
    expect(from).toBe(start)
    expect((Date.parse(to) - Date.parse(from)) / hourMs).toBe(hours)
    const days = [-1, 0, hours * hourMs - 1, hours * hourMs].map((ms) => dates.dayOf(Date.parse(from) + ms))
    expect(days).toEqual([plusDays(day, -1), day, day, plusDays(day, 1)])
  })

  test('are those of the list, whatever the zone of the reader', () => {
    const rows = ['2026-03-02T11:30:00Z', '2026-03-02T10:30:00Z', '2026-03-01T12:00:00Z']
    const listed = byDay(
      rows.map((createdAt, n) => ({ id: `${n}`, createdAt })),
      new Dates('Pacific/Auckland'),
      Date.parse('2026-03-02T20:00:00Z'),
    )
    expect(listed.map((entry) => ('day' in entry ? entry.day : entry.key))).toEqual([
      'Today',
      '0',
      'Yesterday',
      '1',
      '2',
    ])
  })

  test('are those of the reader for a zone that the browser does not know', () => {
    expect(new Dates('Mars/Olympus').zone).toBe(new Dates(null).zone)
  })
})

describe('what a person reads', () => {
  const dates = new Dates('Asia/Tokyo')
  const now = Date.parse('2026-06-01T00:00:00Z')

  test.each([
    [-10, 'just now'],
    [10, 'just now'],
    [-180, /^3 min/],
    [-2 * 86_400, '2 days ago'],
    [-8 * 86_400, dayLabel('2026-05-24')],
    [-400 * 86_400, /2025/],
  ])('of a time %d seconds from now is %p', (seconds, said) => {
    expect(dates.relative(now + seconds * 1_000, now)).toMatch(said)
  })

  test('is in a moment only of a time that is still to come', () => {
    expect(dates.relative(now + 10_000, now, 'in a moment')).toBe('in a moment')
    expect(dates.relative(now - 10_000, now, 'in a moment')).toBe('just now')
  })

  test('is in English, as where the person lives', () => {
    expect(['de-DE', 'de', 'en', 'pt-BR', 'xx'].map((persons) => localeOf(persons))).toEqual([
      'en-DE',
      'en-DE',
      'en-US',
      expect.stringMatching(/^en-(BR|GB)$/),
      'en-US',
    ])
    expect(['en-US', 'en-GB', 'ar-EG'].map(firstDayOfWeek)).toEqual([0, 1, 6])
    expect(dates.time('2026-06-01T05:32:00Z')).toMatch(/^(14:32|2:32 PM)$/)
    expect(dates.exact('2026-06-01T05:32:00Z')).toMatch(/GMT\+9|JST/)
  })

  test('is formatted in one place', () => {
    const formats = ['locale.ts', 'dates.ts', 'figures.ts'].map((name) => `components/${name}`)
    const others = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !formats.includes(file))
      .filter((file) =>
        /\.toLocale|new Intl\.|\.get(FullYear|Month|Date|Hours)\(/.test(readFileSync(sources + file, 'utf8')),
      )
    expect(others).toEqual([])
  })
})
