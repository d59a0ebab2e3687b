import { expect, test } from 'bun:test'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildExecutable } from '../../scripts/build-executable.ts'
import { freshFolder } from '../support/at-end.ts'
import { spawnService } from '../support/spawned.ts'

// That it serves as every runtime does is shown in tests/runtimes.test.ts.

const run = promisify(execFile)
const folder = freshFolder()
const outfile = join(folder, 'callbook')
const env = { DATA_DIR: join(folder, 'data'), LOG_FORMAT: 'json' }

await buildExecutable({ outfile })

test('with a command it is the command line, and embeds all that the service needs', async () => {
  const own = { ...env, DATA_DIR: join(folder, 'checked') }
  await (await spawnService(own, [outfile])).stop()
  const { stdout } = await run(outfile, ['doctor', '--json'], { env: own, cwd: folder })
  const checks: { check: string; ok: boolean }[] = JSON.parse(stdout)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect(checks.map(({ check }) => check)).toContain('addon')
  expect((await run(outfile, ['--help'], { env })).stdout).toContain('Usage: callbook')
})

test('it starts workers of its own', async () => {
  const service = await spawnService(env, [outfile, '--workers', '2'])
  const headers = { authorization: `Bearer ${service.key}` }
  expect((await fetch(`${service.url}/v1/calls`, { headers })).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

test('it writes a backup, and restores it', async () => {
  const backup = join(folder, 'backup')
  await run(outfile, ['backup', backup], { env })
  const restored = { ...env, DATA_DIR: join(folder, 'restored') }
  await run(outfile, ['restore', backup], { env: restored })
  const { stdout } = await run(outfile, ['project', 'list', '--json'], { env: restored })
  expect(JSON.parse(stdout)).toHaveLength(1)
})
