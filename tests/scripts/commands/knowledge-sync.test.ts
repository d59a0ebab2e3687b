import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { itemIdOf } from '../../../scripts/commands/knowledge-sync.ts'
import {
  CommandLine,
  commandsTimeoutMs,
  newFolder,
  removeFolders,
  withService,
} from '../../support/command-line.ts'

setDefaultTimeout(commandsTimeoutMs)
afterAll(removeFolders)

function documents(): string {
  const folder = newFolder()
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'refunds.md'), '# Refund policy\n\nWe refund any order.\n')
  writeFileSync(join(folder, 'hours.txt'), 'Nine to five.\r\n')
  writeFileSync(join(folder, 'deep', 'Züge.md'), '# Trains\n\nBy train.\n')
  return folder
}

describe('callbook knowledge sync', () => {
  test('makes the project equal the folder, and a second run changes nothing', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const folder = documents()
      const sync = (...more: string[]) =>
        callbook.json(['knowledge', 'sync', folder, '--project', project.id, ...more])
      const items = async () =>
        (await (await project.fetch('/v1/knowledge')).json()) as { id: string; name: string; text: string }[]
      const names = async () => (await items()).map(({ name }) => name).toSorted()
      const own = await (await project.send('POST', '/v1/knowledge', { name: 'Own', text: 'Own.' })).json()

      const { code, value } = await sync('--prune')
      expect([code, value]).toMatchObject([
        0,
        { created: 3, changed: 0, unchanged: 0, deleted: 0, failed: 0 },
      ])
      expect(value.set).toBe(basename(folder))
      const refunds = (await items()).find(({ name }) => name === 'Refund policy')
      expect(refunds?.id).toBe(itemIdOf(basename(folder), 'refunds.md'))
      expect(refunds?.text).toBe(readFileSync(join(folder, 'refunds.md'), 'utf8'))

      const before = await (await project.fetch('/v1/changes')).json()
      expect((await sync('--prune')).value).toMatchObject({
        created: 0,
        changed: 0,
        unchanged: 3,
        deleted: 0,
      })
      expect(await (await project.fetch('/v1/changes')).json()).toEqual(before)

      writeFileSync(join(folder, 'refunds.md'), '# Refund policy\n\nWe refund no order.\n')
      renameSync(join(folder, 'hours.txt'), join(folder, 'times.txt'))
      writeFileSync(join(folder, 'latin.md'), new Uint8Array([0x47, 0x72, 0xfc, 0x65]))
      const without = await sync()
      expect(without.code).toBe(1)
      expect(without.value).toMatchObject({ created: 1, changed: 1, unchanged: 1, deleted: 0, failed: 1 })
      rmSync(join(folder, 'latin.md'))
      expect((await sync('--prune')).value).toMatchObject({ created: 0, unchanged: 3, deleted: 1, failed: 0 })
      expect(await names()).toEqual(['Own', 'Refund policy', 'Trains', 'times'])

      // Another set of the same project, and an item that no sync has made, stay.
      expect((await sync('--name', 'other')).value).toMatchObject({ set: 'other', created: 3 })
      for (const name of ['refunds.md', 'times.txt', 'deep']) rmSync(join(folder, name), { recursive: true })
      expect((await sync('--prune')).value).toMatchObject({ unchanged: 0, deleted: 3 })
      expect(await names()).toEqual(['Own', 'Refund policy', 'Trains', 'times'])
      expect((await sync('--prune', '--name', 'other')).value.deleted).toBe(3)
      expect((await items()).map(({ id }) => id)).toEqual([own.id])
    })
  })

  test('takes a file before a link to it, and says nothing of bad files where there are none', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const folder = newFolder()
      for (const name of ['a-link.md', 'z-link.md']) symlinkSync('middle.md', join(folder, name))
      writeFileSync(join(folder, 'middle.md'), '# Refunds\n\nWe refund any order.\n')
      const { code, out } = await callbook.run(['knowledge', 'sync', folder, '--project', project.id])
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/: 1 item created, 0 changed, 0 unchanged, 0 deleted \([\d.]+ s\)\.$/m),
      ])
      const items = (await (await project.fetch('/v1/knowledge')).json()) as { id: string }[]
      expect(items.map(({ id }) => id)).toEqual([itemIdOf(basename(folder), 'middle.md')])
    })
  })

  test('deletes nothing when the folder is not there, or an item is only unreadable', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const folder = documents()
    const sync = (path: string) =>
      callbook.json(['knowledge', 'sync', path, '--project', 'Acme', '--name', 'set', '--prune'])
    expect((await sync(folder)).value).toMatchObject({ created: 3 })
    const none = await callbook.run(['knowledge', 'sync', `${folder}/none`, '--project', 'Acme', '--prune'])
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('no such file or folder')])
    writeFileSync(join(folder, 'hours.txt'), ' ')
    const blank = await sync(folder)
    expect([blank.code, blank.value]).toMatchObject([1, { unchanged: 2, failed: 1, deleted: 0 }])
  })
})

test('ids are allowed, differ for each set and path, and are the same on every system', () => {
  const paths = ['a.md', 'a/b.md', 'a-b.md', 'Züge.md', `${'deep/'.repeat(100)}x.md`, '火车.md', '机车.md']
  const ids = ['docs', 'docs.a', 'kn_1', '文档'].flatMap((set) => paths.map((path) => itemIdOf(set, path)))
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^sync\.[A-Za-z0-9._-]{1,123}$/)
  expect(itemIdOf('docs', 'Züge.md'.normalize('NFD'))).toBe(itemIdOf('docs', 'Züge.md'.normalize('NFC')))
})
