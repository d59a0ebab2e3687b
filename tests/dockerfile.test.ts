import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './support/process.ts'
import { skipped } from './support/skipped.ts'
import { until } from './support/until.ts'

setDefaultTimeout(600_000)
const tag = `callbook-test-${process.pid}`
const hasDaemon = spawnSync('docker', ['info']).status === 0
if (!hasDaemon) skipped('there is no Docker daemon')

test('the Dockerfile builds and runs on one version of Bun, one that the package allows', () => {
  const text = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  const { engines } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const [, version = ''] = /^ARG BUN_VERSION=(.+)$/m.exec(text) ?? []
  expect(Bun.semver.satisfies(version, engines.bun)).toBe(true)
  const images = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  expect(new Set(images)).toEqual(new Set([`oven/bun:\${BUN_VERSION}-slim`]))
})

describe.skipIf(!hasDaemon)('the image', () => {
  beforeAll(() => {
    docker('build', '--tag', tag, repository)
    // Nothing but the volume can be written.
    docker(
      'run',
      '--detach',
      '--name',
      tag,
      '--read-only',
      '--tmpfs',
      '/tmp',
      '--publish',
      '127.0.0.1::3000',
      tag,
    )
  })
  afterAll(() => {
    spawnSync('docker', ['rm', '--force', '--volumes', tag])
    spawnSync('docker', ['rmi', tag])
  })

  test('has no data, settings, history or tests of a working copy', () => {
    const entries = docker('exec', tag, 'ls', '-A', '/app').split('\n')
    expect(entries).toContain('callbook.js')
    for (const name of ['.env', '.git', 'data', 'tests', 'bench', 'torture'])
      expect(entries).not.toContain(name)
  })

  test('has a vector index compiled for every CPU of the architecture', () => {
    const stamp = docker('exec', tag, 'sh', '-c', 'cat addons/*/addon.stamp.json')
    expect(JSON.parse(stamp).cpu).toEqual([])
  })

  test('is healthy, answers as a user without rights, and ends cleanly on SIGTERM', async () => {
    await until(() => inspect('{{.State.Health.Status}}') === 'healthy')
    expect(docker('exec', tag, 'id', '-un').trim()).toBe('bun')
    const url = `http://${docker('port', tag, '3000').trim().split('\n')[0]}`
    const [key] = /ck_live_[0-9a-f]{60}/.exec(docker('logs', tag)) ?? []
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    for (const path of [
      '/v1/calls',
      '/console',
      '/docs',
      '/docs/json',
      '/docs/scalar.js',
      '/docs/guide/agents',
    ]) {
      const answer = await fetch(url + path, { headers })
      expect([path, answer.status, (await answer.text()).length > 0]).toEqual([path, 200, true])
    }
    const item = JSON.stringify({ name: 'Refund policy', text: 'We refund any order within 30 days.' })
    const created = await fetch(`${url}/v1/knowledge`, { method: 'POST', headers, body: item })
    expect([created.status, created.headers.get('callbook-index')]).toEqual([201, 'ready'])
    const checks: { ok: boolean }[] = JSON.parse(docker('exec', tag, 'callbook', 'doctor', '--json'))
    expect(checks.filter(({ ok }) => !ok)).toEqual([])

    docker('stop', '-t', '15', tag)
    expect(inspect('{{.State.ExitCode}}')).toBe('0')
  })
})

function docker(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`docker ${args[0]} failed:\n${stderr}`)
  return stdout
}

function inspect(format: string): string {
  return docker('inspect', '--format', format, tag).trim()
}
