import { describe, expect, test } from 'bun:test'
import { readTerms } from '../../../src/knowledge/search/query.ts'
import { stemOf } from '../../../src/text/words.ts'

describe('the terms of a query', () => {
  test('are its words, folded and stemmed', () => {
    const term = { isPrefix: false, isFunctionWord: false }
    expect(readTerms('Refunded Café')).toEqual([
      { text: 'Refunded', folded: 'refunded', stem: 'refund', ...term, positions: [0] },
      { text: 'Café', folded: 'cafe', stem: stemOf('cafe'), ...term, positions: [1] },
    ])
  })

  test('are distinct: forms of one word are one term, at each of their places', () => {
    const terms = readTerms('refund REFUNDS order refunding réfund')
    expect(terms.map(({ text, positions }) => ({ text, positions }))).toEqual([
      { text: 'refund', positions: [0, 1, 3, 4] },
      { text: 'order', positions: [2] },
    ])
  })

  test('of a script without spaces are pairs, and a single character is looked up as a beginning', () => {
    expect(readTerms('退款政 款').map(({ folded, isPrefix }) => [folded, isPrefix])).toEqual([
      ['退款', false],
      ['款政', false],
      ['款', true],
    ])
  })

  test('are function words in the language of the question, unless all are, or capitals show a name', () => {
    const content = (query: string) =>
      readTerms(query).flatMap(({ text, isFunctionWord }) => (isFunctionWord ? [] : text))
    const questions = {
      'How do I change my address?': ['change', 'address'],
      'HOW DO I CHANGE MY ADDRESS': ['CHANGE', 'ADDRESS'],
      '¿Cómo puedo cambiar mi dirección?': ['cambiar', 'dirección'],
      'Wie kann ich meine Adresse ändern?': ['Adresse', 'ändern'],
      'Comment puis-je changer mon adresse ?': ['puis', 'changer', 'adresse'],
      'come posso cambiare il mio indirizzo': ['cambiare', 'indirizzo'],
      'como posso mudar o meu endereço': ['mudar', 'endereço'],
      'hoe kan ik mijn adres wijzigen': ['adres', 'wijzigen'],
      'كيف يمكنني تغيير عنواني؟': ['يمكنني', 'تغيير', 'عنواني'],
      'who are you': ['who', 'are', 'you'],
      'what does the US ask of IT and the WHO': ['US', 'ask', 'IT', 'WHO'],
      'when is The Office on': ['The', 'Office'],
      退款政策: ['退款', '款政', '政策'],
    }
    for (const [query, words] of Object.entries(questions))
      expect([query, content(query)]).toEqual([query, words])
  })

  test('hold no syntax of the keyword index', () => {
    for (const query of ['"', 'a"b', 'NEAR(a b)', 'text:a', 'a* ^b', '{a}', '-a +b', "'", 'a\u0000b']) {
      for (const { stem } of readTerms(query)) expect(stem).toMatch(/^[\p{L}\p{N}\p{M}]+$/u)
    }
    expect(readTerms('"*():^')).toEqual([])
  })

  test('are 64 at most, and what comes later still counts where it repeats one of them', () => {
    const words = Array.from({ length: 300 }, (_, n) => `w${n}`)
    const terms = readTerms([...words, 'w0'].join(' '))
    expect(terms.map(({ text }) => text)).toEqual(words.slice(0, 64))
    expect(terms[0]?.positions).toEqual([0, 300])
  })
})
