import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAddon } from '../../scripts/build-addon.ts'
import { keptFolders } from '../../scripts/kept-folder.ts'
import { memoryOf } from '../../scripts/process-use.ts'
import {
  addonFiles,
  cpuFeatures,
  loadAddon,
  readStamp,
  whyNotLoadable,
} from '../../src/knowledge/indexing/index/addon.ts'
import { freshFolder } from '../support/at-end.ts'
import { repository } from '../support/process.ts'

const folder = freshFolder()
const output = {
  addon: join(folder, 'release', 'addon.node'),
  stamp: join(folder, 'release', 'addon.stamp.json'),
}
const compileTimeoutMs = 120_000
const compilers = [join(repository, 'tests/support/kept-compiler.sh')]

process.env.KEPT = keptFolders
afterAll(() => {
  delete process.env.KEPT
})

test(
  'one call of the compiler builds an addon that loads, and a second run does nothing',
  () => {
    expect(buildAddon({ portable: false, output, compilers })).toEqual({ built: true, problem: null })
    expect(whyNotLoadable(output.addon, output.stamp)).toBeNull()
    const addon = createRequire(import.meta.url)(output.addon)
    const index = new addon.HierarchicalNSW('ip', 2)
    index.initIndex(2)
    index.addPoint(Float32Array.of(1, 0), 7)
    expect(index.searchKnn(Float32Array.of(1, 0), 1).neighbors).toEqual([7])

    // With hnswlib's 65,536 locks, each of these would take 2.6 MB.
    const before = memoryOf(process.pid).ownMb
    const indexes = Array.from({ length: 100 }, () => new addon.HierarchicalNSW('ip', 2))
    for (const one of indexes) one.initIndex(2)
    expect(memoryOf(process.pid).ownMb - before).toBeLessThan(100)

    const built = statSync(output.addon)
    expect(buildAddon({ portable: false, output })).toEqual({ built: false, problem: null })
    expect(statSync(output.addon).ino).toBe(built.ino)
  },
  compileTimeoutMs,
)

test('an addon built for a CPU with more features than this one is not loaded', () => {
  const stamp = readStamp(output.stamp)
  expect(stamp?.cpu).toEqual(cpuFeatures())
  const lesser = cpuFeatures().slice(1)
  expect(whyNotLoadable(output.addon, output.stamp, lesser)).toMatch(/another CPU/)
  expect(whyNotLoadable(output.addon, output.stamp, [...cpuFeatures(), 'more'])).toBeNull()
})

test('an addon of another platform, without a stamp or with half of one is not loaded', () => {
  const stamp = readFileSync(output.stamp, 'utf8')
  writeFileSync(output.stamp, stamp.replace(process.platform, 'plan9'))
  expect(whyNotLoadable(output.addon, output.stamp)).toMatch(/plan9/)
  writeFileSync(output.stamp, stamp.slice(0, 20))
  expect(whyNotLoadable(output.addon, output.stamp)).toMatch(/not built by/)
  rmSync(output.stamp)
  expect(whyNotLoadable(output.addon, output.stamp)).toMatch(/not built by/)
  rmSync(output.addon)
  expect(whyNotLoadable(output.addon, output.stamp)).toMatch(/not built$/)
})

test('without a compiler, or with one that fails, the problem is reported and no file is left', () => {
  expect(buildAddon({ portable: false, output, compilers: ['no-such-compiler'] }).problem).toMatch(
    /no C\+\+ compiler/,
  )
  const failing = join(folder, 'failing')
  writeFileSync(failing, '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "error: no header" >&2\nexit 1\n', {
    mode: 0o755,
  })
  expect(buildAddon({ portable: false, output, compilers: [failing] }).problem).toMatch(
    /failed: error: no header/,
  )
  expect(existsSync(output.addon)).toBe(false)
})

test('as a postinstall script it prints one sentence and lets the installation go on', () => {
  const script = fileURLToPath(new URL('../../scripts/build-addon.ts', import.meta.url))
  const before = readFileSync(addonFiles().stamp, 'utf8')
  // Other flags than those it was built with, so that there is something to build.
  const portable = readStamp(addonFiles().stamp)?.cpu.length === 0 ? '0' : '1'
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    encoding: 'utf8',
    env: { PATH: folder, ADDON_PORTABLE: portable },
  })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  expect(stderr).toMatch(/no C\+\+ compiler.*exact and slower.*\n$/)
  expect(readFileSync(addonFiles().stamp, 'utf8')).toBe(before)
})

test('the addon of this project loads', () => {
  expect(loadAddon().reason).toBeNull()
})
