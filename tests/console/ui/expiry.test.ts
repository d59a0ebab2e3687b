import { expect, test } from 'bun:test'
import { Dates } from '../../../src/console/ui/components/dates.ts'
import { expiresAtOf, expiryOf, lastDayOf } from '../../../src/console/ui/views/settings/keys.ts'

test.each(['Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati', 'UTC'])(
  'a day that the command line was given is that day in %s, too',
  (zone) => {
    const dates = new Dates(zone)
    expect(lastDayOf('2099-11-03T00:00:00.000Z', dates)).toBe('2099-11-02')
    expect(expiryOf('2099-11-03T00:00:00.000Z', dates)).toEqual({ choice: 'date', day: '2099-11-02' })
  },
)

test.each(['Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati'])(
  'a day chosen in %s stays that day there',
  (zone) => {
    const dates = new Dates(zone)
    const expiresAt = expiresAtOf({ choice: 'date', day: '2099-11-02' }, dates)
    expect(lastDayOf(expiresAt ?? '', dates)).toBe('2099-11-02')
  },
)
