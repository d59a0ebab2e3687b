import { foldText, indexedWords } from '../../text/words.ts'
import type { WordQuery } from '../finding/word-query.ts'
import type { Call } from '../schemas.ts'

export interface TextMatch {
  /** Who says it, or that it is in the summary. */
  where: 'user' | 'assistant' | 'summary'
  /** An excerpt of about 160 characters. */
  text: string
  /** The start and end of each found word, as UTF-16 offsets into `text`. */
  ranges: [number, number][]
}

/** What is searched for, as it was written. */
export interface WeighedText {
  text: string
  /** Weights of the words: rarer words are heavier. */
  weights: number[]
}

/** The length of an excerpt. */
const shownCharsMax = 160
/** How much of it comes before the first found word, at most, so that a narrow column shows that word. */
const shownBeforeMax = 20
/** How far from the previous word a word of a run is looked for. */
const nextWordCharsMax = 64
/** Only the beginning of a longer transcript is searched. */
const searchedCharsMax = 262_144

/** A found word: its offsets in the text, and its index in the query. */
interface Mention {
  start: number
  end: number
  term: number
}

/**
 * The first turn with the heaviest words, or the summary if its words are heavier; null if none has any.
 * @param weights of the query's words: rarer words are heavier
 */
export function findMatch(
  query: WordQuery,
  { summary, transcript }: Pick<Call, 'summary' | 'transcript'>,
  weights: readonly number[] = [],
): TextMatch | null {
  let best: { where: TextMatch['where']; text: string; mentions: Mention[]; weight: number } | null = null
  let chars = searchedCharsMax
  const turns = transcript.map(({ role, content }) => {
    const text = content.slice(0, chars).toWellFormed()
    chars -= text.length
    return { where: role, text }
  })
  const searched = (summary ?? '').slice(0, searchedCharsMax).toWellFormed()
  for (const { where, text } of [...turns, { where: 'summary' as const, text: searched }]) {
    const mentions = mentionsIn(text, query)
    const terms = new Set(mentions.map(({ term }) => term))
    const weight = weightOf(terms, weights)
    if (weight > (best?.weight ?? 0)) best = { where, text, mentions, weight }
    if (terms.size === query.terms) break
  }
  return best && { where: best.where, ...excerpt(best.text, best.mentions, weights) }
}

function weightOf(terms: ReadonlySet<number>, weights: readonly number[]): number {
  return [...terms].reduce((sum, term) => sum + (weights[term] ?? 1), 0)
}

function mentionsIn(text: string, query: WordQuery): Mention[] {
  const mentions: Mention[] = []
  // Signs such as ㎏ and ₨ are indexed as the letters that they stand for.
  for (const { 0: run, index } of text.matchAll(/[\p{L}\p{N}\p{M}[\p{S}--\p{ASCII}]]+/gv)) {
    if (/^[\x00-\x7f]*$/.test(run)) {
      const term = query.termOf(run.toLowerCase())
      if (term >= 0) mentions.push({ start: index, end: index + run.length, term })
    } else {
      for (const mention of mentionsInRun(run, index, query)) mentions.push(mention)
    }
  }
  return mentions
}

/** For scripts without spaces, and for words that are not indexed as they are written. Ordered by their starts. */
function mentionsInRun(run: string, start: number, query: WordQuery): Mention[] {
  const mentions: Mention[] = []
  const otherForms = new Set<number>()
  let from = 0
  for (const word of indexedWords(run)) {
    const at = run.slice(from, from + nextWordCharsMax + word.length).indexOf(word)
    const term = query.termOf(foldText(word))
    if (at < 0) otherForms.add(term)
    else if (term >= 0)
      mentions.push({ start: start + from + at, end: start + from + at + word.length, term })
    if (at >= 0) from += at + 1
  }
  otherForms.delete(-1)
  // A word in another form, such as half-width characters, marks the whole run.
  const whole = Array.from(otherForms, (term) => ({ start, end: start + run.length, term }))
  return [...whole, ...mentions]
}

function excerpt(
  text: string,
  mentions: readonly Mention[],
  weights: readonly number[],
): Pick<TextMatch, 'text' | 'ranges'> {
  const [first, last] = densest(mentions, weights)
  const start = wordStart(text, Math.max(0, first.start - shownBeforeMax), first.start)
  const end = wordEnd(text, Math.min(text.length, start + shownCharsMax), last.end)
  const before = start > 0 ? '…' : ''
  const after = end < text.length ? '…' : ''
  const offset = before.length - start
  const ranges: [number, number][] = []
  for (const mention of mentions) {
    const [from, to] = [Math.max(mention.start, start) + offset, Math.min(mention.end, end) + offset]
    const previous = ranges.at(-1)
    if (to <= from) continue
    if (previous && from <= previous[1]) previous[1] = Math.max(previous[1], to)
    else ranges.push([from, to])
  }
  return { text: `${before}${text.slice(start, end)}${after}`, ranges }
}

/** The first and the last mention in the excerpt with the heaviest words. */
function densest(mentions: readonly Mention[], weights: readonly number[]): [Mention, Mention] {
  let best: { weight: number; range: [Mention, Mention] } | null = null
  /** How often each term is mentioned from the first mention up to the next one that does not fit. */
  const counts = new Map<number, number>()
  let weight = 0
  const count = ({ term }: Mention, more: 1 | -1) => {
    const before = counts.get(term) ?? 0
    counts.set(term, before + more)
    if (before + more === 0 || before === 0) weight += more * (weights[term] ?? 1)
  }
  let next = 0
  for (const [index, first] of mentions.entries()) {
    const end = first.start + shownCharsMax - shownBeforeMax
    for (let mention = mentions[next]; mention; mention = mentions[++next]) {
      if (mention.end > end && next > index) break
      count(mention, 1)
    }
    const last = mentions[next - 1] ?? first
    if (weight > (best?.weight ?? 0)) best = { weight, range: [first, last] }
    count(first, -1)
  }
  if (!best) throw new Error('An excerpt is made of a text in which something was found')
  return best.range
}

/** The first start of a word from `at` on; `at` itself if there is none before `limit`. */
function wordStart(text: string, at: number, limit: number): number {
  if (at === 0) return 0
  const space = text.slice(at - 1, limit).search(/\s/)
  return space < 0 ? withoutHalf(text, at) : at + space
}

/** The last end of a word up to `at`; `at` itself if there is none after `limit`. */
function wordEnd(text: string, at: number, limit: number): number {
  if (at === text.length) return at
  const space = text.slice(limit, at + 1).search(/\s\S*$/)
  return space < 0 ? withoutHalf(text, at) : limit + space
}

/** Moves an offset out of the middle of a surrogate pair. */
function withoutHalf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000 ? at - 1 : at
}
