import { beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { FolderFiles } from '../../src/recordings/folder-files.ts'
import { freshFolder } from '../support/at-end.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const folder = freshFolder()
const none = async () => new Set<string>()
let files: FolderFiles

describe('files of recordings in a folder', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'incoming'), { recursive: true })
    files = new FolderFiles(folder)
  })

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

  test('a folder that leaves while a recording arrives is said in a sentence', async () => {
    const draft = await files.create()
    await draft.write([Buffer.from('a recording')])
    renameSync(folder, `${folder}-away`)
    const failure = draft.finish()
    await expect(failure.finally(() => renameSync(`${folder}-away`, folder))).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'The folder of recordings is not there. The recording was not stored.',
    })
    await draft.discard()
  })

  test('a read-only disk is said in a sentence', async () => {
    const disk = mountSmallDisk(1)
    if (!disk) return console.info('Not tested: a read-only disk, because it cannot be mounted.')
    mkdirSync(join(disk, 'recordings', 'incoming'), { recursive: true })
    Bun.spawnSync(['mount', '-o', 'remount,ro', disk])
    const failure = new FolderFiles(join(disk, 'recordings')).create()
    await expect(failure).rejects.toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('read-only'),
    })
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
