import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { itemIdOf } from '../../../scripts/commands/knowledge-sync.ts'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, withService } from '../../support/command-line.ts'

function documents(): string {
  const folder = freshFolder()
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'refunds.md'), '# Refund policy\n\nWe refund any order.\n')
  writeFileSync(join(folder, 'hours.txt'), 'Nine to five.\r\n')
  writeFileSync(join(folder, 'deep', 'Züge.md'), '# Trains\n\nBy train.\n')
  return folder
}

describe('callbook knowledge sync', () => {
  test('names the items of equal text that no sync made, and deletes these alone if it is asked to', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const folder = documents()
      const run = (verb: string, ...more: string[]) =>
        callbook.run(['knowledge', verb, folder, '--project', project.id, ...more])
      const names = async () =>
        ((await (await project.fetch('/v1/knowledge')).json()) as { name: string }[])
          .map(({ name }) => name)
          .toSorted()
      await project.send('POST', '/v1/knowledge', { name: 'Own', text: 'Own.' })
      await run('import')
      expect((await run('sync', '--name', 'other')).out).toContain('--replace-imported deletes them')
      const named = await run('sync')
      expect([named.code, named.out]).toEqual([
        0,
        expect.stringMatching(/^No sync made these.*Refund policy \(kn_/),
      ])
      expect(await names()).toHaveLength(10)
      const { value } = await callbook.json([
        'knowledge',
        'sync',
        folder,
        '--project',
        project.id,
        '--replace-imported',
      ])
      expect(value).toMatchObject({ unchanged: 3, deleted: 3, imported: [{}, {}, {}] })
      expect(await names()).toEqual([
        'Own',
        ...['Refund policy', 'Trains', 'hours'].flatMap((name) => [name, name]),
      ])
      expect((await run('sync')).out).not.toContain('No sync made these')
    })
  })

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
      expect((await sync('--prune', '--yes')).value).toMatchObject({ unchanged: 0, deleted: 3 })
      expect(await names()).toEqual(['Own', 'Refund policy', 'Trains', 'times'])
      expect((await sync('--prune', '--yes', '--name', 'other')).value.deleted).toBe(3)
      expect((await items()).map(({ id }) => id)).toEqual([own.id])
    })
  })

  test('takes a file before a link to it, and says nothing of bad files where there are none', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const folder = freshFolder()
      for (const name of ['a-link.md', 'z-link.md']) symlinkSync('middle.md', join(folder, name))
      writeFileSync(join(folder, 'middle.md'), '# Refunds\n\nWe refund any order.\n')
      const { code, out } = await callbook.spawned(['knowledge', 'sync', folder, '--project', project.id])
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/: 1 item created, 0 changed, 0 unchanged, 0 deleted \([\d.]+ s\)\.$/m),
      ])
      const items = (await (await project.fetch('/v1/knowledge')).json()) as { id: string }[]
      expect(items.map(({ id }) => id)).toEqual([itemIdOf(basename(folder), 'middle.md')])
    })
  })

  test('reads MDX and reStructuredText, and lists what it passes over', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const outside = freshFolder()
      writeFileSync(join(outside, '.env'), 'HF_TOKEN=hf_never-store-this')
      const folder = freshFolder()
      mkdirSync(join(folder, '.git'))
      writeFileSync(join(folder, '.env'), 'KEY=never-store-this')
      writeFileSync(join(folder, 'logo.png'), 'png')
      writeFileSync(
        join(folder, 'prices.mdx'),
        "import { Card } from './card'\n\n# Prices\n\n<Card>Ten.</Card>\n",
      )
      writeFileSync(join(folder, 'trains.rst'), '======\nTrains\n======\n\nBy train.\n')
      symlinkSync(join(outside, '.env'), join(folder, 'notes.md'))
      symlinkSync('.env', join(folder, 'settings.txt'))
      symlinkSync(outside, join(folder, 'linked'))
      symlinkSync(join(outside, 'removed'), join(folder, 'dangling'))
      const sync = ['knowledge', 'sync', folder, '--project', project.id]
      const { code, value } = await callbook.json(sync)
      expect([code, value]).toMatchObject([0, { created: 2, failed: 0 }])
      const link = 'it is a link out of the folder or to a hidden file'
      expect(value.skipped).toEqual([
        { path: join(folder, '.env'), reason: 'its name starts with a dot' },
        { path: join(folder, '.git'), reason: 'its name starts with a dot' },
        { path: join(folder, 'dangling'), reason: 'it is a link that leads nowhere' },
        { path: join(folder, 'linked'), reason: 'it is a link to a folder' },
        { path: join(folder, 'logo.png'), reason: expect.stringContaining('.mdx, .rst') },
        { path: join(folder, 'notes.md'), reason: link },
        { path: join(folder, 'settings.txt'), reason: link },
      ])
      const items = (await (await project.fetch('/v1/knowledge')).json()) as { name: string; text: string }[]
      expect(items.map(({ name }) => name).toSorted()).toEqual(['Prices', 'Trains'])
      expect(JSON.stringify(items)).not.toContain('never-store-this')
      const { out } = await callbook.run(sync)
      expect(out).toContain(`Skipped ${join(folder, 'notes.md')}: ${link}\n`)
      const imported = await callbook.json(['knowledge', 'import', folder, '--project', project.id])
      expect(imported.value).toMatchObject({ imported: 0, unchanged: 2, failed: 0 })
    })
  })

  test('deletes more than half of a set only with --yes', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const folder = documents()
    writeFileSync(join(folder, 'prices.md'), '# Prices\n\nTen.\n')
    const sync = (...more: string[]) =>
      callbook.json(['knowledge', 'sync', folder, '--project', 'Acme', '--prune', ...more])
    expect((await sync()).value).toMatchObject({ created: 4, deleted: 0 })
    // As many new items as old ones are no reason to delete the old ones unasked.
    renameSync(join(folder, 'refunds.md'), join(folder, 'returns.md'))
    renameSync(join(folder, 'hours.txt'), join(folder, 'times.txt'))
    renameSync(join(folder, 'prices.md'), join(folder, 'rates.md'))
    const refused = await sync()
    expect([refused.code, refused.value]).toMatchObject([1, { created: 3, unchanged: 1, deleted: 0 }])
    expect(refused.err).toContain('Nothing was deleted, because 3 of 4 items would be.')
    expect(refused.err).toContain('--yes')
    expect((await sync('--yes')).value).toMatchObject({ unchanged: 4, deleted: 3 })
    for (const name of ['returns.md', 'times.txt']) rmSync(join(folder, name))
    expect(await sync()).toMatchObject({ code: 0, value: { unchanged: 2, deleted: 2 } })
  })

  test('reads what --include names and --exclude does not, and leaves the items of what is still there', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const folder = documents()
    mkdirSync(join(folder, 'deep', 'drafts'))
    writeFileSync(join(folder, 'deep', 'drafts', 'plan.md'), '# Plan\n\nLater.\n')
    const sync = async (...more: string[]) => {
      const args = ['knowledge', 'sync', folder, '--project', 'Acme', '--prune', ...more]
      const { code, value } = await callbook.json(args)
      const skipped = value.skipped.map(({ path }: { path: string }) => path.slice(folder.length + 1))
      return { code, skipped, created: value.created, deleted: value.deleted }
    }
    const hours = {
      code: 0,
      skipped: ['deep/Züge.md', 'deep/drafts/plan.md', 'refunds.md'],
      created: 1,
      deleted: 0,
    }
    expect(await sync('--include', '*.txt')).toEqual(hours)
    const deep = {
      code: 0,
      skipped: ['deep/drafts/plan.md', 'hours.txt', 'refunds.md'],
      created: 1,
      deleted: 0,
    }
    expect(await sync('--include', 'deep/', '--exclude', 'drafts')).toEqual(deep)
    expect(await sync('--exclude', 'deep/**')).toMatchObject({ created: 1, deleted: 0 })
    expect(await sync('--include', '**/plan.md', '--include', './refunds.md')).toMatchObject({
      created: 1,
      deleted: 0,
    })
    rmSync(join(folder, 'hours.txt'))
    expect(await sync('--exclude', '*')).toMatchObject({ created: 0, deleted: 1 })
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

describe('front matter', () => {
  const frontMatter = (lines: string, text: string) => `---\n${lines}\n---\n\n${text}\n`

  test('gives tags and golden questions, which follow the file', async () => {
    await withService(async ({ mintProject, services }, callbook) => {
      const project = await mintProject()
      await services.settings.change(project.projectId, { keepQuestionsDays: 30 })
      const folder = freshFolder()
      const write = (name: string, lines: string, text: string) =>
        writeFileSync(join(folder, name), frontMatter(lines, text))
      const sync = async (...more: string[]) =>
        (await callbook.json(['knowledge', 'sync', folder, '--project', project.id, ...more])).value
      const tagsOf = async () => {
        const items: { name: string; tags: string[] }[] = await (await project.fetch('/v1/knowledge')).json()
        return Object.fromEntries(items.map(({ name, tags }) => [name, tags]))
      }
      const golden = async () => {
        const { data } = await (await project.fetch('/v1/questions/golden')).json()
        return data.map(({ query, file }: { query: string; file: string }) => `${file}: ${query}`).sort()
      }
      write(
        'a.md',
        'tags: [API Reference, "eu", "!?"]\nquestions:\n  - Who pays, and when?\n  - "Is it: free?"',
        '# A\n\nWe pay.',
      )
      write('b.md', 'tags: billing, EU\nquestions: who pays, and WHEN', '# B\n\nThey pay.')
      write('c.md', 'title: C', 'It is paid.')
      const first = await sync()
      expect(first).toMatchObject({ created: 3, failed: 0 })
      expect(first.warnings).toEqual([
        { path: expect.stringMatching(/a\.md$/), message: '"!?" is no tag, and was left out' },
        {
          path: expect.stringMatching(/b\.md$/),
          message: '"who pays, and WHEN" is kept already, and was left out',
        },
      ])
      expect(await tagsOf()).toEqual({ A: ['api-reference', 'eu'], B: ['billing', 'eu'], C: [] })
      expect(await golden()).toEqual(['a.md: Is it: free?', 'a.md: Who pays, and when?'])
      expect(await sync()).toMatchObject({ unchanged: 3 })

      // Tags that neither the file nor the command names stay as they are.
      const items: { id: string; name: string }[] = await (await project.fetch('/v1/knowledge')).json()
      const c = items.find(({ name }) => name === 'C')?.id ?? ''
      await project.send('PATCH', `/v1/knowledge/${c}`, { tags: ['own'] })
      expect(await sync()).toMatchObject({ unchanged: 3 })
      write('a.md', 'tags: []\nquestions: [Is it free?]', '# A\n\nWe pay.')
      expect(await sync()).toMatchObject({ changed: 1, unchanged: 2 })
      expect(await tagsOf()).toEqual({ A: [], B: ['billing', 'eu'], C: ['own'] })
      expect(await golden()).toEqual(['a.md: Is it free?', 'b.md: who pays, and WHEN'])
      expect(await sync('--tag', 'docs')).toMatchObject({ changed: 3 })
      expect(await tagsOf()).toEqual({ A: ['docs'], B: ['billing', 'docs', 'eu'], C: ['docs'] })
      const refused = await callbook.run([
        'knowledge',
        'sync',
        folder,
        '--project',
        project.id,
        '--tag',
        'A b',
      ])
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--tag: must be 1 to 50')])

      rmSync(join(folder, 'b.md'))
      await sync()
      expect(await golden()).toEqual(['a.md: Is it free?'])
      rmSync(join(folder, 'a.md'))
      await sync('--prune', '--yes')
      expect(await golden()).toEqual([])
    })
  })

  test('names a gap that its item then closes, though its words are others', async () => {
    await withService(async ({ mintProject, services }, callbook) => {
      const project = await mintProject()
      await services.settings.change(project.projectId, { keepQuestionsDays: 30 })
      await project.send('POST', '/v1/knowledge/search', {
        query: 'Dromedary aboard zeppelin',
      })
      await services.questions.flush()
      const { value: gaps } = await callbook.json(['knowledge', 'gaps', '--project', project.id])
      expect(gaps).toMatchObject([{ query: 'Dromedary aboard zeppelin', count: 1, nearest: null }])
      const listed = await callbook.run(['knowledge', 'gaps', '--project', project.id, '--limit', '5'])
      expect(listed.out).toContain('1 of 1 gap.')
      const folder = freshFolder()
      const text = '# Animals\n\nCamels travel in the zeppelin.'
      const sync = () => callbook.run(['knowledge', 'sync', folder, '--project', project.id])
      const states = async () =>
        (await services.questionGroups.list(project.projectId, { state: 'gap' })).map(({ query }) => query)
      writeFileSync(join(folder, 'animals.md'), text)
      await sync()
      services.questionChecks.schedule(project.projectId)
      await services.questionChecks.finish()
      expect(await states()).toHaveLength(1)
      writeFileSync(
        join(folder, 'animals.md'),
        frontMatter('questions: ["May a dromedary come aboard?"]', text),
      )
      await sync()
      services.questionChecks.schedule(project.projectId)
      await services.questionChecks.finish()
      expect(await states()).toEqual([])
      // What equals a caller's words goes with the call, and the next sync makes it again.
      writeFileSync(join(folder, 'animals.md'), frontMatter('questions: [dromedary, aboard zeppelin]', text))
      const ask = { query: 'Dromedary?' }
      const headers = { 'content-type': 'application/json', 'x-call-id': 'call-1' }
      await project.send('PUT', '/ingest/calls/call-1', { status: 'completed' })
      await project.fetch('/v1/knowledge/search', { method: 'POST', headers, body: JSON.stringify(ask) })
      await services.questions.flush()
      await sync()
      const golden = async () =>
        (await services.golden.list(project.projectId)).map(({ query }) => query).sort()
      expect(await golden()).toEqual(['aboard zeppelin', 'dromedary'])
      await project.fetch('/v1/calls/call-1', { method: 'DELETE' })
      expect(await golden()).toEqual(['aboard zeppelin'])
      await sync()
      expect(await golden()).toEqual(['aboard zeppelin', 'dromedary'])
    })
  })

  test('of an import gives tags, which are among what makes it another', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const folder = freshFolder()
      writeFileSync(join(folder, 'a.md'), frontMatter('tags:\n- Billing\n- "eu" # here', '# A\n\nWe pay.'))
      const load = async (...more: string[]) =>
        (await callbook.json(['knowledge', 'import', folder, '--project', project.id, ...more])).value
      expect(await load()).toMatchObject({ imported: 1, warnings: [] })
      expect(await load()).toMatchObject({ imported: 0, unchanged: 1 })
      expect(await load('--tag', 'own')).toMatchObject({ imported: 1 })
      const items: { tags: string[] }[] = await (await project.fetch('/v1/knowledge')).json()
      expect(items.map(({ tags }) => tags)).toEqual([
        ['billing', 'eu', 'own'],
        ['billing', 'eu'],
      ])
    })
  })
})
