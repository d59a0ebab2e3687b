import { foldText } from '../../text/words.ts'
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

export interface MergedPassage extends ScoredPassage {
  /** Of the chunks that became it. */
  labels: number[]
}

/** A passage to answer with: one chunk, or some of one section that follow each other. */
interface Group {
  score: number
  /** By position. */
  passages: Passage[]
}

/**
 * The best passages, no more than `limit`: chunks of one section that follow each other are one passage, at the
 * better one's place, and what says the same as a better passage is left out.
 */
export function mergePassages(ranked: readonly ScoredPassage[], limit: number): MergedPassage[] {
  const groups: Group[] = []
  const shingles = new Map<Passage, Set<string>>()
  for (const { passage, score } of ranked) {
    const isTold = groups.some(({ passages }) =>
      passages.some((better) => saysTheSame(better, passage, shingles)),
    )
    if (isTold) continue
    const [better, other] = groups.filter((group) => continues(group, passage))
    if (better) {
      join(better, [passage])
      // It may be what lay between two of them.
      if (other && better.passages.length + other.passages.length <= mergedChunksMax) {
        join(better, other.passages)
        groups.splice(groups.indexOf(other), 1)
      }
    } else if (groups.length < limit) groups.push({ score, passages: [passage] })
    else break
  }
  return groups.map(({ score, passages }) => {
    return { score, passage: joined(passages), labels: passages.map(({ label }) => label) }
  })
}

function join(group: Group, passages: readonly Passage[]): void {
  group.passages.push(...passages)
  group.passages.sort((a, b) => a.position - b.position)
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
function saysTheSame(better: Passage, other: Passage, shingles: Map<Passage, Set<string>>): boolean {
  const [a, b] = [better.text, other.text]
  if (a === b) return true
  if (Math.min(a.length, b.length) < likenessMin * Math.max(a.length, b.length)) return false
  if (!haveLikeLetters(a, b)) return false
  const shinglesIn = (passage: Passage) => {
    const known = shingles.get(passage) ?? shinglesOf(passage.text)
    shingles.set(passage, known)
    return known
  }
  const [told, telling] = [shinglesIn(better), shinglesIn(other)]
  let shared = 0
  for (const shingle of telling) if (told.has(shingle)) shared++
  const all = told.size + telling.size - shared
  return shared >= likenessMin * all && numbersOf(a) === numbersOf(b)
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
