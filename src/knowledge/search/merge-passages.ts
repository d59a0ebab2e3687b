import { foldText } from '../words.ts'
import type { Passage } from './passages.ts'

/** How many chunks that follow each other become one passage at most. */
const mergedChunksMax = 3
/** Share of their word triples that two texts have in common from which on they say the same. */
const likenessMin = 0.9
const shingleWords = 3

export interface ScoredPassage {
  passage: Passage
  score: number
}

/** A passage to answer with: one chunk, or some of one section that follow each other. */
interface Group {
  score: number
  /** By position. */
  passages: Passage[]
  shingles: Set<string> | null
}

/**
 * The best passages, no more than `limit`: chunks of one section that follow each other are one passage, at the
 * better one's place, and what says the same as a better passage is left out.
 */
export function mergePassages(ranked: readonly ScoredPassage[], limit: number): ScoredPassage[] {
  const groups: Group[] = []
  for (const { passage, score } of ranked) {
    const neighbour = groups.find((group) => continues(group, passage))
    if (neighbour) {
      neighbour.passages.push(passage)
      neighbour.passages.sort((a, b) => a.position - b.position)
      neighbour.shingles = null
      continue
    }
    if (groups.length === limit) break
    const group: Group = { score, passages: [passage], shingles: null }
    if (!groups.some((better) => saysTheSame(better, group))) groups.push(group)
  }
  return groups.map(({ score, passages }) => ({ score, passage: joined(passages) }))
}

function continues({ passages }: Group, next: Passage): boolean {
  const [first, last] = [passages[0], passages.at(-1)]
  if (!first || !last || passages.length >= mergedChunksMax) return false
  const isNext = next.position === last.position + 1 || next.position === first.position - 1
  return isNext && next.itemSeq === first.itemSeq && next.heading === first.heading
}

/** Without the overlaps, which repeat what the chunk before ends with. */
function joined(passages: readonly Passage[]): Passage {
  const [first, ...rest] = passages
  if (!first) throw new Error('A group has a passage')
  return {
    ...first,
    text: rest.reduce((text, passage) => text + passage.text.slice(passage.overlapChars), first.text),
  }
}

/** Passages that differ in a number, such as a price, do not say the same however alike they are. */
function saysTheSame(better: Group, other: Group): boolean {
  const [a, b] = [textOf(better), textOf(other)]
  if (a === b) return true
  if (Math.min(a.length, b.length) < likenessMin * Math.max(a.length, b.length)) return false
  if (!haveLikeLetters(a, b)) return false
  better.shingles ??= shinglesOf(a)
  other.shingles ??= shinglesOf(b)
  let shared = 0
  for (const shingle of other.shingles) if (better.shingles.has(shingle)) shared++
  const all = better.shingles.size + other.shingles.size - shared
  return shared >= likenessMin * all && numbersOf(a) === numbersOf(b)
}

function textOf({ passages }: Group): string {
  return passages.map(({ text }) => text).join('\n')
}

/** Far cheaper than comparing words, and false for nearly all that do not say the same. */
function haveLikeLetters(a: string, b: string): boolean {
  const surplus = new Int32Array(64)
  for (let at = 0; at < a.length; at++) bump(surplus, a.charCodeAt(at), 1)
  for (let at = 0; at < b.length; at++) bump(surplus, b.charCodeAt(at), -1)
  let differing = 0
  for (const count of surplus) differing += Math.abs(count)
  return differing <= 2 * (1 - likenessMin) * Math.max(a.length, b.length)
}

function bump(counts: Int32Array, code: number, by: number): void {
  counts[code & 63] = (counts[code & 63] ?? 0) + by
}

function shinglesOf(text: string): Set<string> {
  const words = foldText(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const shingles = new Set<string>()
  for (let at = 0; at < words.length; at++) shingles.add(words.slice(at, at + shingleWords).join(' '))
  return shingles
}

function numbersOf(text: string): string {
  return (text.match(/\p{N}+/gu) ?? []).join(' ')
}
