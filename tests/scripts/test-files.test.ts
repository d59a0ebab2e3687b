import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { everyTestFile, halfOf, isFast, platformPaths, testFilesOfArea } from '../../scripts/test-files.ts'
import { repository } from '../support/process.ts'

describe('the halves', () => {
  test('name only what there is, each once', () => {
    expect(platformPaths.filter((path) => !existsSync(join(repository, path)))).toEqual([])
    const places = everyTestFile().map((path) => platformPaths.filter((entry) => path.startsWith(entry)))
    expect(places.filter((entries) => entries.length > 1)).toEqual([])
    expect(new Set(platformPaths).size).toBe(platformPaths.length)
  })

  test('a file that the table does not name is in the core', () => {
    expect(halfOf('tests/calls/made-just-now.test.ts')).toBe('core')
    expect(halfOf('tests/replicas/made-just-now.test.ts')).toBe('platform')
  })

  test('what guards rights in a browser is in the core', () => {
    for (const page of ['sign-in', 'roles', 'keys', 'privacy', 'erasure', 'operator'])
      expect(halfOf(`tests/console/${page}.browser.test.ts`)).toBe('core')
  })
})

test('the fast ones are the quick half of the core, and those that nobody has measured', () => {
  const fast = everyTestFile().filter(isFast)
  expect(fast.length).toBeGreaterThan(everyTestFile().length / 3)
  expect(fast.filter((path) => halfOf(path) !== 'core' || path.endsWith('.browser.test.ts'))).toEqual([])
  expect(isFast('tests/calls/made-just-now.test.ts')).toBe(true)
  expect(isFast('tests/http/tenancy.test.ts')).toBe(false)
})

describe('the tests of an area', () => {
  test('are those of its folder and of what depends on it, not of what it depends on', () => {
    const redaction = testFilesOfArea('redaction') ?? []
    for (const path of [
      'redaction/redact',
      'knowledge/knowledge',
      'calls/delete',
      'console/calls',
      'http/tenancy',
    ])
      expect(redaction).toContain(`tests/${path}.test.ts`)
    for (const path of ['text/words', 'db/writer', 'threads/limit', 'auth/keys'])
      expect(redaction).not.toContain(`tests/${path}.test.ts`)
  })

  test('are also those of scripts that import from it, and those that do so themselves', () => {
    const calls = testFilesOfArea('calls') ?? []
    const scripts = calls.filter((path) => path.startsWith('tests/scripts/'))
    for (const path of scripts) {
      const source = readFileSync(join(repository, path.replace(/^tests\/(.*)\.test\.ts$/, '$1.ts')), 'utf8')
      expect(source).toContain('/src/calls/')
    }
    expect(calls).toContain('tests/sources/platforms.test.ts')
  })

  test('a folder that is not there has none', () => {
    expect(testFilesOfArea('calls/finding')).toBeNull()
    expect(testFilesOfArea('nowhere')).toBeNull()
  })
})
