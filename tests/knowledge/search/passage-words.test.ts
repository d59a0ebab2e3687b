import { describe, expect, test } from 'bun:test'
import { PassageWords } from '../../../src/knowledge/search/passage-words.ts'
import type { Passage } from '../../../src/knowledge/search/passages.ts'
import { WordForms } from '../../../src/knowledge/search/word-forms.ts'

function passage(label: number, text: string): Passage {
  const place = { itemId: `kn_${label}`, itemSeq: label, position: 0, overlapChars: 0 }
  return { label, name: 'Shop', heading: 'On refunds', text, ...place }
}

describe('the words of passages', () => {
  test('are those of the text, without where links lead, and of the title', () => {
    const { forms, read } = new PassageWords().read([passage(1, 'We [pay](https://x.example) Café 退款。')])
    const textsOf = (words: Uint32Array = new Uint32Array()) => [...words].map((word) => forms.textOf(word))
    expect(textsOf(read[0]?.words)).toEqual(['We', 'pay', 'Café', '退款', '款'])
    expect(textsOf(read[0]?.title)).toEqual(['Shop', 'On', 'refunds'])
  })

  test('are split once for a label', () => {
    const passages = new PassageWords()
    const [once] = passages.read([passage(1, 'a refund')]).read
    const [again, other] = passages.read([passage(1, 'a refund'), passage(2, 'a refund')]).read
    expect(again).toBe(once)
    expect(other).toEqual(once)
  })

  test('take bounded memory: too many are forgotten', () => {
    const passages = new PassageWords()
    const { forms, read } = passages.read([passage(0, 'a refund')])
    const many = 'refund '.repeat(1_000_000)
    for (let label = 1; label <= 9; label++) passages.read([passage(label, many)])
    const later = passages.read([passage(0, 'a refund')])
    expect(later.forms).not.toBe(forms)
    expect(later.read).toEqual(read)
    expect(later.read[0]).not.toBe(read[0])
  })
})

describe('word forms', () => {
  test('are shared by all texts that have them, and tell capitals apart', () => {
    const forms = new WordForms()
    expect([...forms.read('refund refund Refund REFUND')]).toEqual([0, 0, 1, 2])
    expect([...forms.read('Refund, a refund')]).toEqual([1, 3, 0])
  })

  test('that a later text adds are found too', () => {
    const forms = new WordForms()
    const term = { text: 'refund', folded: 'refund', stem: 'refund', match: '"refund"', positions: [0] }
    forms.read('refund')
    expect(forms.othersOf(term)).toMatchObject({ related: [], like: [] })
    forms.read('Refund refunds refunf')
    expect(forms.othersOf(term)).toMatchObject({ related: [2], like: [{ form: 3 }] })
    expect(forms.variantsOf('refund')).toEqual([1, 0])
  })
})
