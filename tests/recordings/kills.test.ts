import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { killRecordings } from '../../scripts/torture/recordings.ts'
import { ofFilesOnly } from '../support/test-mode.ts'

setDefaultTimeout(180_000)
const kills = 4

describe.skipIf(ofFilesOnly)('a service that is killed', () => {
  test('has the old or the new recording of each call, measured as what it is, and leaves no file', async () => {
    const report = await killRecordings(kills, 7)
    expect(report).toMatchObject({ kills, violations: [] })
    expect(report.kept).toBeGreaterThan(0)
    expect(report.measured).toBeGreaterThan(0)
  })
})
