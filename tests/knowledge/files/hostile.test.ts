import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import type { AppError } from '../../../src/errors.ts'
import { FileReader } from '../../../src/knowledge/files/file-reader.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { formOf, makeDocx, makePdf, makeZip, paragraph, pdfOf } from '../../support/files.ts'

const seed = 20_260
const mebi = 1_048_576
// Of these files, none is refused for the time that reading it takes, however busy the machine is.
const reader = new FileReader({ readWithinMs: 50_000, htmlWithinMs: 50_000 })
afterAll(() => reader.close())

/** The text, or why there is none. */
async function outcomeOf(name: string, content: string | Uint8Array, by = reader): Promise<string> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return await by.read({ name, bytes }).then(
    ({ text }) => text,
    (error: AppError) => `${error.code}: ${error.detail}`,
  )
}

function repeated(text: string, bytes: number): string {
  return text.repeat(Math.ceil(bytes / text.length))
}

const entities = `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: 9 }, (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`).join('')}]>`

describe('a hostile file costs one answer', () => {
  const cannot = 'file_cannot_be_read: '
  test.each<[string, string, () => string | Uint8Array, string]>([
    ['an archive that expands', 'x.docx', () => makeDocx(repeated(' ', 80 * mebi)), 'expands to more than'],
    [
      'an archive that lies about its size',
      'x.docx',
      () => makeZip({ 'word/document.xml': repeated(' ', 80 * mebi) }, { 'word/document.xml': 9 }),
      'expands to more than',
    ],
    [
      'an archive that has more entries than it says',
      'x.docx',
      () => counting(1, makeDocx(repeated(' ', 80 * mebi))),
      'expands to more than',
    ],
    [
      'an archive with two directories, of which the second is for large archives',
      'x.docx',
      () => withLargeDirectory(makeDocx(repeated(' ', 80 * mebi))),
      'expands to more than',
    ],
    ['an archive with a password', 'x.docx', () => locked(makeDocx(paragraph('a'))), 'password'],
    ['entities that expand', 'x.docx', () => makeDocx(paragraph('&a9;'), {}, entities), 'damaged'],
    [
      'parts within parts',
      'x.docx',
      () =>
        makeDocx(
          `${'<w:tbl><w:tr><w:tc>'.repeat(20_000)}${paragraph('a')}${'</w:tc></w:tr></w:tbl>'.repeat(20_000)}`,
        ),
      'nested too deeply',
    ],
    ['elements within elements', 'x.html', () => repeated('<div>', 391 * 1_024), 'more than 200 levels deep'],
    [
      'elements within elements, after a comment that ends only without a tag inside it',
      'x.html',
      () => `<p>a</p><!-- --<html>>${'<div>'.repeat(1_500)}`,
      'more than 200 levels deep',
    ],
    [
      'tables within tables',
      'x.docx',
      () =>
        makeDocx(
          `${'<w:tbl><w:tr><w:tc>'.repeat(99)}${paragraph('a')}${'</w:tc></w:tr></w:tbl>'.repeat(99)}`,
        ),
      'more than 200 levels deep',
    ],
    ['pages that contain themselves', 'x.pdf', () => edited('/Kids [5 0 R]', '/Kids [2 0 R]'), 'damaged'],
    ['too many pages', 'x.pdf', () => makePdf(Array.from({ length: 2_001 }, () => [])), '2001 pages'],
    [
      'a page that expands',
      'x.pdf',
      () => pdfOf(deflateSync(deflateSync(Buffer.alloc(600 * mebi))), '[/FlateDecode /FlateDecode]'),
      'too much memory',
    ],
    ['a PDF that is cut off', 'x.pdf', () => makePdf([[{ y: 1, text: 'a' }]]).subarray(0, 40), 'damaged'],
  ])('%s', async (_, name, make, reason) => {
    const outcome = await outcomeOf(name, make())
    expect(outcome).toStartWith(cannot)
    expect(outcome).toContain(reason)
    expect(await outcomeOf('good.html', '<p>Good.</p>')).toBe('Good.')
  })

  test('when it takes too long, the next one is read by another thread', async () => {
    const hasty = new FileReader({ htmlWithinMs: 2_000, memoryBytesMax: Number.POSITIVE_INFINITY })
    const slow = outcomeOf('x.html', repeated('<b>a</b>', 19 * mebi), hasty)
    const next = outcomeOf('good.csv', 'Plan,Price\nBasic,10', hasty)
    expect(await slow).toBe(`${cannot}Reading the file takes longer than 2 seconds.`)
    expect(await next).toBe('- Plan: Basic; Price: 10')
    await hasty.close()
  })

  const table = `Plan,Price\nBasic,10${repeated('\n', 2 * mebi)}`
  test.each([
    ['plans.csv', table, 30_000, '- Plan: Basic; Price: 10'],
    ['plans.csv', table, 61_000, `${cannot}Reading the file takes longer than 10 seconds.`],
    ['a.html', `<p>Plan.${repeated('\n', 2 * mebi)}`, 17_000, 'Plan.'],
    [
      'a.html',
      repeated('<p>Plan.', 2 * mebi),
      19_000,
      `${cannot}Reading the file takes longer than 3 seconds.`,
    ],
  ])(
    'of %s without any processor time is a wait that is limited, not work',
    async (name, content, waitedMs, expected) => {
      const clock = spyOn(performance, 'now').mockReturnValue(0)
      const processor = spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 })
      // The last that is noted before a file is read.
      const memory = spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
        clock.mockReturnValue(waitedMs)
        return 0
      })
      const starved = new FileReader()
      try {
        expect(await outcomeOf(name, content, starved)).toBe(expected)
      } finally {
        for (const spy of [clock, processor, memory]) spy.mockRestore()
        await starved.close()
      }
    },
  )

  test('files beyond those that may wait are refused, and the others are read', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, at) => outcomeOf('a.csv', `a\n${at}`)))
    expect(all.filter((outcome) => outcome.startsWith('unavailable'))).toHaveLength(3)
    expect(all.slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, at) => `- a: ${at}`))
  })

  test('of a project, one file may wait while another is read; other projects have their own', async () => {
    const upload = async (projectId: number) => {
      const form = new Response(formOf('a.csv', 'a\nb'))
      const type = form.headers.get('content-type') ?? ''
      const body = new Uint8Array(await form.arrayBuffer())
      return () =>
        reader.readForm(projectId, type, body).then(
          ({ file }) => file.text,
          ({ code }: AppError) => code,
        )
    }
    const [mine, theirs] = [await upload(1), await upload(2)]
    const outcomes = await Promise.all([mine, mine, mine, theirs, theirs].map((send) => send()))
    expect(outcomes).toEqual(['- a: b', '- a: b', 'unavailable', '- a: b', 'unavailable'])
    expect(await mine()).toBe('- a: b')
  })

  test('elements that authors need not close are not nested, and 200 levels are read', async () => {
    const list = `<ul>${'<li>one'.repeat(300)}</ul><table>${'<tr><td>two'.repeat(300)}</table>${'<p>three<br>'.repeat(300)}`
    expect(await outcomeOf('a.html', list)).toContain('three')
    expect(await outcomeOf('a.html', `${'<div>'.repeat(199)}<p>deep`)).toBe('deep')
  })

  const whole: [string, Uint8Array][] = [
    ['a.pdf', makePdf([[{ y: 700, size: 20, text: 'Title' }], [{ y: 600, text: 'Text' }]], { Title: 'T' })],
    ['a.docx', makeDocx(paragraph('Title', 'Heading1') + paragraph('Text'))],
    ['a.html', Buffer.from('<title>T</title><main><h1>A</h1><table><tr><td>b<ul><li>c</main>')],
    ['a.csv', Buffer.from('a;b\n"c;d";e\n')],
  ]
  test.each(whole)(
    `damage to %s is a reason or a text, and nothing else (seed ${seed})`,
    async (name, bytes) => {
      const damage = fc.record({
        end: fc.nat(bytes.length),
        places: fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 6 }),
      })
      await fc.assert(
        fc.asyncProperty(damage, async ({ end, places }) => {
          const damaged = Buffer.from(bytes)
          for (const [at, byte] of places) damaged[at] = byte
          const outcome = await outcomeOf(name, damaged.subarray(0, end))
          expect(outcome).not.toMatch(/^(internal|undefined|unavailable|ERR_)/)
        }),
        { seed, ...runs(40) },
      )
      expect(await outcomeOf('good.csv', 'a\nb')).toBe('- a: b')
    },
  )
})

test('nothing that a file refers to is fetched', async () => {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      asked.push(url)
      return new Response('secret')
    },
  })
  const url = server.url.origin
  const links = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const image = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/image'
  const picture = `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:link="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
  const docx = makeDocx(paragraph('Text.') + picture, {
    'word/_rels/document.xml.rels': `<Relationships xmlns="${links}"><Relationship Id="r9" Type="${image}" Target="${url}/docx.png" TargetMode="External"/></Relationships>`,
  })
  const page = `<base href="${url}/"><link rel=stylesheet href=a.css><script src=a.js></script><p>Text.<img src=a.png>
    <iframe src=a.html></iframe><object data=a.swf></object><style>@import "${url}/b.css"</style>`
  expect(await outcomeOf('a.docx', docx)).toBe('Text.')
  expect(await outcomeOf('a.html', page)).toBe('Text.')
  const external = `<!DOCTYPE x [<!ENTITY e SYSTEM "${url}/entity">]>`
  expect(await outcomeOf('b.docx', makeDocx(paragraph('a &e; b'), {}, external))).not.toContain('secret')
  expect(
    await outcomeOf(
      'a.pdf',
      edited('/Type /Catalog', `/Type /Catalog /OpenAction << /S /URI /URI (${url}/pdf) >>`),
    ),
  ).toBe('text')
  expect(asked).toEqual([])
  await server.stop(true)
})

function edited(from: string, to: string): Uint8Array {
  const file = Buffer.from(makePdf([[{ y: 1, text: 'text' }]])).toString('latin1')
  return Buffer.from(file.replace(from, to), 'latin1')
}

/** Marks every entry as encrypted. */
function locked(archive: Buffer): Buffer {
  for (let at = archive.indexOf('PK\x01\x02'); at >= 0; at = archive.indexOf('PK\x01\x02', at + 4))
    archive[at + 8] = 1
  return archive
}

/** Says that the archive has this many entries. */
function counting(entries: number, archive: Buffer): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06')
  archive.writeUInt16LE(entries, end + 8)
  archive.writeUInt16LE(entries, end + 10)
  return archive
}

/** Adds a ZIP64 directory, which has all entries, and leaves only the first one to the usual directory. */
function withLargeDirectory(archive: Buffer): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06')
  const start = archive.readUInt32LE(end + 16)
  const directory = archive.subarray(start, end)
  const first = directory.subarray(0, directory.indexOf('PK\x01\x02', 4))
  const large = Buffer.alloc(56)
  large.write('PK\x06\x06', 'latin1')
  large.writeBigUInt64LE(44n, 4)
  for (const at of [24, 32]) large.writeBigUInt64LE(BigInt(archive.readUInt16LE(end + 10)), at)
  large.writeBigUInt64LE(BigInt(directory.length + first.length), 40)
  large.writeBigUInt64LE(BigInt(start), 48)
  const locator = Buffer.alloc(20)
  locator.write('PK\x06\x07', 'latin1')
  locator.writeBigUInt64LE(BigInt(end + first.length), 8)
  locator.writeUInt32LE(1, 16)
  const last = counting(1, Buffer.from(archive.subarray(end)))
  last.writeUInt16LE(0xffff, 4)
  last.writeUInt32LE(first.length, 12)
  last.writeUInt32LE(end, 16)
  return Buffer.concat([archive.subarray(0, end), first, large, locator, last])
}
