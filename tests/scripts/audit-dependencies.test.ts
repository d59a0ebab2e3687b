import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditDependencies } from '../../scripts/audit/dependencies.ts'
import { repository } from '../support/process.ts'
import { freshFolder } from '../support/script.ts'

const packageJson = readFileSync(join(repository, 'package.json'), 'utf8')
const lockfile = readFileSync(join(repository, 'bun.lock'), 'utf8')
const folder = join(repository, 'node_modules')

test('the dependencies are exactly those that were looked at', () => {
  expect(auditDependencies({ packageJson, lockfile, folder })).toEqual([])
})

const cases: [string, { packageJson?: string; lockfile?: string }, string][] = [
  ['a range', { packageJson: packageJson.replace('"elysia": "', '"elysia": "^') }, 'not one exact version'],
  [
    'a package from elsewhere',
    { lockfile: lockfile.replace(/"elysia@[\d.]+", ""/, '"elysia@github:elysiajs/elysia#abc", ""') },
    'not a version of the registry',
  ],
  [
    'another registry',
    { lockfile: lockfile.replace(/("elysia@[\d.]+"), ""/, '$1, "https://example.com/"') },
    'comes from https://example.com/',
  ],
  [
    'a digest that is missing',
    { lockfile: lockfile.replace(/"sha512-[^"]+"/, '""') },
    'has no SHA-512 digest',
  ],
  [
    'a lockfile that is behind',
    { packageJson: packageJson.replace('"elysia": "1', '"elysia": "9') },
    'are not those',
  ],
  [
    'a package that is trusted to run its scripts',
    { packageJson: packageJson.replace('"trustedDependencies": []', '"trustedDependencies": ["esbuild"]') },
    'must be []',
  ],
]
test.each(cases)('%s is found', (_, change, fault) => {
  const faults = auditDependencies({ packageJson, lockfile, folder, ...change })
  expect(faults.join('\n')).toContain(fault)
})

test('a new package that wants to run something when it is installed is found', () => {
  const { folder: modules, remove } = freshFolder()
  mkdirSync(join(modules, '@scope', 'sneaky'), { recursive: true })
  writeFileSync(
    join(modules, '@scope', 'sneaky', 'package.json'),
    '{"scripts":{"postinstall":"node steal.js"}}',
  )
  const faults = auditDependencies({ packageJson, lockfile, folder: modules })
  expect(faults.join('\n')).toContain('@scope/sneaky has postinstall')
  remove()
})
