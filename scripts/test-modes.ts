import { spawnSync } from 'node:child_process'

// Runs the tests of the service over HTTP once more on a database server, and once more on a replica of one.

const tests = [
  'tests/auth/keys.test.ts',
  'tests/calls',
  'tests/http',
  'tests/knowledge/bad-input.test.ts',
  'tests/knowledge/erasure.test.ts',
  'tests/knowledge/indexer.test.ts',
  'tests/knowledge/knowledge.test.ts',
  'tests/knowledge/protocols',
  'tests/knowledge/search',
  'tests/services.test.ts',
]
let hasFailed = false
for (const mode of ['remote', 'replica']) {
  process.stdout.write(`CALLBOOK_TEST_MODE=${mode}\n`)
  const { status } = spawnSync(process.execPath, ['test', '--timeout', '60000', ...tests], {
    env: { ...process.env, CALLBOOK_TEST_MODE: mode },
    stdio: 'inherit',
  })
  hasFailed ||= status !== 0
}
process.exit(hasFailed ? 1 : 0)
