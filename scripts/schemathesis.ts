import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
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
const hooks = `import schemathesis

@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")

@schemathesis.hook
def filter_case(context, case):
    return case.media_type != "application/x-ndjson" or isinstance(case.body, (str, bytes))

# A cursor is what the page before says, and stands in the place of an offset: no schema can say either.
@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta and case.meta.generation.mode.is_positive:
        case.query.pop("cursor", None)
`
const commands = pythonCommands(join(repository, 'scripts/python/schemathesis.txt'))
if (!commands) process.exit(1)
const folder = temporaryFolder()
const service = await startService(folder, { METRICS_TOKEN: metricsToken })
try {
  const project = ['--project', 'default']
  const source = created('source', 'create', ...project, '--platform', 'vapi')
  const settings = join(folder, 'schemathesis.toml')
  writeFileSync(
    settings,
    `hooks = "callbook_hooks.py"
request-timeout = 40.0

# Whether these are the answer depends on what was sent before: a deleted id, a key of a request that differs.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "410", "412", "422", "429", "5xx"]

# An item that cannot be there is not as If-Match says.
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "412", "415", "422", "428", "429", "431", "5xx"]

# The name of the file decides, and no schema can say it.
[[operations]]
include-path = "/v1/knowledge/files"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "415", "422", "429", "5xx"]

# Filters can have more values than fit into a URL.
[[operations]]
include-name = "GET /v1/calls"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "429", "431", "5xx"]

# What can be shown depends on what it is of, and the number of groups on the calls.
[[operations]]
include-path = "/v1/metrics"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "429", "431", "5xx"]

# Records lack the other fields, although their schema requires these.
[[operations]]
include-name = "GET /v1/calls"
parameters = { fields = "${Object.keys(Call.properties).join(',')}" }
[[operations]]
include-name = "GET /v1/knowledge"
parameters = { fields = "${Object.keys(Item.properties).join(',')}" }

# Any text is lines, each of which is answered by itself.
[[operations]]
include-path = "/ingest/calls"
[operations.checks.negative_data_rejection]
enabled = false

# A platform is answered 200 whatever it sends.
[[operations]]
include-path = "/ingest/from/{id}"
parameters = { id = "${source.id}" }
headers = { X-Vapi-Secret = "${source.secret}" }
[operations.checks.negative_data_rejection]
enabled = false

[[operations]]
include-path = "/v1/changes"
parameters = { wait = 0 }

[auth.openapi]
apiKey = { bearer = "${created('key', 'create', ...project, '--name', 'reader').key}" }
ingestKey = { bearer = "${created('key', 'create', ...project, '--name', 'writer', '--kind', 'ingest').key}" }
metricsToken = { bearer = "${metricsToken}" }
`,
  )
  writeFileSync(join(folder, 'callbook_hooks.py'), hooks)
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
    { stdio: 'inherit', cwd: folder, env: { ...process.env, PYTHONPATH: folder } },
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
