import { describe, expect, test } from 'bun:test'
import { formOf, makeDocx, makePdf, paragraph } from '../../support/files.ts'
import { expectProblem } from '../../support/problem.ts'
import { startService } from '../../support/service.ts'

const service = await startService()
const project = await service.mintProject()

function upload(name: string, content: string | Uint8Array, headers: Record<string, string> = {}) {
  return project.fetch('/v1/knowledge/files', { method: 'POST', body: formOf(name, content), headers })
}

async function itemOf(answer: Response) {
  expect([answer.status, answer.status === 201 ? '' : await answer.clone().text()]).toEqual([201, ''])
  return (await answer.json()) as { id: string; name: string; description: string; text: string }
}

describe('a file becomes an item', () => {
  test('of Markdown byte for byte, named and described by its front matter', async () => {
    const text =
      '\ufeff---\ntitle: Rates\ndescription: What it costs\n---\n\n# Europe\r\n\nFive [francs](money.md).\n'
    const answer = await upload('docs/rates.md', text)
    const item = await itemOf(answer)
    expect(item).toMatchObject({ name: 'Rates', description: 'What it costs', text })
    expect(answer.headers.get('location')).toBe(`/v1/knowledge/${item.id}`)
    expect(answer.headers.get('callbook-index')).toBe('ready')
    const stored = await (await project.fetch(`/v1/knowledge/${item.id}`)).json()
    expect(stored).toEqual(item)
    const found = await project.send('POST', '/v1/knowledge/search', { query: 'francs', itemIds: [item.id] })
    const [hit] = ((await found.json()) as { data: { text: string }[] }).data
    expect(hit?.text).toBe('# Europe\r\n\nFive francs.\n')
  })

  test.each([
    ['prices.mdx', "import { Card } from './card'\n\n# Prices\n\n<Card>Ten francs.</Card>\n", 'Prices'],
    [
      'Trains.RST',
      '.. _trains:\n\n*****************\nTrains and `fares`\n*****************\n\nTen francs.\n',
      'Trains and `fares`',
    ],
    ['under.rst', 'Lines\n=====\n\nTen francs.\n', 'Lines'],
    ['untitled.rst', 'Ten francs.\n\n====  ====\nFrom  To\n====  ====\n', 'untitled'],
  ])('of %s as text, byte for byte, named by its first title', async (name, text, title) => {
    expect(await itemOf(await upload(name, text))).toMatchObject({ name: title, text })
  })

  test('of plain text, named by the file, and it may be long', async () => {
    const text = 'Opening hours are nine to five.\n'.repeat(2_000)
    expect(await itemOf(await upload('Opening hours.TXT', text))).toMatchObject({
      name: 'Opening hours',
      text,
    })
  })

  test('of a web page: its content as Markdown, without what is around it', async () => {
    const page = `<!doctype html><title>Refunds &amp; returns</title><meta name=Description content="All of it">
      <nav><a href=/>Home</a></nav><h1>Refunds</h1><p>We refund within <b>30 days</b>, see
      <a href="https://example.org/law">the law</a> and <a href=other.html>others</a>.
      <ul><li>One<li>Two</ul><table><tr><th>Plan<th>Price<tr><td>Basic<td>10</table>
      <script>alert(1)</script><img src="http://127.0.0.1:1/x.png" alt="A picture"><footer>Imprint</footer>`
    const { name, description, text } = await itemOf(await upload('page.html', page))
    expect({ name, description }).toEqual({ name: 'Refunds & returns', description: 'All of it' })
    expect(text).toContain(
      '# Refunds\n\nWe refund within **30 days**, see [the law](https://example.org/law) and others.',
    )
    expect(text).toMatch(/^- +One\n- +Two$/m)
    expect(text).toContain('| Plan | Price |\n| --- | --- |\n| Basic | 10 |')
    expect(text).toContain('A picture')
    expect(text).not.toMatch(/Home|Imprint|alert/)
  })

  test('of a PDF: large lines are headings, and lists and tables stay', async () => {
    const pdf = makePdf(
      [
        [
          { y: 750, size: 20, text: 'Refund policy' },
          { y: 700, text: 'We refund any order within thirty days, if it was paid by card or by in-' },
          { y: 688, text: 'voice.' },
          { y: 660, text: '- First' },
          { y: 648, text: '- Second' },
          { y: 600, text: 'Plan' },
          { y: 600, x: 200, text: 'Price' },
          { y: 588, text: 'Basic' },
          { y: 588, x: 200, text: '10 francs' },
          { y: 576, text: 'Large' },
          { y: 576, x: 200, text: '20 francs' },
        ],
        [{ y: 750, text: 'The second page (with brackets).' }],
      ],
      { Title: 'Refunds', Subject: 'For agents' },
    )
    const { name, description, text } = await itemOf(await upload('policy.pdf', pdf))
    expect({ name, description }).toEqual({ name: 'Refunds', description: 'For agents' })
    expect(text).toBe(
      '# Refund policy\n\nWe refund any order within thirty days, if it was paid by card or by invoice.\n\n' +
        '- First\n- Second\n\n| Plan | Price |\n| --- | --- |\n| Basic | 10 francs |\n| Large | 20 francs |\n\n' +
        'The second page (with brackets).',
    )
  })

  test('of a Word document, with its headings and tables', async () => {
    const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`
    const table = `<w:tbl><w:tr>${cell('Plan')}${cell('Price')}</w:tr><w:tr>${cell('Basic')}${cell('10')}</w:tr></w:tbl>`
    const styles = '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'
    const docx = makeDocx(paragraph('Refunds', 'Heading1') + paragraph('Within 30 days.') + table, {
      'word/styles.xml': styles,
      'docProps/core.xml':
        '<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Our &amp; their refunds</dc:title></p>',
    })
    const { name, text } = await itemOf(await upload('policy.docx', docx))
    expect(name).toBe('Our & their refunds')
    expect(text).toContain('Within 30 days.')
    expect(text).toContain('| Plan | Price |\n| --- | --- |\n| Basic | 10 |')
  })

  test('of a table: each row says what its values are', async () => {
    const csv = 'Plan;Price;Notes\r\nBasic;10;"two\nlines; and more"\r\n;;\r\n# odd;20;;30\r\n'
    expect(await itemOf(await upload('plans.csv', csv))).toMatchObject({
      name: 'plans',
      text: '- Plan: Basic; Price: 10; Notes: two lines; and more\n- Plan: # odd; Price: 20; 30',
    })
  })

  test.each([
    ['text/csv;charset=utf-8', Buffer.from('Plan,Ort\nGroß,Köln'), '- Plan: Groß; Ort: Köln'],
    ['text/csv; charset=iso-8859-1', Buffer.from('P;Q\nGro\xdf;1', 'latin1'), '- P: Groß; Q: 1'],
    ['text/csv', 'sep=;\r\nPlan;Price, net\r\nBasic;10', '- Plan: Basic; Price, net: 10'],
    ['text/csv', '\ufeff"sep=|"\nPlan|Price;net\nBasic|10', '- Plan: Basic; Price;net: 10'],
    ['text/csv', 'sep=\t\nPlan\tPrice\nBasic\t10', '- Plan: Basic; Price: 10'],
    ['text/csv', '\ufeffPlan;Price\r\nBasic;10', '- Plan: Basic; Price: 10'],
    ['text/csv', Buffer.from('\ufeffPlan\tPrice\r\nBäcker\t10', 'utf16le'), '- Plan: Bäcker; Price: 10'],
  ])(
    'of a table as %s, with a mark for Excel and with the separator that it names',
    async (type, content, text) => {
      const body = new FormData()
      body.append('file', new File([content as string], 'a.csv', { type }))
      const answer = await project.fetch('/v1/knowledge/files', { method: 'POST', body })
      expect((await itemOf(answer)).text).toBe(text)
    },
  )

  const heading = paragraph('Refunds', 'Heading1') + paragraph('Within 30 days.')
  const core = (title: string, description: string) => ({
    'word/styles.xml': '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>',
    'docProps/core.xml': `<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title><dc:description>${description}</dc:description></p>`,
  })
  const lines = [
    [
      { y: 750, size: 20, text: 'Refunds' },
      { y: 700, text: 'We refund any order within thirty days.' },
    ],
  ]
  test.each<[string, string, () => string | Uint8Array]>([
    [
      '(anonymous)',
      'a.pdf',
      () => makePdf(lines, { Title: '\\(anonymous\\)', Subject: '\\(unspecified\\)' }),
    ],
    ['untitled', 'a.pdf', () => makePdf(lines, { Title: 'untitled' })],
    [
      'generated by python-docx',
      'a.docx',
      () => makeDocx(heading, core('generated by python-docx', 'generated by python-docx')),
    ],
    ['Word Document', 'a.docx', () => makeDocx(heading, core('Word Document', 'generated by python-docx'))],
    [
      'Untitled Document',
      'a.html',
      () => '<title>Untitled Document</title><main><h1>Refunds</h1><p>Text.</main>',
    ],
    ['nothing', 'a.html', () => '<main><h1>Refunds</h1><p>Text.</main>'],
  ])('titled “%s” takes its first heading, and no description from the program', async (_, name, make) => {
    expect(await itemOf(await upload(name, make()))).toMatchObject({ name: 'Refunds', description: '' })
  })

  test.each(['Documents we need', 'Unknown callers', 'Generated by hand: soaps', 'Anonymous callers'])(
    'titled “%s” keeps it',
    async (title) => {
      const page = `<title>${title}</title><main><h1>Refunds</h1><p>Text.</main>`
      expect((await itemOf(await upload('a.html', page))).name).toBe(title)
    },
  )

  test('once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a file' }
    const first = await itemOf(await upload('a.md', '# A\n\nText', headers))
    const again = await upload('a.md', '# A\n\nText', headers)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await itemOf(again)).toEqual(first)
    await expectProblem(
      await upload('a.md', '# B', headers),
      'idempotency_key_reused',
      'Idempotency-Key was used with another body',
    )
  })
})

describe('what is refused', () => {
  const cannot = ['file_cannot_be_read', 'File cannot be read'] as const

  test.each([
    ['a scanned PDF', 'scan.pdf', makePdf([[]]), /text recognition/],
    ['a PDF that is none', 'no.pdf', 'no', /not a PDF/],
    ['a Word document that is none', 'no.docx', 'no', /damaged/],
    ['a blank text', 'blank.md', ' \n', /no text/],
    ['a text that is not UTF-8', 'latin.txt', new Uint8Array([0x47, 0xfc, 0x65]), /UTF-8/],
    ['a text with U+0000', 'zero.md', 'a\0b', /U\+0000/],
    ['a page without text', 'empty.html', '<p></p>', /no text/],
    ['a table with open quotes', 'open.csv', 'a,b\n"c,d\n', /row 2/],
  ])('%s is 422, with the reason', async (_, name, content, reason) => {
    const answer = await upload(name, content)
    const { detail } = (await answer.clone().json()) as { detail: string }
    await expectProblem(answer, ...cannot)
    expect(detail).toMatch(reason)
  })

  test('another kind of file is 415, and so is another kind of body', async () => {
    const title = 'Unsupported media type'
    await expectProblem(await upload('x.png', 'x'), 'unsupported_media_type', title)
    await expectProblem(await upload('x', 'x'), 'unsupported_media_type', title)
    await expectProblem(
      await project.send('POST', '/v1/knowledge/files', {}),
      'unsupported_media_type',
      title,
    )
  })

  test('a form without exactly one file is 400, and names the field', async () => {
    const two = formOf('a.md', 'a')
    two.append('file', new File(['b'], 'b.md'))
    const text = new FormData()
    text.append('file', 'a')
    for (const body of [two, text, new FormData()]) {
      const answer = await project.fetch('/v1/knowledge/files', { method: 'POST', body })
      const { errors } = (await answer.clone().json()) as { errors: { field: string }[] }
      await expectProblem(answer, 'invalid_request')
      expect(errors.map(({ field }) => field)).toEqual(['file'])
    }
    const broken = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await project.fetch('/v1/knowledge/files', {
      method: 'POST',
      body: '--y',
      headers: broken,
    })
    await expectProblem(answer, 'invalid_request')
    const nameless = '--x\r\ncontent-disposition: form-data; name="file"; filename=""\r\n\r\na\r\n--x--\r\n'
    const unnamed = await project.fetch('/v1/knowledge/files', {
      method: 'POST',
      body: nameless,
      headers: broken,
    })
    await expectProblem(unnamed, 'invalid_request')
  })

  test('a file over 20 MiB is 413, and so is a text that is too long', async () => {
    await expectProblem(
      await upload('large.md', new Uint8Array(20 * 1_048_576 + 70_000).fill(97)),
      'payload_too_large',
    )
    await expectProblem(await upload('long.md', 'words '.repeat(200_000)), 'payload_too_large')
  })

  test('other parts and parameters are named, and refused when the client wants that', async () => {
    const form = formOf('a.md', 'a')
    form.append('title', 'x')
    const send = (headers: Record<string, string>) =>
      project.fetch('/v1/knowledge/files?page=1', { method: 'POST', body: form, headers })
    expect((await send({})).headers.get('callbook-ignored')).toBe('page, title')
    await expectProblem(await send({ prefer: 'handling=strict' }), 'invalid_request')
  })
})
