import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FolderFiles } from '../../src/recordings/folder-files.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'callbook-recordings-'))
const none = async () => new Set<string>()
let files: FolderFiles

describe('files of recordings in a folder', () => {
  beforeEach(() => {
    files = new FolderFiles(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('a finished draft that is discarded closes no file that was opened since', async () => {
    const first = await files.create()
    await first.finish()
    const second = await files.create()
    await first.discard()
    await second.write([Buffer.from('a recording')])
    await second.finish()
    await second.discard()
    expect(readdirSync(join(folder, 'incoming'))).toEqual([])
  })

  test('a recording whose row is committed is read where it stays, whoever moves it', async () => {
    const draft = await files.create()
    await draft.finish()
    const local = await files.local(draft.name)
    await files.keep(draft.name)
    expect(existsSync(local?.path ?? '')).toBe(true)
    await expect(files.keep('0'.repeat(32))).rejects.toThrow('ENOENT')
    expect(await files.local('0'.repeat(32))).toBeNull()
  })

  test('a read-only disk is said in a sentence', async () => {
    const disk = mountSmallDisk(1)
    if (!disk) return console.info('Not tested: a read-only disk, because it cannot be mounted.')
    Bun.spawnSync(['mount', '-o', 'remount,ro', disk.folder])
    const failure = new FolderFiles(join(disk.folder, 'recordings')).create()
    await expect(failure).rejects.toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('read-only'),
    })
    disk.remove()
  })

  test('what an earlier process left is removed, but no draft of this one', async () => {
    const left = await new FolderFiles(folder).create()
    const draft = await files.create()
    await files.clear(none)
    expect(readdirSync(join(folder, 'incoming'))).toEqual([draft.name])
    await left.discard()
    await draft.finish()
    await files.keep(draft.name)
    expect(readdirSync(folder)).toContain(draft.name)
  })
})
