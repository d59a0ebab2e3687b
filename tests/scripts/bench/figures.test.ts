import { expect, test } from 'bun:test'
import { writeFigures } from '../../../scripts/bench/figures.ts'

const suite = {
  command: 'bench:one',
  title: 'One',
  about: 'how fast.',
  cases: [{ name: 'first' }, { name: 'second' }],
}
const other = { ...suite, command: 'bench:two', title: 'Two' }
const row = (measured: string) => ({ what: 'it', measured, target: '≤ 1', isMet: true })
const rowsOf = (text: string) => text.split('\n').filter((line) => line.startsWith('| `'))

test('figures are added under their heading, and replace only those of the same case', () => {
  const once = writeFigures('# Figures\n', {
    suite,
    figures: new Map([
      ['first', [row('1'), row('2')]],
      ['second', [row('3')]],
    ]),
    origin: 'day 1',
  })
  expect(once).toStartWith(
    '# Figures\n\n<!-- begin bench:one -->\n## One\n\n`bun run bench:one`: how fast.\n',
  )
  const both = writeFigures(once, {
    suite: other,
    figures: new Map([['second', [row('4')]]]),
    origin: 'day 2',
  })
  const again = writeFigures(both, { suite, figures: new Map([['first', [row('5')]]]), origin: 'day 3' })
  expect(rowsOf(again)).toEqual([
    '| `first` | it | 5 | ≤ 1 | day 3 |',
    '| `second` | it | 3 | ≤ 1 | day 1 |',
    '| `second` | it | 4 | ≤ 1 | day 2 |',
  ])
})

test('writing the same figures again changes nothing', () => {
  const figures = new Map([['first', [row('1')]]])
  const text = `${writeFigures('# Figures\n', { suite, figures, origin: 'day 1' })}\nSaid by hand.\n`
  expect(writeFigures(text, { suite, figures, origin: 'day 1' })).toBe(text)
})

test('rows of removed cases are removed, a missed target is marked, and no cell breaks the table', () => {
  const first = writeFigures('', { suite, figures: new Map([['second', [row('1')]]]), origin: 'day 1' })
  const missed = { what: '  a|b', measured: 'two\nlines', target: '≤ 1', isMet: false }
  const text = writeFigures(first, {
    suite: { ...suite, cases: [{ name: 'first' }] },
    figures: new Map([['first', [missed]]]),
    origin: 'day 2',
  })
  expect(rowsOf(text)).toEqual(['| `first` | … a\\|b | two lines | ≤ 1: missed | day 2 |'])
})
