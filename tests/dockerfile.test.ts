import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readStamp } from '../src/knowledge/index/addon.ts'
import { environmentOf, isIgnored, play, readStages, type Stage, textsOf } from './support/dockerfile.ts'
import { repository } from './support/process.ts'
import { freshFolder, printed, type SpawnedService, spawnService } from './support/spawned.ts'

// The Dockerfile's own lines, in folders instead of an image: what is copied, installed and built is enough to run,
// as a user who may write nothing but the volume.

setDefaultTimeout(120_000)
/** Nobody, on every Debian. */
const stranger = 65_534
const stages = readStages()
const last = stages.at(-1) as Stage
const environment = environmentOf(last)
const folder = freshFolder()
const data = join(folder, 'data')
let workdir: string
let service: SpawnedService

beforeAll(async () => {
  workdir = play(stages, folder)
  mkdirSync(data, { mode: 0o700 })
  if (process.getuid?.() === 0) chownSync(data, stranger, stranger)
  // Of folders alone: the files of packages may be one with those of Bun's cache.
  spawnSync('find', [workdir, '-type', 'd', '-exec', 'chmod', '555', '{}', '+'])
  chmodSync(folder, 0o755)
  service = await spawnService({ ...environment, DATA_DIR: data, HOME: '/' }, asStranger(command('CMD')))
})
afterAll(async () => {
  await service?.stop('SIGKILL')
  spawnSync('find', [folder, '-type', 'd', '-exec', 'chmod', '755', '{}', '+'])
  rmSync(folder, { recursive: true, force: true })
})

/** The JSON form: no shell stands between a signal and the program. */
function command(keyword: string): string[] {
  return JSON.parse(textsOf(last, keyword)[0]?.replace(/^CMD /, '') ?? '')
}

function asStranger(args: string[]): string[] {
  const user = ['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups', '--no-new-privs']
  return ['env', '-C', workdir, ...(process.getuid?.() === 0 ? user : []), ...args]
}

function health(port: string): number | null {
  const [program = '', ...args] = asStranger(command('HEALTHCHECK'))
  return spawnSync(program, args, { env: { PATH: process.env.PATH, ...environment, PORT: port, HOME: '/' } })
    .status
}

test('the image is one version of Bun that runs this, built and run on the same system', () => {
  const { engines } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const [version = ''] = /\d+\.\d+\.\d+/.exec(last.image) ?? []
  expect(Bun.semver.satisfies(version, engines.bun)).toBe(true)
  expect(new Set(stages.map(({ image }) => image)).size).toBe(1)
})

test('nothing of a working copy gets into the image: no data, no settings, no packages, no history', () => {
  for (const path of [
    '.env',
    '.env.local',
    '.git/config',
    'data/callbook.db',
    'node_modules/x',
    'dist/x',
    'tests/x',
  ])
    expect([path, isIgnored(path)]).toEqual([path, true])
})

test('it runs as a user without rights and keeps everything in the volume', () => {
  expect(textsOf(last, 'USER')).toEqual(['bun'])
  expect(textsOf(last, 'VOLUME')).toEqual([environment.DATA_DIR ?? ''])
})

test('its vector index is machine code for any CPU of the architecture', () => {
  expect(readStamp(join(workdir, 'node_modules/hnswlib-node/build/Release/addon.stamp.json'))?.cpu).toEqual(
    [],
  )
})

test('it starts, is healthy, answers with its page and its index, and ends cleanly on SIGTERM', async () => {
  await printed(service.stderr, /"msg":"ready"/, 20_000)
  const url = service.url.replace('0.0.0.0', '127.0.0.1')
  const { port } = new URL(url)
  expect(health(port)).toBe(0)

  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  for (const path of ['/v1/calls', '/console', '/docs', '/docs/json', '/docs/scalar.js']) {
    const answer = await fetch(url + path, { headers })
    expect([path, answer.status, (await answer.text()).length > 0]).toEqual([path, 200, true])
  }
  const item = JSON.stringify({ name: 'Refund policy', text: 'We refund any order within 30 days.' })
  const created = await fetch(`${url}/v1/knowledge`, { method: 'POST', headers, body: item })
  expect([created.status, created.headers.get('callbook-index')]).toEqual([201, 'ready'])
  const [program = '', ...args] = asStranger(['bun', 'callbook', 'doctor', '--json'])
  const doctor = spawnSync(program, args, {
    env: { PATH: process.env.PATH, DATA_DIR: data, HOME: '/' },
    encoding: 'utf8',
  })
  expect(JSON.parse(doctor.stdout).filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])

  expect(await service.stop()).toBe(0)
  expect(service.stderr()).not.toMatch(/"level":"(warn|error|fatal)"/)
  expect(health(port)).toBe(1)
})
