import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import MarkdownIt from 'markdown-it'
import { findHeadings } from '../../../src/knowledge/chunking/headings.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { skipped } from '../../support/skipped.ts'

const seed = 20_260
const knowledge = `${import.meta.dir}/../../../../shared/data/knowledge`
const documents = existsSync(knowledge)
  ? readdirSync(knowledge).map((name) => readFileSync(`${knowledge}/${name}`, 'utf8'))
  : []
if (documents.length === 0) skipped(`there is no ${knowledge}`)

test.each([
  ['a fence', '```sh\n# not this\n```'],
  ['a longer fence', '````\n```\n# not this\n```\n````'],
  ['a fence of tildes', '~~~\n# not this\n```\n# nor this\n~~~'],
  ['a fence that is never closed', '```\n# not this'],
  ['a fence in a list', '- item\n\n  ```\n  # not this\n  ```\n'],
  ['indented code', 'text:\n\n    # not this\n'],
  ['an HTML comment', '<!--\n\n# not this\n\n-->'],
  ['an HTML block', '<div>\n# not this\n</div>'],
  ['preformatted HTML', '<pre>\n\n# not this\n\n</pre>'],
  ['a list item', '- # not this'],
  ['a quotation', '> # not this\n> nor this\n> ---'],
])('headings are not found in %s', (_, block) => {
  const text = `# A\n\ntext\n\n${block}\n`
  expect(findHeadings(text)).toHaveLength(1)
})

test('headings are not found in front matter, but behind it', () => {
  const text = `---\ntitle: x\n# a comment\n---\n# A\n\ntext\n`
  expect(findHeadings(text).map(({ start }) => start)).toEqual([text.indexOf('# A')])
  expect(findHeadings(`\ufeff${text}`)).toHaveLength(1)
  expect(findHeadings(text.replaceAll('---', '+++'))).toHaveLength(1)
})

const markdown = new MarkdownIt('commonmark')

function byMarkdownIt(text: string): string[] {
  const tokens = markdown.parse(text, {}).filter(({ type, level }) => type === 'heading_open' && level === 0)
  return tokens.map(({ map, tag }) => `${map?.[0]}:${tag}`)
}

function byUs(text: string): string[] {
  const lineOf = (offset: number) => text.slice(0, offset).split(/\r\n|\r|\n/).length - 1
  return findHeadings(text).map(({ start, level }) => `${lineOf(start)}:h${level}`)
}

test(`headings stand where markdown-it finds them, whatever ends the lines (seed ${seed})`, () => {
  const line = fc.constantFrom(
    '# a',
    '## b ##',
    'text',
    '---',
    '===',
    '- item',
    '  # in',
    '1. one',
    '2. two',
    '   deep',
    '```',
    '~~~',
    '```js',
    '````',
    '',
    '',
    '    code',
    '\t# tab',
    '<div>',
    '</div>',
    '<!-- c',
    '-->',
    '<br/>',
    '<Note x="1">',
    '#nospace',
    '####### seven',
    '* * *',
    '-',
    '- ',
    '   text',
    '- - a',
    '  text2',
    '<pre>',
    '</pre>',
    '1)',
    '  ---',
    '  ===',
    '- # h',
    '+ ```',
    '    # x',
    '  ```',
    '10. ten',
    '=',
    '    ===',
    '<?php',
    '?>',
    '-\tx',
    '#',
    '# ',
    '  - nested',
    '      - deep2',
    '- ~~~',
    '> a',
    '> # h',
    '>',
    '> - x',
  )
  const lines = fc.tuple(fc.constantFrom('\n', '\r\n', '\r'), fc.array(line, { maxLength: 12 }))
  const property = fc.property(lines, ([lineEnd, lines]) => {
    // A first line of dashes would make it front matter.
    const text = ['', ...lines].join(lineEnd)
    expect(byUs(text)).toEqual(byMarkdownIt(text))
  })
  fc.assert(property, { seed, ...runs(1_000) })
})

test('a heading after a deep outline is found, and its title is Markdown', () => {
  const outline = Array.from({ length: 30 }, (_, depth) => `${'  '.repeat(depth)}- item\n`).join('')
  const text = `${outline}\n## The *end* ##\n`
  expect(findHeadings(text)).toEqual([{ level: 2, start: text.indexOf('##'), source: 'The *end*' }])
})

test('a heading after a deep quotation is found', () => {
  const text = `${'> '.repeat(40)}quoted\nlazy\n\n# A\n`
  expect(findHeadings(text)).toEqual([{ level: 1, start: text.indexOf('# A'), source: 'A' }])
})

test.skipIf(documents.length === 0)(
  'headings of real documents stand where markdown-it finds them (skipped without the data)',
  () => {
    for (const text of documents) {
      const body = text.replace(/^---\n[\s\S]*?\n---\n/, '')
      expect(byUs(body)).toEqual(byMarkdownIt(body))
    }
  },
)
