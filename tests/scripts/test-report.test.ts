import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReport, skipsIn } from '../../scripts/test-report.ts'
import { freshFolder } from '../support/at-end.ts'

import { repository } from '../support/process.ts'

const output = `bun test v1.4.5 (a7733435c) 4x PARALLEL

tests/a.test.ts:
Skipped here: there is no Docker daemon
saw 1
(pass) group > passes [3.05ms]
what it saw

tests/b.test.ts:
Skipped here: there are no captured spans
(pass) leaves out a part

tests/a.test.ts:
error: expect(received).toBe(expected)
(fail) group > fails [2.23s]
(skip) the image > starts
(skip) the image > stops

tests/c.test.ts:
(skip) says nothing

3 tests skipped:
(skip) the image > starts
(skip) the image > stops
(skip) says nothing

1 tests failed:
(fail) group > fails [2.23s]

 2 pass
`

test('a report has each test once, and of a failure what was printed before it', () => {
  const { results } = readReport(output)
  expect(results.map(({ file, name, status }) => `${file} ${status} ${name}`)).toEqual([
    'tests/a.test.ts pass group > passes',
    'tests/b.test.ts pass leaves out a part',
    'tests/a.test.ts fail group > fails',
    'tests/a.test.ts skip the image > starts',
    'tests/a.test.ts skip the image > stops',
    'tests/c.test.ts skip says nothing',
  ])
  expect(results[2]?.printed).toBe('what it saw\n\nerror: expect(received).toBe(expected)')
})

test('what was skipped is listed with its reason', () => {
  expect(skipsIn(readReport(output))).toEqual([
    'Skipped, there is no Docker daemon: 2 of tests/a.test.ts',
    'Skipped, there are no captured spans: a part of tests/b.test.ts',
    'Skipped, the file does not say why: 1 of tests/c.test.ts',
  ])
})

describe('bun run test', () => {
  const run = (...args: string[]) =>
    Bun.spawnSync(['bun', 'scripts/test.ts', ...args], { cwd: repository, stdout: 'pipe', stderr: 'pipe' })

  test('--repeat counts which test failed how often, and shows what it saw', () => {
    const file = join(freshFolder(), 'flaky.test.ts')
    writeFileSync(
      file,
      `import { appendFileSync, readFileSync } from 'node:fs'
       import { expect, test } from 'bun:test'
       test('passes', () => undefined)
       test('fails at first', () => {
         appendFileSync(import.meta.dir + '/runs', '.')
         expect(readFileSync(import.meta.dir + '/runs', 'utf8')).toBe('..')
       })`,
    )
    const { exitCode, stderr } = run('--repeat', '2', file)
    expect(exitCode).toBe(1)
    const text = stderr.toString()
    expect(text).toContain('1 of 2: 1 passed or skipped, 1 failed')
    expect(text).toContain('Received: "."')
    expect(text).toContain('2 of 2: 2 passed or skipped, 0 failed')
    expect(text).toMatch(/failed 1 of 2: \S*flaky\.test\.ts > fails at first/)
    expect(text).not.toContain('failed 1 of 2: passes')
  })

  test.each([
    [['--area', 'nowhere'], 'There is no src/nowhere and no src/nowhere.ts.'],
    [['--area'], '--area needs a value.'],
    [['--repeat', 'often'], '--repeat takes a number from 1 to 1000.'],
  ])('%j is refused', (args, message) => {
    const { exitCode, stderr } = run(...args)
    expect([exitCode, stderr.toString().trim()]).toEqual([1, message])
  })
})
