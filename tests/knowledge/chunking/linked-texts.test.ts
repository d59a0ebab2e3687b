import { describe, expect, test } from 'bun:test'
import { withoutLinks } from '../../../src/knowledge/chunking/passage-text.ts'
import fc from '../../support/fast-check.ts'

describe('a text without its links', () => {
  for (const [name, text, read] of [
    ['has no link to begin with', 'Plain [text] (and more).', 'Plain [text] (and more).'],
    ['keeps what a link reads', 'See [our prices](https://x.example/p?q=1) first.', 'See our prices first.'],
    ['keeps each of several in a line', '[One](a) and [two](b).', 'One and two.'],
    ['loses an empty address', 'Go [home]() now', 'Go home now'],
    ['loses a line that is nothing but a link', 'Before\n[Elsewhere](e.md)\nafter', 'Before\n\nafter'],
    [
      'loses such lines of a list',
      'Also:\n- [A](a)\n* [B](b)\n1. [C](c)\n+ **[D](d)**.\nend',
      'Also:\n\n\n\n\nend',
    ],
    ['keeps a list line that says more', 'x\n- [A](a): the first', 'x\n- A: the first'],
    ['does not take a line break for a part of a link', 'a [b\nc](d)', 'a [b\nc](d)'],
    ['is about its links when it has nothing else', '- [A](a)\n- [B](b)', '- A\n- B'],
  ] as const)
    test(name, () => expect(withoutLinks(text)).toBe(read))

  test('keeps every line, and every word outside of links', () => {
    const piece = fc.constantFrom('[', ']', '(', ')', '](', 'word', ' ', '\n', '- ', '[a](b)', '**', '1. ')
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
        (text) => {
          const read = withoutLinks(text)
          expect(read.split('\n').length).toBe(text.split('\n').length)
          if (!text.includes('](')) expect(read).toBe(text)
          const outside = text.replace(/\[[^\]\n]*\]\([^)\n]*\)/g, '')
          const count = (where: string) => where.split('word').length
          expect(count(read)).toBeGreaterThanOrEqual(count(outside))
        },
      ),
    )
  })

  test('takes time in proportion to a chunk, whatever brackets it is made of', () => {
    for (const unit of ['[', '[a](', '](', '[]', '- [']) {
      const text = unit.repeat(1_600 / unit.length)
      expect(withoutLinks(`${text}](`).length).toBeLessThanOrEqual(text.length + 2)
    }
  })
})
