import { expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { asRedacted, MarkedText } from '../../../src/console/ui/views/calls/marked-text.tsx'

test('marks of redaction are drawn with their kind, and any other text stays', () => {
  const drawn = (text: string) =>
    renderToStaticMarkup(createElement(MarkedText, { text, ranges: [] })).replace(
      /<span[^>]*>(.*?)<\/span>/g,
      '‹$1›',
    )
  expect(drawn('It is [phone], or [email].')).toBe('It is ‹phone number›, or ‹email address›.')
  expect(drawn('[card][card]')).toBe('‹card number›‹card number›')
  expect(drawn('[name] and nothing')).toBe('[name] and nothing')
})

test('the counts are said in words', () => {
  expect(asRedacted({ phone: 2, card: 1, other: 'x' })).toBe('2 phone numbers, 1 card number')
})
