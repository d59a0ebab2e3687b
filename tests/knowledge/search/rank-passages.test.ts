import { describe, expect, spyOn, test } from 'bun:test'
import { PassageWords } from '../../../src/knowledge/search/passage-words.ts'
import type { Passage } from '../../../src/knowledge/search/passages.ts'
import { readTerms } from '../../../src/knowledge/search/query.ts'
import { rankPassages, type TermCounts } from '../../../src/knowledge/search/rank-passages.ts'
import { TermMatcher } from '../../../src/knowledge/search/term-matcher.ts'

type Part = string | (Partial<Passage> & { text: string })

const evenly: TermCounts = { chunks: 10_000, chunksWith: () => 20 }

/** Where each passage stands afterwards, by its place before. */
function order(query: string, parts: Part[], counts: TermCounts = evenly): number[] {
  const words = new PassageWords()
  for (const [label, part] of parts.entries()) words.add(toPassage(part, label))
  return rankPassages(readTerms(query), words.of([...parts.keys()]), words.forms, counts).labels
}

function toPassage(part: Part, label: number): Passage {
  const more = typeof part === 'string' ? { text: part } : part
  const place = { itemId: `kn_${label}`, itemSeq: label, position: 0, overlapChars: 0 }
  return { label, name: 'Item', heading: null, ...place, ...more }
}

describe('what puts a passage before one that came before it', () => {
  // Each pair is alike but for one kind of evidence, which the second has.
  const pairs: Record<string, [query: string, worse: Part, better: Part]> = {
    'a word that the other lacks': ['refund', 'the parcel is here today', 'the refund is here today'],
    'the word more often': ['refund', 'a refund for the parcel', 'a refund or the refund'],
    'the word in a shorter text': [
      'refund',
      `refund ${'of some other thing '.repeat(9)}`,
      'refund of some thing',
    ],
    'another form of the word': ['refunding', 'the parcel is here today', 'the refunds are here today'],
    'the word with its accent left out': ['crème', 'the parcel is here today', 'the creme is here today'],
    'the word with a slip of the pen': ['warrenty now', 'the harbour now', 'the warranty now'],
    'the capitals of the query': ['Polish shoes', 'we polish shoes', 'we Polish shoes'],
    'the words next to each other': ['express delivery', 'express for a delivery', 'for a express delivery'],
    'the words in the order of the query': ['express delivery', 'a delivery express', 'a express delivery'],
    'the words a word apart, as in the query': [
      'refund my order',
      'refund for an old order',
      'for an refund old order',
    ],
    'all words within a dozen, though not side by side': [
      'express delivery',
      `express ${'x1 '.repeat(20)} delivery`,
      `${'x1 '.repeat(5)} express ${'x1 '.repeat(10)} delivery ${'x1 '.repeat(5)}`,
    ],
    'a word in its heading': [
      'refund desk',
      { text: 'the desk' },
      { text: 'the desk', heading: 'On refunds' },
    ],
    "a word in its item's name": ['refund desk', { text: 'the desk' }, { text: 'the desk', name: 'Refunds' }],
    'a word in the name besides the text': [
      'refund desk',
      { text: 'the refund desk' },
      { text: 'the refund desk', name: 'Refunds' },
    ],
    'a word in the name rather than in passing': [
      'zephyr setup',
      { text: 'setup for all routers but the zephyr', name: 'Routers' },
      { text: 'setup for all routers on one page', name: 'Zephyr' },
    ],
    'a name that says nothing else': [
      'refund desk',
      { text: 'the refund desk', name: 'Refunds and all that we sell at our desk' },
      { text: 'the refund desk', name: 'Refunds' },
    ],
    'a pair of Chinese characters': ['退款政策', '我们发货很快', '我们退款很快'],
    'more of the pairs, side by side': ['退款政策', '政策不含退款', '本店退款政策'],
    'a single Chinese character': ['款', '我们发货很快', '我们付款很快'],
    'a Thai word': ['คืนเงิน', 'เราส่งของภายในสามวัน', 'เราคืนเงินภายในสามวัน'],
    'a word, not where a link leads': [
      'refund',
      'see [this page](https://x.example/refund) for it',
      'see this page of the refund for it',
    ],
  }
  for (const [name, [query, worse, better]] of Object.entries(pairs))
    test(name, () => expect(order(query, [worse, better])).toEqual([1, 0]))

  test('what a question is about, not how it is put', () => {
    const parts = [
      { text: 'use the app for my code', heading: 'How do I verify my identity?' },
      { text: 'passwords are changed in the settings', heading: 'Settings' },
    ]
    expect(order('How do I change my password?', parts)).toEqual([1, 0])
    // How it is put decides where nothing else does.
    expect(order('when is it', ['it is here', 'when is it here'])).toEqual([1, 0])
  })

  test('of two words in headings, the one that fewer headings have', () => {
    const inHeadings = (common: string): TermCounts => ({
      ...evenly,
      chunksBeginningWith: ({ text }) => (text === common ? 900 : 2),
    })
    const parts = [
      { text: 'some text', heading: 'Counters' },
      { text: 'some text', heading: 'Histograms' },
    ]
    expect(order('counters histograms', parts, inHeadings('counters'))).toEqual([1, 0])
    expect(order('counters histograms', parts, inHeadings('histograms'))).toEqual([0, 1])
  })

  test('the rarer word of two', () => {
    const counts = {
      chunks: 10_000,
      chunksWith: ({ text }: { text: string }) => (text === 'zebra' ? 2 : 900),
    }
    const parts = ['the order stands here', 'the zebra stands here']
    expect(order('order zebra', parts, counts)).toEqual([1, 0])
    expect(order('order zebra', parts.toReversed(), counts)).toEqual([0, 1])
  })

  test('in a small project, where no word is rare yet, the longer word of two', () => {
    const small = { chunks: 3, chunksWith: () => 1 }
    expect(order('is refundable', ['it is here today', 'it refundable here today'], small)).toEqual([1, 0])
  })

  test('what the rest of its item says', () => {
    const parts = [
      { text: 'the warranty', itemSeq: 1 },
      { text: 'the warranty', itemSeq: 2 },
      { text: 'for a tyre', itemSeq: 2 },
    ]
    expect(order('tyre warranty', parts).indexOf(1)).toBeLessThan(order('tyre warranty', parts).indexOf(0))
  })

  test('nothing else: equal passages keep their order', () => {
    expect(order('refund', ['a refund', 'a refund', 'nothing', 'nothing', 'a refund'])).toEqual([
      0, 1, 4, 2, 3,
    ])
    expect(order('refund', [])).toEqual([])
    expect(order('?!', ['a', 'b'])).toEqual([0, 1])
  })
})

describe('a word that most chunks have', () => {
  test('counts for less than one that few have, but is not lost', () => {
    const counts = { chunks: 100, chunksWith: ({ text }: { text: string }) => (text === 'the' ? 100 : 1) }
    expect(order('the refund', ['the the the the', 'one refund here', 'the refund here'], counts)).toEqual([
      2, 1, 0,
    ])
  })

  test('is not looked for in other forms', () => {
    const counts = { chunks: 100, chunksWith: () => 100 }
    expect(order('order', ['some words here', 'some ordered here'], counts)).toEqual([0, 1])
  })
})

describe('the coverage of a question', () => {
  const counts: TermCounts = {
    chunks: 10_000,
    chunksWith: ({ isFunctionWord }) => (isFunctionWord ? 3_000 : 20),
  }
  const coverageOf = (query: string, part: Part) => {
    const words = new PassageWords()
    words.add(toPassage(part, 0))
    return rankPassages(readTerms(query), words.of([0]), words.forms, counts).coverage
  }

  test('is no more than the share of its words that the passage has, however often it has these', () => {
    const part = { text: 'refund '.repeat(9), name: 'Refund', heading: 'Refund' }
    expect(coverageOf('refund', part)).toBe(1)
    expect(coverageOf('refund zeppelin', part)).toBeCloseTo(0.5, 1)
    expect(coverageOf('refund zeppelin mortgage', part)).toBeLessThan(0.36)
  })

  test('is little where only the question is put alike', () => {
    expect(coverageOf('How do I cancel my subscription?', 'How do I verify my identity?')).toBeLessThan(0.3)
  })
})

describe('work', () => {
  const queryOf = (words: string) => words.repeat(2_000).slice(0, 2_000)
  const crafted = {
    'one word': 'a ',
    'two words': 'ab ba ',
    'one pair of Chinese characters': '退款',
    'some words over and over': 'refund my order within thirty days ',
    'as many words as are looked for': Array.from({ length: 31 }, (_, n) => `w${n}`).join(' '),
  }
  for (const [name, words] of Object.entries(crafted))
    test(`grows with the text and no faster, for a query of 2,000 characters: ${name}`, () => {
      const work = (chars: number) => countReads(queryOf(words), words.repeat(chars).slice(0, chars))
      const [once, twice, often] = [work(2_000), work(4_000), work(32_000)]
      expect(once).toBeGreaterThan(0)
      expect(twice / once).toBeLessThan(2.3)
      expect(often / once).toBeLessThan(20)
    })

  test('is done for 31 terms at most, whatever the query', () => {
    const widths: number[] = []
    const read = TermMatcher.prototype.read
    const matched = spyOn(TermMatcher.prototype, 'read').mockImplementation(function (
      this: TermMatcher,
      ...args
    ) {
      const mentions = read.apply(this, args)
      widths.push(mentions.counts.length)
      return mentions
    })
    try {
      const many = Array.from({ length: 400 }, (_, n) => `word${n}`)
        .join(' ')
        .slice(0, 2_000)
      order(many, [many])
      expect(Math.max(...widths)).toBe(31)
    } finally {
      matched.mockRestore()
    }
  })
})

/** How often ranking looks at the places of words in the text. */
function countReads(query: string, text: string): number {
  let reads = 0
  const read = TermMatcher.prototype.read
  const matched = spyOn(TermMatcher.prototype, 'read').mockImplementation(function (
    this: TermMatcher,
    ...args
  ) {
    const mentions = read.apply(this, args)
    const places = new Proxy(mentions.places, {
      get: (target, at, receiver) => {
        reads++
        return Reflect.get(target, at, receiver)
      },
    })
    return { ...mentions, places }
  })
  try {
    order(query, [text])
  } finally {
    matched.mockRestore()
  }
  return reads
}
