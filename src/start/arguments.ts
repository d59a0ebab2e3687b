import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { ConfigError } from '../config.ts'

const options = {
  workers: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

const usage = `Usage: bun start [--workers N]

Starts the service. Its settings are environment variables, such as PORT, HOST and DATA_DIR; the README lists them.

  --workers N    so many processes on one port and one folder (Bun only)
  -h, --help     show this and end
  -v, --version  show the version and end

The command line for keys, imports, backups and the like: bun callbook --help
`

/**
 * What the service is told on its command line; ends the process when that asks for words alone.
 * @param workersMax 1 where one process is all there can be
 * @throws ConfigError
 */
export function readArguments({ workersMax = 1 } = {}): { workers: number } {
  const { workers: given = '1', help, version } = parse()
  if (help) tell(usage)
  if (version) tell(`${packageJson.version}\n`)
  const workers = Number(given)
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
    throw new ConfigError([`${reason}; --help tells what there is`])
  }
}

function tell(text: string): never {
  process.stdout.write(text)
  process.exit(0)
}
