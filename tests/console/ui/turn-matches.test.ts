import { expect, test } from 'bun:test'
import { findInTurns, rangesByTurn } from '../../../src/console/ui/views/calls/conversation.ts'

const turns = [
  { role: 'user' as const, content: 'Is it (really) 5.00? Straße, İzmir.' },
  { role: 'assistant' as const, content: 'Really, it is.' },
]

test('finds a phrase in any case, wherever it is, with the offsets it has in the text', () => {
  const found = findInTurns(turns, 'REALLY').map(({ turn, start, end }) =>
    turns[turn]?.content.slice(start, end),
  )
  expect(found).toEqual(['really', 'Really'])
})

test('the phrase is text, never a pattern', () => {
  expect(findInTurns(turns, '(really) 5.00?')).toHaveLength(1)
  expect(findInTurns(turns, '.*')).toEqual([])
  expect(findInTurns(turns, '[really]')).toEqual([])
})

test('letters with a longer lower case do not shift later matches', () => {
  const [match] = findInTurns([{ role: 'user', content: 'İİİ table' }], 'table')
  expect(match).toEqual({ turn: 0, start: 4, end: 9 })
})

test('words that are not adjacent are found one by one', () => {
  const found = findInTurns(turns, 'izmir nothing really')
  expect(found.map(({ turn }) => turn)).toEqual([0, 1])
})

test('a blank phrase finds nothing, and ranges are grouped by turn', () => {
  expect(findInTurns(turns, '  ')).toEqual([])
  expect(rangesByTurn(findInTurns(turns, 'it')).get(1)).toEqual([[8, 10]])
})

test('the words of a phrase are whole, with their apostrophes', () => {
  const said = [{ role: 'user' as const, content: 'That’s the last one, she says.' }]
  const found = findInTurns(said, 'no, that’s all').map(({ start, end }) =>
    said[0]?.content.slice(start, end),
  )
  expect(found).toEqual(['That’s'])
})
