import { expect, test } from 'bun:test'
import { runTorture } from '../../scripts/torture/run.ts'

const kills = 4
const testWithinMs = 180_000

test(
  'nothing acknowledged is lost and nothing deleted is left when the service is killed at random moments',
  async () => {
    const seed = Date.now() % 1_000_000_000
    console.info(`Seed ${seed}`)
    const report = await runTorture({ seed, kills, minutes: 1, recordings: false }, () => undefined)
    expect(report.violations).toEqual([])
    expect(Object.values(report.kills).reduce((a, b) => a + b, 0)).toBeGreaterThan(0)
    expect(report.deletesProven).toBeGreaterThan(0)
    expect(report.webhooks.events).toBeGreaterThan(0)
    expect(report.vectorsSought).toBeGreaterThan(0)
    // About every third write of a call is one. On a busy machine there may be only a few writes.
    const { 'calls written': written = 0, 'transcripts appended': appended = 0 } = report.operations
    if (written > 20) expect(appended).toBeGreaterThan(0)
  },
  testWithinMs,
)
