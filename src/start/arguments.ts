import { parseArgs } from 'node:util'
import { ConfigError } from '../config.ts'
import { version as ownVersion } from '../version.ts'

const options = {
  workers: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

const usage = `Usage: bun start [--workers N]

Starts the service. Its settings are environment variables, such as PORT, HOST and DATA_DIR. The README lists them.

  --workers N    run N processes on one port and one folder (Bun only)
  -h, --help     show this help
  -v, --version  show the version

For keys, imports, backups and more, use the command line: bun callbook --help
`

/**
 * Reads the service's command line. Ends the process after --help and --version.
 * @param workersMax 1 on runtimes without worker processes
 * @throws ConfigError
 */
export function readArguments({ workersMax = 1 } = {}): { workers: number } {
  const { workers: workersText = '1', help, version } = parse()
  if (help) tell(usage)
  if (version) tell(`${ownVersion}\n`)
  const workers = Number(workersText)
  if (Number.isInteger(workers) && workers >= 1 && workers <= workersMax) return { workers }
  throw new ConfigError([
    workersMax === 1 ? '--workers needs Bun' : `--workers must be a number from 1 to ${workersMax}`,
  ])
}

function parse() {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([`${reason}; see --help`])
  }
}

function tell(text: string): never {
  process.stdout.write(text)
  process.exit(0)
}
