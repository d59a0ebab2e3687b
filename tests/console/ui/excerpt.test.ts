import { expect, test } from 'bun:test'
import { excerptOf, rangesOf } from '../../../src/console/ui/views/knowledge/excerpt.ts'

test('whole words are marked, and characters of scripts without spaces wherever they are', () => {
  const marked = (text: string, words: string[]) =>
    rangesOf(text, words).map(([start, end]) => text.slice(start, end))
  expect(marked('Refund, refunds, prerefund.', ['refund'])).toEqual(['Refund'])
  expect(marked('C++ (a+b)', ['c', 'a', 'b'])).toEqual(['C', 'a', 'b'])
  expect(marked('iPhoneの返品送料は', ['iphone', '返品', '品送', '送料'])).toEqual([
    'iPhone',
    '返品',
    '品送',
    '送料',
  ])
  expect(marked('nothing', [])).toEqual([])
})

test('an excerpt has the first word, whatever stands before it', () => {
  const word = 'refund'
  for (const before of [
    'one two '.repeat(100),
    `See https://example.com/${'x'.repeat(500)}`,
    '返品'.repeat(300),
    '𠮷'.repeat(301),
  ]) {
    const excerpt = excerptOf(`${before} ${word}${' and more'.repeat(100)}`, [word])
    expect(excerpt).toStartWith('…')
    expect(excerpt).toEndWith('…')
    expect(excerpt).toContain(word)
    expect(excerpt.isWellFormed()).toBe(true)
    expect(excerpt.length).toBeLessThanOrEqual(242)
  }
  expect(excerptOf(`x\n${'返品'.repeat(300)}`, ['返品'])).toHaveLength(241)
  expect(excerptOf('We  refund\nit.', [word])).toBe('We refund it.')
})
