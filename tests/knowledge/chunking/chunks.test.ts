import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Chunk, embeddedText } from '../../../src/knowledge/chunking/chunk.ts'
import { splitIntoChunks } from '../../../src/knowledge/chunking/chunks.ts'
import { chunkCharsMax } from '../../../src/knowledge/chunking/cuts.ts'
import { passageText } from '../../../src/knowledge/chunking/passage-text.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { skipped } from '../../support/skipped.ts'

/** The guide says so. */
const chunkCharsMin = 200
const chunkOverlapCharsMax = 120

const seed = 20_260
const knowledge = `${import.meta.dir}/../../../../shared/data/knowledge`
const documents = existsSync(knowledge)
  ? readdirSync(knowledge).map((name) => readFileSync(`${knowledge}/${name}`, 'utf8'))
  : []
if (documents.length === 0) skipped(`there is no ${knowledge}`)

function headingsOf(text: string): (string | null)[] {
  return splitIntoChunks(text).map(({ heading }) => heading)
}

const long = (word: string) => `${word} `.repeat(60).trim()

/** Everything that must hold of the chunks of any text. */
function expectLaws(source: string): Chunk[] {
  const text = passageText(source)
  const chunks = splitIntoChunks(source)
  expect(chunks.map((chunk) => chunk.text.slice(chunk.overlapChars)).join('') === text).toBe(true)
  // A chunk may be white space only where there is nothing else for a chunk's whole length.
  const spaceRun = Math.max(0, ...(text.match(/\s+/g) ?? []).map((run) => run.length))
  let at = 0
  for (const [index, chunk] of chunks.entries()) {
    expect(chunk.position).toBe(index)
    expect(chunk.text.length).toBeLessThanOrEqual(chunkCharsMax)
    expect(chunk.overlapChars).toBeLessThanOrEqual(chunkOverlapCharsMax)
    expect(chunk.text.length).toBeGreaterThan(chunk.overlapChars)
    expect(text.startsWith(chunk.text, at - chunk.overlapChars)).toBe(true)
    for (const cut of [at, at - chunk.overlapChars]) expectCleanCut(text, cut)
    if (chunk.text.trim() === '' && text.trim() !== '')
      expect(spaceRun).toBeGreaterThanOrEqual(chunkCharsMax - chunkOverlapCharsMax - 64)
    at += chunk.text.length - chunk.overlapChars
  }
  return chunks
}

function expectCleanCut(text: string, at: number): void {
  const around = text.slice(at - 1, at + 1)
  if (at > 0 && /[\ud800-\udbff][\udc00-\udfff]|\r\n/.test(around))
    throw new Error(`A cut inside ${escape(around)}`)
}

describe('laws', () => {
  const block = fc.oneof(
    fc.constantFrom(
      '# a\n',
      '## b\r\n',
      'c\n===\n',
      '### d\r',
      '\r',
      '\n',
      '\r\n',
      '\n\n',
      ' ',
      '\t',
      '\ufeff',
      '\u0000',
    ),
    fc.constantFrom(
      '```\n',
      '> q\n',
      '- l\n',
      '---\n',
      'key: value\n',
      '<div>\n',
      '    code\n',
      'word ',
      '. ',
      '…',
      '。',
    ),
    fc.constantFrom('👨‍👩‍👧‍👦', '🇩🇪', 'e\u0301', '漢', 'क्षि', '\ud800', '\udc00', 'ﷺ', '𝒳'),
    fc.constantFrom(
      'x'.repeat(700),
      'y'.repeat(1_590),
      ' '.repeat(500),
      '\n'.repeat(900),
      ' '.repeat(1_479),
      '\r\n'.repeat(800),
    ),
    fc.constantFrom(
      '🇩🇪'.repeat(300),
      '漢字。'.repeat(200),
      'Lorem ipsum dolor. '.repeat(50),
      'a\u0301'.repeat(400),
    ),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 400 }),
  )
  const anyText = fc.array(block, { maxLength: 25 }).map((blocks) => blocks.join(''))

  test(`nothing is lost, chunks are small enough, cuts are clean (seed ${seed})`, () => {
    fc.assert(
      fc.property(anyText, (text) => void expectLaws(text)),
      { seed, ...runs(400) },
    )
  })

  test(`graphemes stay whole (seed ${seed})`, () => {
    const grapheme = fc.constantFrom(
      '👨‍👩‍👧‍👦',
      '🇩🇪',
      '🇫🇷',
      'e\u0301',
      'ё',
      '漢',
      'é',
      '👍🏽',
      'a',
      ' ',
      'ａ',
      '\r\n',
    )
    const text = fc
      .array(grapheme, { minLength: 400, maxLength: 1_500 })
      .map((graphemes) => graphemes.join(''))
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
    const property = fc.property(text, (text) => {
      const starts = new Set([...segmenter.segment(text)].map(({ index }) => index))
      let at = 0
      for (const chunk of splitIntoChunks(text)) {
        expect(starts.has(at)).toBe(true)
        expect(starts.has(at - chunk.overlapChars)).toBe(true)
        at += chunk.text.length - chunk.overlapChars
      }
    })
    fc.assert(property, { seed, ...runs(60) })
  })

  test(`the same text gives the same chunks (seed ${seed})`, () => {
    const property = fc.property(anyText, (text) =>
      expect(splitIntoChunks(text)).toEqual(splitIntoChunks(text)),
    )
    fc.assert(property, { seed, ...runs(60) })
  })

  const mebi = 1 << 20
  const staircase = Array.from({ length: 20_000 }, (_, index) => `${' '.repeat((index % 60) * 2)}- a\n`).join(
    '',
  )
  test.each([
    ['one word', 'a'.repeat(mebi)],
    ['headings', '# h\n'.repeat(mebi / 4)],
    ['setext headings', 'a\n=\n'.repeat(mebi / 4)],
    ['line ends', '\n'.repeat(mebi)],
    ['old line ends', '\r'.repeat(mebi)],
    ['white space before a word', `${' '.repeat(mebi)}a`],
    ['#', '#'.repeat(mebi)],
    ['`', '`'.repeat(mebi)],
    ['fences', '```\n'.repeat(mebi / 4)],
    ['>', '>'.repeat(mebi)],
    ['lazy lines', `${'> '.repeat(50)}a\n${'b\n'.repeat(mebi / 2)}`],
    ['lazy lines in lists', `${'- '.repeat(99)}a\n${'b\n'.repeat(mebi / 2)}`],
    ['[', '['.repeat(mebi)],
    ['headings of [', `# ${'['.repeat(390)}\n`.repeat(2_600)],
    ['nested lists', staircase],
    ['items of lists', '- a\n+ b\n'.repeat(mebi / 8)],
    ['lists in quotations', '> - a\n'.repeat(mebi / 6)],
    ['unclosed tags', `<a b="${' c="'.repeat(230)}\n`.repeat(1_000)],
    ['flags', '🇩🇪'.repeat(mebi / 4)],
    ['accents', `a${'\u0301'.repeat(mebi)}`],
    ['lone surrogates', '\udc00'.repeat(mebi)],
    ['unclosed front matter', `---\n${'--- x\n'.repeat(mebi / 6)}`],
    ['dashes and blanks', `${'- '.repeat(mebi / 2)}x`],
    ['unclosed comments', '<!--'.repeat(mebi / 4)],
    ['comments that close late', `${'<!--'.repeat(mebi / 4)}-->`],
    ['unclosed links', '[a](b'.repeat(mebi / 5)],
    ['links without ends', `[a](${'b'.repeat(mebi)}`],
    ['unclosed templates', `${'{%'.repeat(mebi / 2)}%}`],
    ['lines of templates', '{% a %} x {% b %}\n'.repeat(mebi / 18)],
    ['imports without ends', 'import { \n'.repeat(mebi / 10)],
    ['spaces after import', `import ${' '.repeat(mebi)}`],
    ['exports', 'export const a\n\n'.repeat(mebi / 16)],
    ['fences of two kinds', '```\n~~~~\n'.repeat(mebi / 9)],
  ])('hold for 1 MiB of %s', (_, text) => {
    expectLaws(text)
  })

  test.skipIf(documents.length === 0)('hold for real documents', () => {
    for (const text of documents) {
      for (const variant of [
        text,
        text.replaceAll('\n', '\r\n'),
        text.replaceAll('\n', '\r'),
        `\ufeff${text}`,
      ]) {
        const chunks = expectLaws(variant)
        const tiny = chunks.filter((chunk) => chunk.text.length < chunkCharsMin)
        expect(tiny.length).toBeLessThanOrEqual(Math.max(1, chunks.length * 0.05))
      }
    }
  })
})

describe('headings', () => {
  test('split the text, and each chunk keeps its path', () => {
    const text = `# A\n\n${long('one')}\n\n## B\n\n${long('two')}\n\n### C #\n\n${long('three')}\n\n## D\n\n${long('four')}\n`
    expect(headingsOf(text)).toEqual(['A', 'A › B', 'A › B › C', 'A › D'])
  })

  test('of the setext kind split as well', () => {
    const text = `A\n===\n\n${long('one')}\n\nB\n---\n\n${long('two')}\n`
    expect(headingsOf(text)).toEqual(['A', 'A › B'])
  })

  test('there is none before the first', () => {
    expect(headingsOf(`${long('intro')}\n\n# A\n\n${long('one')}`)).toEqual([null, 'A'])
  })

  test('a level may be skipped', () => {
    const text = `### A\n${long('one')}\n# B\n${long('two')}\n#### C\n${long('three')}\n`
    expect(headingsOf(text)).toEqual(['A', 'B', 'B › C'])
  })

  test.each([
    ['## `code` and **bold** _text_', 'code and bold text'],
    ['## A [link](https://example.org/x) here', 'A link here'],
    ['## R&amp;D \\# 1', 'R&D # 1'],
    ['## Title {#anchor}', 'Title'],
    ['## Closed ##', 'Closed'],
    ['##\tTab', 'Tab'],
    ['## <Badge/> New', 'New'],
    ['Two\nlines\n---', 'Two lines'],
  ])('of %p reads as plain text', (markdown, title) => {
    expect(headingsOf(`${markdown}\n\n${long('one')}`)).toEqual([title])
  })

  test('without a title count, but are not named', () => {
    expect(headingsOf(`# A\n${long('one')}\n##\n${long('two')}\n`)).toEqual(['A', 'A'])
  })

  test('are limited in length', () => {
    const [heading] = headingsOf(`# ${'🙂'.repeat(500)}\n\ntext`)
    expect(heading?.length).toBeLessThanOrEqual(120)
    expect(heading?.isWellFormed()).toBe(true)
  })
})

describe('sizes', () => {
  test('a section that fits is one chunk, without overlap', () => {
    const text = `# A\n\n${'word '.repeat(300)}`
    expect(splitIntoChunks(text)).toEqual([{ position: 0, heading: 'A', text, overlapChars: 0 }])
  })

  test('a longer one is cut between paragraphs', () => {
    const paragraph = `${'A sentence of five words. '.repeat(15).trim()}\n\n`
    const chunks = splitIntoChunks(`# A\n\n${paragraph.repeat(10)}`)
    expect(chunks.length).toBeGreaterThan(2)
    for (const { text, heading } of chunks) {
      expect(text.endsWith('\n\n')).toBe(true)
      expect(heading).toBe('A')
    }
  })

  test('else between lines, else sentences, else words', () => {
    const lines = splitIntoChunks(`${'word '.repeat(20)}\n`.repeat(50))
    for (const { text } of lines) expect(text.endsWith('\n')).toBe(true)
    const sentences = splitIntoChunks('This is a sentence. '.repeat(200))
    for (const { text } of sentences) expect(text.endsWith('. ')).toBe(true)
    const japanese = splitIntoChunks('これは文です。'.repeat(500))
    for (const { text } of japanese) expect(text.endsWith('。')).toBe(true)
    for (const word of ['word ', 'слово ', 'शब्द ', 'كلمة ', '낱말 ']) {
      for (const { text } of splitIntoChunks(word.repeat(1_000))) expect(text.endsWith(word)).toBe(true)
    }
  })

  test('the pieces of one section overlap by whole words, other chunks do not', () => {
    const chunks = splitIntoChunks(`# A\n\n${'some words here '.repeat(200)}\n# B\n\n${long('two')}`)
    const inside = chunks.slice(1, -1)
    for (const { overlapChars, text } of inside) {
      expect(overlapChars).toBeGreaterThan(60)
      expect(text).toMatch(/^(some|words|here) /)
    }
    expect(chunks[0]?.overlapChars).toBe(0)
    expect(chunks.at(-1)?.overlapChars).toBe(0)
  })

  test('tiny sections under one parent are merged', () => {
    expect(headingsOf('# A\n\n## B\n\nb\n\n## C\n\nc\n')).toEqual(['A'])
  })

  test('a tiny section is not merged into another parent’s', () => {
    const text = `# A\n\n${long('one')}\n\n## B\n\n${long('two')}${long('two')}\n\n### tiny\n\nx\n\n# C\n\n${long('three')}\n`
    for (const chunk of splitIntoChunks(text))
      expect(/two|tiny/.test(chunk.text) && chunk.text.includes('three')).toBe(false)
  })

  test('no text, no chunk', () => {
    expect(splitIntoChunks('')).toEqual([])
    expect(splitIntoChunks(' \n')).toHaveLength(1)
  })
})

describe('embeddedText', () => {
  test('is the name and the heading path, then the text', () => {
    expect(embeddedText('Returns', { heading: 'Refunds › Time', text: 'Ten days.' })).toBe(
      'Returns › Refunds › Time\nTen days.',
    )
    expect(embeddedText('Returns', { heading: null, text: 'Ten days.' })).toBe('Returns\nTen days.')
  })

  test('does not say the name twice', () => {
    expect(embeddedText('Returns', { heading: 'returns › Time', text: 'x' })).toBe('returns › Time\nx')
    expect(embeddedText(' Returns ', { heading: 'Returns', text: 'x' })).toBe('Returns\nx')
  })
})
