import { expect, test } from 'bun:test'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { buildPackage } from '../../scripts/build-package.ts'
import { freshFolder } from '../support/at-end.ts'
import { spawnService } from '../support/spawned.ts'

// The package as a user installs it: packed, added to an empty folder, and started from there.

const run = promisify(execFile)
const folder = freshFolder()
const target = join(folder, 'package')
const app = join(folder, 'an app')
const program = join(app, 'node_modules', '.bin', 'callbook')
const env = { DATA_DIR: join(folder, 'data'), LOG_FORMAT: 'json' }

await buildPackage({ target })
await run(process.execPath, ['pm', 'pack', '--destination', folder], { cwd: target })
mkdirSync(app)
writeFileSync(join(app, 'package.json'), '{}')
await run(process.execPath, ['add', join(folder, `callbook-${packageJson.version}.tgz`)], { cwd: app })

test('an installation runs nothing, and fetches no package but libSQL', () => {
  const installed = JSON.parse(readFileSync(join(app, 'node_modules', 'callbook', 'package.json'), 'utf8'))
  expect([installed.scripts, Object.keys(installed.dependencies)]).toEqual([undefined, ['libsql']])
  expect(readdirSync(join(app, 'node_modules')).sort()).toEqual([
    '.bin',
    '@libsql',
    '@neon-rs',
    'callbook',
    'detect-libc',
    'libsql',
  ])
})

test('has its licence, and those of what it holds', () => {
  const read = (name: string) => readFileSync(join(app, 'node_modules', 'callbook', name), 'utf8')
  expect(read('LICENSE')).toContain('the Callbook authors')
  for (const name of ['elysia', 'hnswlib-node', 'react', 'zod'])
    expect(read('THIRD-PARTY-LICENSES.txt')).toMatch(new RegExp(`^${name} \\d`, 'm'))
})

test('the command line finds all that the service needs', async () => {
  expect((await run(program, ['--version'], { env: { ...process.env, ...env } })).stdout.trim()).toBe(
    packageJson.version,
  )
  const service = await spawnService(env, [program])
  await service.stop()
  const { stdout } = await run(program, ['doctor', '--json'], { env: { ...process.env, ...env }, cwd: app })
  const checks: { check: string; ok: boolean }[] = JSON.parse(stdout)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect(checks.map(({ check }) => check)).toContain('addon')
})

test('serves the console, the guide and the viewer, and indexes what it is given, with workers of its own', async () => {
  const fresh = { ...env, DATA_DIR: join(folder, 'fresh') }
  const service = await spawnService(fresh, [program, '--workers', '2'])
  try {
    for (const path of ['/console', '/docs', '/docs/scalar.js', '/docs/guide', '/docs/guide/operating'])
      expect([path, (await fetch(service.url + path)).status]).toEqual([path, 200])
    const answer = await fetch(`${service.url}/v1/knowledge`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Hours', text: 'We open at nine.' }),
    })
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'ready'])
    expect(existsSync(join(fresh.DATA_DIR, 'callbook.db'))).toBe(true)
  } finally {
    expect(await service.stop()).toBe(0)
  }
})
