import { describe, expect, test } from 'bun:test'
import { embeddedText, splitIntoChunks } from '../../../src/knowledge/chunking/chunks.ts'
import { passageText } from '../../../src/knowledge/chunking/passage-text.ts'

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
    ['a relative link', 'See [our *prices*](../prices.md#now "Prices").', 'See our *prices*.'],
    ['a relative image', '![A plan](img/plan.png)', 'A plan'],
    ['a link to a place on the page', 'See [below](#below).', 'See below.'],
  ])('is without %s', (_, text, read) => {
    expect(passageText(text)).toBe(read)
  })

  test.each([
    'See [them](https://example.org/a) or [mail](mailto:a@example.org) or [x](//cdn.example.org).',
    '```md\n{% include x %}\n<!-- a -->\n[a](b.md)\n```',
    '~~~\nimport a from "b"\n```\n<!-- x -->\n~~~',
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
      '---\ntitle: T\n---\n# Plans\n\n{% include x %}\n[Ours](plans.md) are <!-- not --> good.',
    )
    expect(chunk?.text).toBe('# Plans\n\n\nOurs are  good.')
    expect(embeddedText('T', chunk ?? { heading: null, text: '' })).toBe(
      'T › Plans\n# Plans\n\n\nOurs are  good.',
    )
  })
})
