import { describe, expect, test } from 'bun:test'
import { readTerms } from '../../../src/knowledge/search/query.ts'
import { type Mentions, matchedTermsMax, TermMatcher } from '../../../src/knowledge/search/term-matcher.ts'
import { WordForms } from '../../../src/knowledge/search/word-forms.ts'
import fc, { runs } from '../../support/fast-check.ts'

const none = () => false
function read(query: string, text: string, isCommon: (index: number) => boolean = none): Mentions {
  const forms = new WordForms()
  const words = forms.read(text)
  return new TermMatcher(readTerms(query), isCommon, forms).read(words)
}

/** A letter or two of each script, and what may stand between words. */
const words = [
  'refund',
  'Größe',
  'café',
  'cafe\u0301',
  'ÀÉÎ',
  'ß',
  'a',
  '7',
  '30€',
  'x1',
  'возврат',
  'Ελλάδα',
  'שלום',
  'كيف',
  'भुगतान',
  'हिन्दी',
  'პასუხი',
  'Հայ',
  'བོད',
  '退',
  '退款',
  '政策',
  'データ',
  'ﾃﾞｰﾀ',
  'かな',
  'ไม่',
  'ที่',
  'ລາວ',
  'មាន',
  'မြန်',
  '환불',
  '𠮷野',
]
const separators = [
  ' ',
  '\n',
  '.',
  ',',
  '?',
  '!',
  '-',
  '_',
  '(',
  ')',
  '"',
  '“',
  '”',
  '’',
  '…',
  '—',
  '/',
  '🙂',
  '❤\ufe0f',
  '。',
  '、',
  '「',
  '」',
  '・',
  '　',
  '，',
  '？',
  '،',
  '؟',
  '؛',
  '।',
  '॥',
  '։',
  '־',
  '་',
  '༄',
  '។',
  '۔',
  '·',
]
const word = fc.constantFrom(...words)
const separator = fc.constantFrom(...separators)
const sentence = fc
  .array(fc.tuple(word, separator), { maxLength: 8 })
  .map((pairs) => pairs.map((pair) => pair.join('')).join(''))

describe('a matcher', () => {
  test('counts the words of a text, and where each term of the query stands', () => {
    const mentions = read('the order refund', 'Refund the order, then the Order is a refunded order.')
    expect(mentions.words).toBe(10)
    expect(mentions.places).toEqual([0, 1, 2, 4, 5, 8, 9])
    expect(mentions.terms).toEqual([2, 0, 1, 0, 1, 2, 1])
    expect(mentions.counts).toEqual([2, 3, 2])
  })

  test('finds every word of a query in a text that holds it, whatever stands around it', () => {
    fc.assert(
      fc.property(sentence, word, separator, sentence, (before, wanted, after, rest) => {
        const mentions = read(wanted, `${before}${wanted}${after}${rest}`)
        for (const [index, { text }] of readTerms(wanted).entries())
          expect({ text, isFound: (mentions.counts[index] ?? 0) > 0 }).toEqual({ text, isFound: true })
      }),
      runs(800),
    )
  })

  test('finds it in another case and normal form as well', () => {
    fc.assert(
      fc.property(sentence, word, separator, (before, wanted, after) => {
        const text = `${before}${wanted.toLowerCase()}${after}`
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) {
          const { counts } = read(wanted, text.normalize(form))
          for (const count of counts) expect(count).toBeGreaterThan(0)
        }
      }),
    )
  })

  test('finds each of as many terms as it takes, common ones too', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}\d{1,4}$/), {
          minLength: 1,
          maxLength: matchedTermsMax,
        }),
        fc.nat(),
        (names, common) => {
          const terms = readTerms(names.join(' '))
          const forms = new WordForms()
          const [all, others] = [forms.read(names.join(', ')), forms.read('nothing of it')]
          const matcher = new TermMatcher(terms, (index) => index === common % terms.length, forms)
          expect(matcher.read(all).counts.every((count) => count > 0)).toBe(true)
          expect(matcher.read(others).places).toEqual([])
        },
      ),
    )
  })

  test('finds a single character of a script without spaces at the beginning, in the middle and at the end', () => {
    for (const [character, texts] of [
      ['款', ['款', '款项', '退款政策', '请退款。', '退款']],
      ['タ', ['データ', 'タ', 'タイ', 'データ。']],
      ['ที่', ['ที่', 'ที่นี่', 'อยู่ที่นี่', 'อยู่ที่']],
      ['불', ['환불', '불', '환불은', '불은']],
    ] as const) {
      for (const text of texts)
        expect({ text, counts: read(character, text).counts }).toEqual({ text, counts: [1] })
    }
  })

  test('never counts more mentions than there are words, at places that ascend', () => {
    const anything = fc.oneof(
      sentence,
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), anything, (query, text) => {
        const { words, places, terms, counts, likeness } = read(query.join(' '), text)
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(places.length)
        expect(terms.length).toBe(places.length)
        expect(places.length).toBeLessThanOrEqual(words)
        for (const [at, place] of places.entries()) {
          expect(place).toBeGreaterThan(places[at - 1] ?? -1)
          expect(place).toBeLessThan(words)
        }
        for (const share of likeness) expect(share >= 0 && share <= 1).toBe(true)
      }),
    )
  })

  test('does not remember one text when it reads the next', () => {
    fc.assert(
      fc.property(word, sentence, sentence, (query, first, second) => {
        const forms = new WordForms()
        const texts = [forms.read(`${first} refunf deliveri`), forms.read(second)] as const
        const matcher = new TermMatcher(readTerms(`${query} refund delivery`), none, forms)
        matcher.read(texts[0])
        expect(matcher.read(texts[1])).toEqual(read(`${query} refund delivery`, second))
      }),
    )
  })
})

describe('forms of a word', () => {
  test('that have its stem are mentions of it', () => {
    for (const text of ['refund', 'Refunds', 'refunded', 'REFUNDING'])
      expect(read('refund', text).counts).toEqual([1])
    for (const text of ['refuse', 'fund', 'refundx', 'prerefund'])
      expect(read('refund', text).counts).toEqual([0])
  })

  test('of a common term count only when they are written as in the query', () => {
    const mentions = read('refund', 'refunds refunding refunf refund', () => true)
    expect(mentions).toMatchObject({ counts: [1], likeness: [0] })
  })

  test('as in the query to the letter are told apart', () => {
    for (const [query, text, cased] of [
      ['Apple', 'An Apple', 1],
      ['Apple', 'An apple', 0],
      ['pear Apple', 'a Pear, an Apple', 2],
      ['Ärger', 'Der Ärger', 1],
    ] as const)
      expect(read(query, text).cased).toBe(cased)
  })
})

describe('a slip of the pen', () => {
  /** See rank-passages.ts. */
  const likenessMin = 0.45
  // Trigrams of short words are nearly all touched by a slip.
  const long = fc.stringMatching(/^[a-z]{7,14}$/)
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz')
  const slips: Record<string, (word: string, at: number, letter: string) => string> = {
    'another letter': (word, at, letter) => word.slice(0, at) + letter + word.slice(at + 1),
    'a letter too many': (word, at, letter) => word.slice(0, at) + letter + word.slice(at),
    'a letter too few': (word, at) => word.slice(0, at) + word.slice(at + 1),
  }
  for (const [name, slip] of Object.entries(slips))
    test(`of ${name} leaves a word alike enough to count`, () => {
      fc.assert(
        fc.property(long, fc.nat(), letter, (word, at, letter) => {
          const { counts, likeness } = read(word, `some ${slip(word, at % word.length, letter)} here`)
          expect((counts[0] ?? 0) > 0 || (likeness[0] ?? 0) >= likenessMin).toBe(true)
        }),
      )
    })

  test('is less alike than the word itself would be, and other words are not alike', () => {
    expect(read('delivery', 'delivrey').likeness[0]).toBeLessThan(1)
    expect(read('delivery', 'password').likeness[0]).toBeLessThan(likenessMin)
    expect(read('delivery', 'delivery').likeness).toEqual([0])
  })

  test('counts in other alphabets too', () => {
    for (const [query, text] of [
      ['возвраты', 'вазвраты'],
      ['επιστροφή', 'επιστροφές'],
    ] as const)
      expect(read(query, text).likeness[0]).toBeGreaterThanOrEqual(likenessMin)
  })
})
