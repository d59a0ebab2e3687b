import { describe, expect, test } from 'bun:test'
import {
  foldText,
  indexedWords,
  pairsOf,
  scripts,
  separator,
  spaced,
  unspaced,
  wordsOf,
} from '../../src/text/words.ts'
import fc from '../support/fast-check.ts'

const texts = (query: string) => wordsOf(query).map(({ text }) => text)

describe('what the keyword index takes', () => {
  for (const [name, text, indexed] of [
    ['plain Latin is left as it is', 'We refund, within 30 days!', ['We', 'refund', 'within', '30', 'days']],
    ['composed accents are left as they are', 'Crème brûlée', ['Crème', 'brûlée']],
    ['full-width Latin becomes ordinary', 'ＡＢＣ１２', ['ABC12']],
    ['ligatures and fractions are resolved', 'ﬁne ½', ['fine', '1', '2']],
    ['decomposed accents are composed', 'cafe\u0301', ['caf\u00e9']],
    ['Chinese becomes pairs, and the last character alone', '退款政策', ['退款', '款政', '政策', '策']],
    ['Greek loses its accents', 'Επιστροφή χρημάτων', ['Επιστροφη', 'χρηματων']],
    ['Russian loses what few write', 'вернём', ['вернем']],
    ['Hebrew and Arabic lose their points', 'שָׁלוֹם يومًا', ['שלום', 'يوما']],
    ['half-width katakana becomes full-width pairs', 'ﾃﾞｰﾀ', ['デー', 'ータ', 'タ']],
    ['marks stay with the Thai letters they mark', 'ที่นี่', ['ที่นี่', 'นี่']],
    ['soft hyphens and word joiners are not there', 'Rück\u00ader\u00adstattung\u2060s', ['Rückerstattungs']],
    ['what stands between stays', '请联系support团队', ['请联', '联系', '系', 'support', '团队', '队']],
  ] as const)
    test(name, () => expect(indexedWords(text)).toEqual([...indexed]))

  test('a mark that only chooses a glyph is no word, and does not stick to one', () => {
    expect(indexedWords('⚠\ufe0fRefund')).toEqual(['Refund'])
    expect(texts('❤\ufe0f')).toEqual([])
    expect(texts('葛\u{e0100}城')).toEqual(['葛城'])
  })
})

describe('the words of a query', () => {
  for (const [query, expected] of [
    ['', []],
    ['?! — "…" 🙂', []],
    ['How do I reset it?', ['How', 'do', 'I', 'reset', 'it']],
    ["don't e-mail a_b", ['don', 't', 'e', 'mail', 'a', 'b']],
    ['Ｒｅｆｕｎｄ', ['Refund']],
    ['退', ['退']],
    ['退款', ['退款']],
    ['退款政策', ['退款', '款政', '政策']],
    ['Callbookの料金', ['Callbook', 'の料', '料金']],
    ['كيف؟', ['كيف']],
    ['है।', ['है']],
    ['١٢٣', ['١٢٣']],
  ] as const)
    test(`of ${JSON.stringify(query)}`, () => expect(texts(query)).toEqual([...expected]))

  test('a single character of a script without spaces may begin any pair, nothing else may', () => {
    expect(wordsOf('款 退款 a').map(({ isPrefix }) => isPrefix)).toEqual([true, false, false])
    expect(wordsOf('ที่').map(({ isPrefix }) => isPrefix)).toEqual([true])
  })

  test('in Korean are pairs too, so that a noun is found before its particle', () => {
    expect(texts('환불은')).toEqual(['환불', '불은'])
    expect(indexedWords('환불은 됩니다')).toContain('환불')
  })

  test('are the same composed and decomposed, and none is lost in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (query) => {
        expect(wordsOf(query.normalize('NFD'))).toEqual(wordsOf(query.normalize('NFC')))
        const letters = (text: string) => new Set(text.match(/[\p{L}\p{N}]/gu) ?? [])
        expect(letters(texts(query).join('').normalize('NFD'))).toEqual(letters(query.normalize('NFKD')))
      }),
    )
  })

  test('of a piece of text without spaces are among the words indexed for the text', () => {
    const run = fc.array(fc.constantFrom(...'退款政策データ入กข환불', 'ที่', 'か\u3099'), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(run, run, run, (before, wanted, after) => {
        const text = [...before, ...wanted, ...after].join('')
        const indexed = indexedWords(text)
        for (const { text: word, isPrefix } of wordsOf(wanted.join('')))
          expect(indexed.some((other) => (isPrefix ? other.startsWith(word) : other === word))).toBe(true)
      }),
    )
  })
})

describe('folding', () => {
  for (const [text, folded] of [
    ['Refund', 'refund'],
    ['“Refund” – now…', '“refund” – now…'],
    ['Ｃafé', 'cafe'],
    ['CAFE\u0301', 'cafe'],
    ['Rück\u00ader\u00adstattung', 'ruckerstattung'],
    ['ÀÉÎÕÜ', 'aeiou'],
    ['ﾃﾞｰﾀ', 'データ'],
    ['χρημάτων', 'χρηματων'],
    ['שָׁלוֹם يومًا', 'שלום يوما'],
    ['환불', '환불'],
    ['ไม่', 'ไม่'],
    ['हिन्दी', 'हिन्दी'],
  ] as const)
    test(`of ${text}`, () => expect(foldText(text)).toBe(folded))

  test('is the same composed and decomposed, and folding again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const folded = foldText(text.normalize('NFC'))
        expect(foldText(text.normalize('NFD')).normalize('NFC')).toBe(folded.normalize('NFC'))
      }),
    )
  })
})

describe('marks without end on one letter', () => {
  // Normalising puts them in their order, in time quadratic in their number.
  for (const [name, marks] of Object.entries({ Latin: '\u0301\u0323', Tibetan: '\u0f72\u0f71' }))
    test(`are as many as any language has, and the word is found by them: ${name}`, () => {
      const word = `x${marks.repeat(800)}`
      expect(indexedWords(word).map(({ length }) => length <= 31)).toEqual([true])
      expect(foldText(word).length).toBeLessThanOrEqual(31)
      expect(texts(word)).toEqual(indexedWords(word))
      const few = `x${marks.repeat(15)}`
      expect(foldText(few)).toBe(foldText(word))
      expect(foldText(`x${`${marks.repeat(15)}\u00ad`.repeat(50)}`)).toBe(foldText(word))
    })
})

describe('pairs', () => {
  test('hold every character, each but the outermost twice', () => {
    expect(pairsOf('')).toEqual([])
    expect(pairsOf('退')).toEqual(['退'])
    expect(pairsOf('退款政')).toEqual(['退款', '款政'])
    expect(pairsOf('𠮷野家')).toEqual(['𠮷野', '野家'])
  })
})

describe('the table of scripts', () => {
  test('agrees with the words of queries on what separates, in every script of one code unit', () => {
    const wrong: string[] = []
    for (let code = 0; code < 0x10000; code++) {
      const character = String.fromCharCode(code)
      // What folding turns into something else never gets there.
      const isFolded = foldText(character) === character && character.normalize('NFKC') === character
      if (!isFolded || /[\p{Cs}\p{Cn}\p{M}]/u.test(character)) continue
      const [word] = wordsOf(character)
      const expected = !word ? separator : word.isPrefix ? unspaced : spaced
      if (scripts[code] !== expected) wrong.push(`${character} ${code.toString(16)}`)
    }
    expect(wrong).toEqual([])
  })
})
