import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

// Runs the HTTP tests against a database server and against a replica of one. An argument selects one of the two modes,
// such as `bun run test:modes replica`.

const modes = process.argv.length > 2 ? process.argv.slice(2) : ['remote', 'replica']
const tests = [
  'tests/access/keys/keys.test.ts',
  'tests/calls',
  'tests/changes',
  // Browsers show the same in each mode.
  ...readdirSync('tests/console')
    .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.browser.test.ts'))
    .map((name) => `tests/console/${name}`),
  'tests/privacy/erasure-requests.test.ts',
  'tests/http',
  'tests/knowledge/bad-input.test.ts',
  'tests/knowledge/erasure.test.ts',
  'tests/knowledge/indexing/indexer.test.ts',
  'tests/knowledge/knowledge.test.ts',
  'tests/agents',
  'tests/knowledge/search',
  'tests/services.test.ts',
  'tests/sources',
]
let hasFailed = false
for (const mode of modes) {
  process.stdout.write(`CALLBOOK_TEST_MODE=${mode}\n`)
  const { status } = spawnSync(process.execPath, ['test', '--isolate', ...tests], {
    env: { ...process.env, CALLBOOK_TEST_MODE: mode },
    stdio: 'inherit',
  })
  hasFailed ||= status !== 0
}
process.exit(hasFailed ? 1 : 0)
