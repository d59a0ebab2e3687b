import { describe, expect, test } from 'bun:test'
import type { Chunk } from '../../../src/knowledge/chunking/chunk.ts'
import { splitIntoChunks } from '../../../src/knowledge/chunking/chunks.ts'
import { mergePassages, type ScoredPassage } from '../../../src/knowledge/search/merge-passages.ts'
import type { Passage } from '../../../src/knowledge/search/passages.ts'
import fc from '../../support/fast-check.ts'

function passage(fields: Partial<Passage>): Passage {
  const { itemSeq = 1, position = 0 } = fields
  return {
    label: itemSeq * 1_000 + position,
    itemId: `kn_${itemSeq}`,
    itemSeq,
    name: `Item ${itemSeq}`,
    heading: null,
    text: `Passage ${position} of item ${itemSeq}`,
    position,
    overlapChars: 0,
    ...fields,
  }
}

/** In the order given, with scores that fall. */
function ranked(passages: readonly Passage[]): ScoredPassage[] {
  return passages.map((passage, rank) => ({ passage, score: 1 / (rank + 1) }))
}

function merge(passages: readonly Passage[], limit = 50): Passage[] {
  return mergePassages(ranked(passages), limit).map(({ passage }) => passage)
}

const placesOf = (passages: readonly Passage[]) =>
  passages.map(({ itemSeq, position }) => [itemSeq, position])

/** A text of one section that is cut into several chunks with overlaps. */
const longText = Array.from(
  { length: 90 },
  (_, n) => `Sentence ${n} of the section says ${n * 37} things.`,
).join(' ')
const longChunks = splitIntoChunks(longText)
const toPassage = ({ position, heading, text, overlapChars }: Chunk) =>
  passage({ position, heading, text, overlapChars })

describe('chunks that follow each other', () => {
  test('overlap, as the other tests assume', () => {
    expect(longChunks.length).toBeGreaterThanOrEqual(3)
    expect(longChunks.slice(1).every(({ overlapChars }) => overlapChars > 0)).toBe(true)
  })

  test('are one passage that reads as the text does, in whatever order they were found', () => {
    const three = longChunks.slice(0, 3).map(toPassage)
    const [first, second, third] = three
    if (!first || !second || !third) throw new Error('There are three')
    const [, next] = longChunks.slice(2)
    const end = next ? longText.indexOf(next.text) + next.overlapChars : longText.length
    for (const order of [
      [first, second, third],
      [first, third, second],
      [second, first, third],
      [second, third, first],
      [third, first, second],
      [third, second, first],
    ])
      expect(mergePassages(ranked(order), 5)).toEqual([
        {
          passage: { ...first, text: longText.slice(0, end) },
          score: 1,
          labels: [first.label, second.label, third.label],
        },
      ])
  })

  test('stand at the place and score of the best of them, and begin with the first of them', () => {
    const merged = mergePassages(
      ranked([passage({ position: 5 }), passage({ itemSeq: 2 }), passage({ position: 4 })]),
      5,
    )
    expect(merged.map(({ passage, score }) => [passage.itemSeq, passage.position, score])).toEqual([
      [1, 4, 1],
      [2, 0, 1 / 2],
    ])
    expect(merged[0]?.passage.text).toBe('Passage 4 of item 1Passage 5 of item 1')
  })

  test('are at most three', () => {
    const row = [0, 1, 2, 3, 4, 5, 6].map((position) => passage({ position }))
    expect(placesOf(merge(row))).toEqual([
      [1, 0],
      [1, 3],
      [1, 6],
    ])
  })

  test('stay apart when they are of different sections or items, or something lies between them', () => {
    for (const other of [
      { heading: 'Elsewhere' },
      { itemSeq: 2 },
      { position: 3 },
      { position: 1, heading: '' },
    ]) {
      const passages = [passage({ position: 0 }), passage({ position: 1, ...other })]
      expect(merge(passages)).toEqual(passages)
    }
  })

  test('make room for others: the limit is filled when there are enough', () => {
    const passages = [
      ...[0, 1, 2].map((position) => passage({ position })),
      ...[2, 3, 4, 5].map((itemSeq) => passage({ itemSeq })),
    ]
    for (const limit of [1, 2, 3, 4, 5])
      expect(placesOf(merge(passages, limit))).toEqual(
        [1, 2, 3, 4, 5].slice(0, limit).map((itemSeq) => [itemSeq, 0]),
      )
  })
})

describe('passages that say the same', () => {
  const text = [
    'We refund any order within thirty days of delivery, to the card that was charged for it.',
    'Send the goods back in their box, with the form that came along, and keep the receipt of the post office.',
    'Gift cards and opened software are not taken back unless something is wrong with them when they arrive.',
  ].join(' ')

  test('appear once, and the better one stays', () => {
    const passages = [2, 1, 3].map((itemSeq) => passage({ itemSeq, text }))
    expect(merge(passages)).toEqual(passages.slice(0, 1))
  })

  test('may differ in case, punctuation and a word here and there', () => {
    for (const other of [text.replaceAll('order', 'Order'), text.replaceAll(',', ';'), `${text} Thanks.`])
      expect(merge([passage({ text }), passage({ itemSeq: 2, text: other })]).length).toBe(1)
  })

  test('both stay when they differ in a number', () => {
    const price = (amount: string) =>
      passage({ itemSeq: amount.length, text: `${text} It costs ${amount} euros.` })
    expect(merge([price('49'), price('499')]).length).toBe(2)
    expect(merge([price('٤٩'), price('٤٩٩')]).length).toBe(2)
    expect(merge([price('49'), price('49')]).length).toBe(1)
  })

  test('both stay when they are of like letters but say something else', () => {
    const words = text.split(' ')
    const other = words.toReversed().join(' ')
    expect(merge([passage({ text }), passage({ itemSeq: 2, text: other })]).length).toBe(2)
  })

  test('leave their place to others', () => {
    const passages = [1, 2, 3].map((itemSeq) => passage({ itemSeq, text }))
    const others = [4, 5].map((itemSeq) => passage({ itemSeq }))
    expect(placesOf(merge([...passages, ...others], 3))).toEqual([
      [1, 0],
      [4, 0],
      [5, 0],
    ])
  })

  test('are left out of a copy of an item, chunk by chunk, in whatever order they come', () => {
    const copy = (itemSeq: number) =>
      [0, 1].map((position) => passage({ itemSeq, position, text: longChunks[position]?.text ?? '' }))
    const passages = [...copy(1), ...copy(2)]
    for (const order of permutations(passages)) {
      const merged = merge(order)
      const kept = merged.map(({ text }) => text).join('\n')
      for (const { text } of copy(1)) expect(kept.split(text).length - 1).toBe(1)
    }
  })
})

describe('whatever is merged', () => {
  const found = fc
    .uniqueArray(fc.record({ itemSeq: fc.integer({ min: 1, max: 3 }), position: fc.nat(7) }), {
      selector: ({ itemSeq, position }) => itemSeq * 10 + position,
      maxLength: 24,
    })
    .map((places) => places.map((place) => passage({ ...place, heading: place.position < 4 ? 'A' : 'B' })))

  test('scores fall, there are at most `limit` passages, and each chunk is a given one and occurs once', () => {
    fc.assert(
      fc.property(found, fc.integer({ min: 1, max: 12 }), (passages, limit) => {
        const merged = mergePassages(ranked(passages), limit)
        expect(merged.length).toBeLessThanOrEqual(limit)
        const scores = merged.map(({ score }) => score)
        expect(scores).toEqual(scores.toSorted((a, b) => b - a))
        const texts = merged.flatMap(({ passage }) => passage.text.match(/Passage \d of item \d/g) ?? [])
        expect(new Set(texts).size).toBe(texts.length)
        const known = passages.map(({ text }) => text)
        for (const text of texts) expect(known).toContain(text)
        if (passages.length > 0) expect(texts).toContain(passages[0]?.text ?? '')
      }),
    )
  })

  test('neighbours in one section that fit into one passage are merged', () => {
    fc.assert(
      fc.property(found, (passages) => {
        const groups = merge(passages).map(({ text, itemSeq, heading, position }) => {
          const chunks = text.match(/Passage/g)?.length ?? 0
          return { itemSeq, heading, from: position, to: position + chunks, chunks }
        })
        for (const a of groups) {
          expect(a.chunks).toBeLessThanOrEqual(3)
          for (const b of groups) {
            const isNext = a.itemSeq === b.itemSeq && a.heading === b.heading && a.to === b.from
            if (isNext) expect(a.chunks + b.chunks).toBeGreaterThan(3)
          }
        }
      }),
    )
  })
})

function permutations<Value>(values: readonly Value[]): Value[][] {
  if (values.length < 2) return [[...values]]
  return values.flatMap((value, at) => permutations(values.toSpliced(at, 1)).map((rest) => [value, ...rest]))
}
