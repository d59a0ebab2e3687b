import { readOptions } from './options.ts'
import { killRecordings } from './recordings.ts'
import { runTorture } from './run.ts'

// Kills the real service with SIGKILL at random moments under load. After each start it checks that nothing
// acknowledged is lost, nothing deleted is left and nothing is half written.

try {
  const options = readOptions(process.argv.slice(2))
  process.stdout.write(`Seed ${options.seed}\n`)
  const report = options.recordings
    ? await killRecordings(options.kills, options.seed)
    : await runTorture(options, (line) => process.stdout.write(`${line}\n`))
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  process.exit(report.violations.length === 0 ? 0 : 1)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
