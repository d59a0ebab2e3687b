import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import platform from '../tests/platform.json' with { type: 'json' }
import timings from '../tests/timings.json' with { type: 'json' }
import { importsOf, partOf } from './imports.ts'
import { repository } from './repository.ts'

// Which test file is in which part of the suite.

export const halves = ['core', 'platform'] as const
export type Half = (typeof halves)[number]

/** In a run of everything, beside others. */
const fastMsMax = 3_000
const durationsMs: Record<string, number> = timings.files
/** What the server answers is tested here, not in a folder that is named after it. */
const testsOfServer = 'tests/http/'

export const platformPaths: readonly string[] = Object.values(platform).flat()

export function everyTestFile(): string[] {
  return filesLike('tests/**/*.test.ts')
}

/** A file that the table does not name is in the core. */
export function halfOf(path: string): Half {
  const isNamed = platformPaths.some((entry) =>
    entry.endsWith('/') ? path.startsWith(entry) : path === entry,
  )
  return isNamed ? 'platform' : 'core'
}

/** Whether it is a quick file of the core. A new one is, until the timings say otherwise. */
export function isFast(path: string): boolean {
  return halfOf(path) === 'core' && (durationsMs[path] ?? 0) <= fastMsMax
}

/**
 * The tests of a folder of src, of the folders that import from it, directly or not, and every test that itself imports
 * from it, or is the test of a script that does. Null where there is no such folder.
 */
export function testFilesOfArea(area: string): string[] | null {
  const sources = filesLike('{src,scripts}/**/*.{ts,tsx}').map((path) => ({
    path,
    imports: importsOf(path, textOf(path)),
  }))
  if (!sources.some(({ path }) => partOf(path) === area)) return null
  const rooms = new Set([area])
  // A room that is added on the way is looked for as well.
  for (const room of rooms) {
    for (const { path, imports } of sources) {
      const own = partOf(path)
      if (own !== null && imports.some((target) => partOf(target) === room)) rooms.add(own)
    }
  }
  const users = new Set(
    sources
      .filter(({ imports }) => imports.some((target) => partOf(target) === area))
      .map(({ path }) => path),
  )
  return everyTestFile().filter(
    (path) =>
      rooms.has(/^tests\/([^/.]+)/.exec(path)?.[1] ?? '') ||
      (rooms.has('server') && path.startsWith(testsOfServer)) ||
      users.has(path.replace(/^tests\/(.*)\.test\.ts$/, '$1.ts')) ||
      importsOf(path, textOf(path)).some((target) => partOf(target) === area),
  )
}

function filesLike(pattern: string): string[] {
  return [...new Bun.Glob(pattern).scanSync({ cwd: repository })].sort()
}

function textOf(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}
