import { describe, expect, test } from 'bun:test'
import { embeddedText } from '../../../src/knowledge/chunking/chunk.ts'
import { toChunkPreview } from '../../../src/knowledge/chunking/chunk-preview.ts'
import { splitIntoChunks } from '../../../src/knowledge/chunking/chunks.ts'
import { passageText, withLabels } from '../../../src/knowledge/chunking/passage-text.ts'

describe('what agents are given', () => {
  test.each([
    ['front matter', '---\ntitle: T\ntags: [a]\n---\nText.', 'Text.'],
    ['a comment', 'One <!-- two --> three.', 'One  three.'],
    ['a comment of several lines', 'One\n<!--\n```\ntwo\n-->\nthree', 'One\n\nthree'],
    ['a line of a template', 'One\n{% include "x.md" %}\ntwo', 'One\n\ntwo'],
    ['several tags on a line', '{% if a %}{% else %}\r\none', '\r\none'],
    ['imports', "import A, { b } from './a.js'\nimport './c.css'\n\n# One", '\n\n\n# One'],
    ['a long import', "import {\n  a,\n  b,\n} from './a.js'\n\nOne", '\nOne'],
    ['exports', "export const meta = {\n  title: 'x',\n}\n\nOne", '\nOne'],
    ['a comment after code', '```\na\n```\nOne <!-- two --> three.', '```\na\n```\nOne  three.'],
    ['a comment after code on one line', '```a``` b\nOne <!-- two -->', '```a``` b\nOne '],
  ])('is without %s', (_, text, read) => {
    expect(passageText(text)).toBe(read)
  })

  test.each([
    '- [Prices](prices.md)',
    '```md\n{% include x %}\n<!-- a -->\n[a](b.md)\n```',
    '~~~\nimport a from "b"\n```\n<!-- x -->\n~~~',
    '```\na\n```\n\n```js\nimport a from "b"\n<!-- x -->\n```\n',
    'Write `<!-- a -->` and `[a](b)`.',
    'An unclosed <!-- comment.',
    '{% note %} Read this. {% endnote %}',
    'import duties are paid by the customer.\nexport licences are not needed.',
    "import 'quoted' words from a text that goes on",
  ])('is otherwise the text: %p', (text) => {
    expect(passageText(text)).toBe(text)
  })

  test('is the whole text when there is nothing else', () => {
    const text = '---\ntitle: T\n---\n<!-- only a comment -->\n'
    expect(passageText(text)).toBe(text)
  })

  test('is what is cut into chunks, embedded and indexed', () => {
    const [chunk] = splitIntoChunks(
      '---\ntitle: T\n---\n\n# Plans\n\n{% include x %}\nOurs are <!-- not --> good.',
    )
    expect(chunk?.text).toBe('# Plans\n\n\nOurs are  good.')
    expect(embeddedText('T', chunk ?? { heading: null, text: '' })).toBe(
      'T › Plans\n# Plans\n\n\nOurs are  good.',
    )
  })
})

describe('relative links', () => {
  test.each([
    ['See [our *prices*](../prices.md#now "Prices").', 'See our *prices*.'],
    ['![A plan](img/plan.png)', 'A plan'],
    ['See [below](#below).', 'See below.'],
    ['- [Prices](<our prices.md>)\n', '- Prices\n'],
    ['~~~\n[a](b)\n~~~\n[c](d)', '~~~\n[a](b)\n~~~\nc'],
  ])('are given as their labels: %p', (text, given) => {
    expect(withLabels(text)).toBe(given)
  })

  test.each([
    'See [them](https://example.org/a) or [mail](mailto:a@example.org) or [x](//cdn.example.org).',
    '```md\n[a](b.md)\n```',
    'Write `[a](b)`, f[0](x y) or [a](b',
  ])('are all that is changed: %p', (text) => {
    expect(withLabels(text)).toBe(text)
  })

  test('count for nothing in the lengths of a chunk', () => {
    const text = 'a [b](c.md) d'
    expect(toChunkPreview({ position: 0, heading: null, text, overlapChars: 12 })).toMatchObject({
      text: 'a b d',
      characters: 5,
      overlapCharacters: 4,
    })
  })
})
