import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditDependencies } from '../../scripts/audit/dependencies.ts'
import { freshFolder } from '../support/at-end.ts'
import { repository } from '../support/process.ts'

const packageJson = readFileSync(join(repository, 'package.json'), 'utf8')
const lockfile = readFileSync(join(repository, 'bun.lock'), 'utf8')
const folder = join(repository, 'node_modules')

test('the dependencies are exactly the reviewed ones', () => {
  expect(auditDependencies({ packageJson, lockfile, folder }).faults).toEqual([])
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
  const { faults } = auditDependencies({ packageJson, lockfile, folder, ...change })
  expect(faults.join('\n')).toContain(fault)
})

describe.each(['@scope/sneaky', 'elysia/node_modules/@scope/sneaky'])('an installed package %s', (path) => {
  const audited = (manifest: object) => {
    const modules = freshFolder()
    // What it may be nested in.
    mkdirSync(join(modules, 'elysia'))
    writeFileSync(join(modules, 'elysia', 'package.json'), '{}')
    mkdirSync(join(modules, path), { recursive: true })
    writeFileSync(join(modules, path, 'package.json'), JSON.stringify(manifest))
    const audit = auditDependencies({ packageJson, lockfile, folder: modules })
    return audit
  }
  const faultsOf = (manifest: object) => {
    const { faults } = audited(manifest)
    return faults.filter((fault) => fault.includes('sneaky')).join('\n')
  }

  test('with an install script is found', () => {
    expect(faultsOf({ scripts: { postinstall: 'node steal.js' } })).toContain('@scope/sneaky has postinstall')
  })

  test('that is not in the lockfile is found', () => {
    expect(faultsOf({ version: '1.0.0' })).toContain('@scope/sneaky 1.0.0 is installed, but not in bun.lock')
  })

  test('is counted under its licence', () => {
    expect(audited({ license: 'Zlib' }).licences).toContainEqual(['Zlib', 1])
  })

  test.each([
    ['AGPL-3.0-only', true],
    ['MIT AND GPL-3.0-only', true],
    ['(MIT OR GPL-3.0-only) AND GPL-2.0-only', true],
    ['MIT OR GPL-2.0-only AND GPL-3.0-only', false],
    [undefined, true],
    ['MIT', false],
    ['(MIT AND Zlib)', false],
    ['(MPL-2.0 OR GPL-3.0-only)', false],
  ])('with the licence %p: refused %p', (license, isRefused) => {
    expect(faultsOf({ license }).includes('has the licence')).toBe(isRefused)
  })
})
