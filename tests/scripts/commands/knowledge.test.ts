import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, fileOf, withService } from '../../support/command-line.ts'
import { makeDocx, makePdf, paragraph } from '../../support/files.ts'
import { until } from '../../support/until.ts'

describe('callbook knowledge', () => {
  function documents(): string {
    const folder = freshFolder()
    mkdirSync(join(folder, 'deep', 'deeper'), { recursive: true })
    mkdirSync(join(folder, '.hidden'))
    const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content)
    write(
      'b refunds.md',
      '```\n# not this\n```\n\n# Refund *policy*\n\nWe refund any order within 30 days.\n',
    )
    write('a.txt', 'Opening hours are nine to five.\r\n')
    write('deep/title.md', '---\ntitle: "Shipping rates"\n---\n\n## Europe\n\nFive francs.\n')
    write('deep/deeper/z.MD', '\ufeff# Züge\n\nTrains.')
    write('.hidden/no.md', '# Hidden')
    write('picture.png', '# no')
    return folder
  }

  test('files and folders become items, named after heading, title or file, byte for byte', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project()
    const folder = documents()
    const { code, err, value } = await callbook.json(['knowledge', 'import', folder, '--project', 'Acme'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(value).toMatchObject({ imported: 4, unchanged: 0, failed: 0, chunks: 4, pendingChunks: 0 })
    expect(value.items.map((item: { name: string; path: string }) => [item.path, item.name])).toEqual([
      [join(folder, 'a.txt'), 'a'],
      [join(folder, 'b refunds.md'), 'Refund policy'],
      [join(folder, 'deep/deeper/z.MD'), 'Züge'],
      [join(folder, 'deep/title.md'), 'Shipping rates'],
    ])
    await withService(async ({ url }) => {
      const { value: key } = await callbook.json(['key', 'create', '--project', id, '--name', 'x'])
      const response = await fetch(`${url}/v1/knowledge`, { headers: { authorization: `Bearer ${key.key}` } })
      const items = (await response.json()) as { id: string; text: string }[]
      for (const item of value.items)
        expect(items.find((one) => one.id === item.id)?.text).toBe(readFileSync(item.path, 'utf8'))
      const again = await callbook.json(['knowledge', 'import', folder, '--project', id])
      expect(again.value).toMatchObject({ imported: 0, unchanged: 4, failed: 0 })
    }, callbook.dataDir)
  })

  test('bad files are reported by path and skipped, the others are imported, and the exit code is 1', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const folder = freshFolder()
    const bad: [string, string | Uint8Array, RegExp][] = [
      ['blank.md', ' \n\t\n', /no text/],
      ['empty.md', '', /no text/],
      ['latin.txt', new Uint8Array([0x47, 0x72, 0xfc, 0x65]), /UTF-8/],
      ['large.md', 'x'.repeat(1_001), /1001 bytes/],
      ['zero.md', 'a\0b', /U\+0000/],
    ]
    for (const [name, content] of bad) writeFileSync(join(folder, name), content)
    writeFileSync(join(folder, 'good.md'), '# Good')
    const other = fileOf('x', 'page.png')
    const none = join(folder, 'none.md')
    const ran = await callbook.json(
      ['knowledge', 'import', folder, other, none, freshFolder(), '--project', 'Acme'],
      { env: { KNOWLEDGE_TEXT_MAX_BYTES: '1000' } },
    )
    expect(ran.code).toBe(1)
    expect(ran.value).toMatchObject({ imported: 1, failed: bad.length + 3 })
    const messageOf = new Map(
      ran.value.errors.map((e: { path: string; message: string }) => [e.path, e.message]),
    )
    for (const [name, , message] of bad) expect(messageOf.get(join(folder, name))).toMatch(message)
    expect(messageOf.get(other)).toMatch(/cannot be read; .*\.pdf/)
    expect(messageOf.get(none)).toBe('no such file or folder')
    for (const [name] of bad) expect(ran.err).toContain(`${join(folder, name)}: `)
  })

  test('files that people write are imported as Markdown', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project()
    const folder = freshFolder()
    writeFileSync(join(folder, 'a.csv'), 'Plan,Price\nBasic,10\n')
    writeFileSync(join(folder, 'b.docx'), makeDocx(paragraph('Within 30 days.')))
    writeFileSync(join(folder, 'c.html'), '<title>Hours</title><main><h2>When</h2><p>Nine to five.</main>')
    writeFileSync(join(folder, 'd.pdf'), makePdf([[{ y: 700, text: 'We speak French.' }]]))
    writeFileSync(join(folder, 'e.pdf'), 'no')
    const { code, value } = await callbook.json(['knowledge', 'import', folder, '--project', id])
    expect([code, value.errors.map(({ path }: { path: string }) => path)]).toEqual([
      1,
      [join(folder, 'e.pdf')],
    ])
    expect(value.items.map(({ name }: { name: string }) => name)).toEqual(['a', 'b', 'Hours', 'd'])
    await withService(async ({ url }) => {
      const { value: key } = await callbook.json(['key', 'create', '--project', id, '--name', 'x'])
      const response = await fetch(`${url}/v1/knowledge`, { headers: { authorization: `Bearer ${key.key}` } })
      expect(((await response.json()) as { text: string }[]).map(({ text }) => text).sort()).toEqual([
        '## When\n\nNine to five.',
        '- Plan: Basic; Price: 10',
        'We speak French.',
        'Within 30 days.',
      ])
    }, callbook.dataDir)
  })

  test('a running service finds what is imported, by keyword and by vector', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const { out } = await callbook.spawned([
        'knowledge',
        'import',
        documents(),
        '--project',
        project.name,
        '--json',
      ])
      expect(JSON.parse(out)).toMatchObject({ imported: 4, failed: 0 })
      const search = async (mode: string) => {
        const body = { query: 'refund any order', mode, limit: 1, timeoutMs: 10_000 }
        const response = await project.send('POST', '/v1/knowledge/search', body)
        return (await response.json()) as { data: { name: string }[]; mode: string }
      }
      expect((await search('keyword')).data).toMatchObject([{ name: 'Refund policy' }])
      await until(async () => (await search('vector')).data[0]?.name === 'Refund policy')
      expect((await search('vector')).mode).toBe('vector')
      await until(async () => {
        const [check] = (await callbook.json(['index', 'verify', '--project', project.id])).value
        return check.pendingChunks === 0 && check.fileVectors === 4
      })
    })
  })

  test('a failing embedding provider leaves the chunks pending, and the import succeeds', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const { code, value } = await callbook.json(['knowledge', 'import', documents(), '--project', 'Acme'], {
      env: { EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_ENDPOINT: 'http://127.0.0.1:1' },
    })
    expect(code).toBe(0)
    expect(value).toMatchObject({ imported: 4, failed: 0, pendingChunks: 4 })
    const { value: checks } = await callbook.json(['index', 'verify'])
    expect(checks).toMatchObject([{ ok: true, pendingChunks: 4, rowVectors: 0 }])
  })
})
