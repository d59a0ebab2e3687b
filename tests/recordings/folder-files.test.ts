import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FolderFiles } from '../../src/recordings/folder-files.ts'

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
