import { describe, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole, firstLoadBytes, firstLoadBytesMax } from '../../scripts/build-console.ts'
import { freshFolder } from '../support/at-end.ts'
import { repository } from '../support/process.ts'

const folder = freshFolder()

// The folder of all other tests, which is built at most once for the same sources.
await buildConsole()
cpSync(join(repository, 'dist', 'console'), folder, { recursive: true })
const { manifest } = await buildConsole({ folder })

/** Names of the scripts whose text matches. */
function scriptsLike(pattern: RegExp): string[] {
  return Object.keys(manifest.files).filter(
    (name) => name.endsWith('.js') && pattern.test(readFileSync(join(folder, name), 'utf8')),
  )
}

describe('the bundle', () => {
  test('has few compressed files before a page shows: for each page at most what is said for it', () => {
    for (const [page, max] of Object.entries(firstLoadBytesMax)) {
      const bytes = firstLoadBytes(manifest, page)
      expect(bytes).toBeGreaterThan(
        manifest.files[manifest.entries.main]?.brBytes ?? Number.POSITIVE_INFINITY,
      )
      expect([page, Math.max(bytes, max)]).toEqual([page, max])
    }
    const { entry, overview, calls } = firstLoadBytesMax
    expect(entry).toBeLessThanOrEqual(200_000)
    expect(overview).toBeLessThanOrEqual(255_000)
    expect(calls).toBeLessThanOrEqual(225_000)
  })

  test('has at most 8 scripts for the first pages, and at most 20 for any', () => {
    const { groups } = manifest
    const scripts = (group: string) => groups[group]?.filter((name) => name.endsWith('.js')).length
    for (const group of ['entry', 'overview', 'calls']) expect(scripts(group)).toBeLessThanOrEqual(8)
    for (const group of Object.keys(groups)) expect(scripts(group)).toBeLessThanOrEqual(20)
  })

  test('has each file plain and in both compressions, under a name with a hash', () => {
    const names = Object.keys(manifest.files)
    expect(names.length).toBeGreaterThan(15)
    for (const [name, { bytes, brBytes, gzBytes }] of Object.entries(manifest.files)) {
      expect(name).toMatch(/^[a-z\d.-]+-[a-f\d]{8}\.(js|css|svg|woff2)$/)
      expect(statSync(join(folder, name)).size).toBe(bytes)
      expect(statSync(join(folder, `${name}.br`)).size).toBe(brBytes)
      expect(statSync(join(folder, `${name}.gz`)).size).toBe(gzBytes)
    }
    expect(readdirSync(folder)).toHaveLength(names.length * 3 + 1)
  })

  test('is a production build without source maps and without code of the service', () => {
    expect(scriptsLike(/sourceMappingURL|jsxDEV|from"node:/)).toEqual([])
    expect(scriptsLike(/better-auth|drizzle|libsql/)).toEqual([])
  })

  test('asks no other host for anything', () => {
    const styles = readFileSync(join(folder, manifest.entries.styles), 'utf8')
    expect(/@import|url\((?!['"]?(data:|\/console\/assets\/))/.test(styles)).toBe(false)
    expect(scriptsLike(/(?:import|fetch)\(["'`]https?:/)).toEqual([])
  })
})

describe('building again', () => {
  test('does nothing when nothing changed', async () => {
    const before = statSync(join(folder, 'manifest.json')).ino
    expect(await buildConsole({ folder })).toEqual({ built: false, manifest })
    expect(statSync(join(folder, 'manifest.json')).ino).toBe(before)
  })

  test('gives the same names to the same sources', async () => {
    const other = freshFolder()
    expect(await buildConsole({ folder: other })).toEqual({ built: true, manifest })
    rmSync(other, { recursive: true, force: true })
  })

  test('restores missing files, and removes those that the manifest does not name', async () => {
    rmSync(join(folder, `${manifest.entries.main}.br`))
    writeFileSync(join(folder, 'old-12345678.js'), '')
    expect(await buildConsole({ folder })).toEqual({ built: true, manifest })
    expect(readdirSync(folder)).not.toContain('old-12345678.js')
    expect(readdirSync(folder)).toContain(`${manifest.entries.main}.br`)
  })

  test('starts over if the manifest is incomplete', async () => {
    const file = join(folder, 'manifest.json')
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 40))
    expect(await buildConsole({ folder })).toEqual({ built: true, manifest })
  })
})
