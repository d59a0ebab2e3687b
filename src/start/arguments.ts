import { parseArgs } from 'node:util'
import { ConfigError } from '../config.ts'
import { version as ownVersion } from '../version.ts'

const options = {
  workers: { type: 'string' },
  demo: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

const usage = `Usage: bun start [--workers N] [--demo]

Starts the service. Its settings are environment variables, such as PORT, HOST and DATA_DIR. The guide lists them.

  --workers N    run N processes on one port and one folder (Bun only)
  --demo         make the project \`demo\` unless it is there: bun callbook demo --help
  -h, --help     show this help
  -v, --version  show the version

For keys, imports, backups and more, use the command line: bun callbook --help
`

export interface Arguments {
  workers: number
  /** Whether the project of examples is made. */
  isDemo: boolean
}

/**
 * Reads the service's command line. Ends the process after --help and --version.
 * @param workersMax 1 on runtimes without worker processes
 * @throws ConfigError
 */
export function readArguments({ workersMax = 1 } = {}): Arguments {
  const { workers: workersText = '1', demo: isDemo = false, help, version } = parse()
  if (help) tell(usage)
  if (version) tell(`${ownVersion}\n`)
  const workers = Number(workersText)
  if (isDemo && workers > 1)
    throw new ConfigError(['--demo needs one process; beside several, run bun callbook demo'])
  if (Number.isInteger(workers) && workers >= 1 && workers <= workersMax) return { workers, isDemo }
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
