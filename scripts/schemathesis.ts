import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Call } from '../src/calls/schemas.ts'
import { Item } from '../src/knowledge/schemas.ts'
import { startService } from './processes.ts'
import { pythonCommands } from './python.ts'
import { repository } from './repository.ts'
import { removeTemporaryFolders, temporaryFolder } from './temporary.ts'

// Runs Schemathesis against a service of its own, with a key of each kind, all checks and all phases:
// `bun run fuzz`. Options are those of `schemathesis run`, such as `--max-examples 200`.

const metricsToken = 'metrics'
/** The settings, with places for what each run has anew, and hooks. */
const given = join(repository, 'scripts/schemathesis')
const commands = pythonCommands(join(repository, 'scripts/python/schemathesis.txt'))
if (!commands) process.exit(1)
const folder = temporaryFolder()
const service = await startService(folder, { METRICS_TOKEN: metricsToken })
try {
  const project = ['--project', 'default']
  const source = created('source', 'create', ...project, '--platform', 'vapi')
  const settings = join(folder, 'schemathesis.toml')
  const values: Record<string, string | undefined> = {
    CALL_FIELDS: Object.keys(Call.properties).join(','),
    ITEM_FIELDS: Object.keys(Item.properties).join(','),
    SOURCE: source.id,
    SOURCE_SECRET: source.secret,
    API_KEY: created('key', 'create', ...project, '--name', 'reader').key,
    INGEST_KEY: created('key', 'create', ...project, '--name', 'writer', '--kind', 'ingest').key,
    METRICS_TOKEN: metricsToken,
    HOOKS: join(given, 'callbook_hooks.py'),
  }
  const template = readFileSync(join(given, 'schemathesis.toml'), 'utf8')
  writeFileSync(
    settings,
    template.replace(/\$\{(\w+)\}/g, (_, name) => values[name] ?? ''),
  )
  const { status } = spawnSync(
    join(commands, 'schemathesis'),
    [
      // All checks are on without --checks, which would turn on those that the settings turn off.
      '--config-file',
      settings,
      '--no-color',
      'run',
      `${service.url}/docs/json`,
      '--phases',
      'examples,coverage,fuzzing,stateful',
      '--continue-on-failure',
      ...process.argv.slice(2),
    ],
    { stdio: 'inherit', cwd: folder },
  )
  process.exitCode = status ?? 1
} finally {
  await service.stop()
  removeTemporaryFolders('run')
}

/** The JSON output of a command. */
function created(...args: string[]): Record<string, string> {
  const { stdout, stderr } = spawnSync(process.execPath, ['scripts/callbook.ts', ...args, '--json'], {
    cwd: repository,
    env: { PATH: process.env.PATH, DATA_DIR: folder },
    encoding: 'utf8',
  })
  if (!stdout) throw new Error(stderr)
  return JSON.parse(stdout)
}
