import { foldText } from '../../text/words.ts'
import type { Passage } from './passages.ts'

/** Consecutive chunks that become one passage. */
export const mergedChunksMax = 3
/** Texts that share at least this part of their word triples say the same. */
const likenessMin = 0.9
const shingleWords = 3

export interface ScoredPassage {
  passage: Passage
  score: number
}

export interface MergedPassage extends ScoredPassage {
  /** Labels of the chunks that were merged. */
  labels: number[]
}

/** The consecutive chunks of one section that become one passage. */
interface Group {
  score: number
  /** The passages by position. */
  passages: Passage[]
}

/**
 * The best passages, at most `limit`. Consecutive chunks of one section become one passage, at the place of the better
 * one. Passages that say the same as a better one are left out.
 */
export function mergePassages(ranked: readonly ScoredPassage[], limit: number): MergedPassage[] {
  const groups: Group[] = []
  const shingles = new Map<Passage, Set<string>>()
  for (const { passage, score } of ranked) {
    const better = groups.flatMap(({ passages }) => passages)
    if (better.some((betterOne) => saysTheSame(betterOne, passage, shingles))) continue
    const [group, other] = groups.filter((candidate) => continues(candidate, passage))
    if (group) {
      join(group, [passage])
      // The passage may be the missing piece between two groups.
      if (other && group.passages.length + other.passages.length <= mergedChunksMax) {
        join(group, other.passages)
        groups.splice(groups.indexOf(other), 1)
      }
    } else if (groups.length < limit) groups.push({ score, passages: [passage] })
    else break
  }
  return groups.map(({ score, passages }) => {
    return { score, passage: passages.reduce(joinPassages), labels: passages.map(({ label }) => label) }
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

function joinPassages(passage: Passage, next: Passage): Passage {
  return { ...passage, text: passage.text + next.text.slice(next.overlapChars) }
}

/** Passages with different numbers, such as prices, do not say the same. */
function saysTheSame(better: Passage, other: Passage, shingles: Map<Passage, Set<string>>): boolean {
  const [a, b] = [better.text, other.text]
  if (a === b) return true
  if (Math.min(a.length, b.length) < likenessMin * Math.max(a.length, b.length)) return false
  if (!haveLikeLetters(a, b)) return false
  const shinglesIn = (passage: Passage) => {
    const set = shingles.get(passage) ?? shinglesOf(passage.text)
    shingles.set(passage, set)
    return set
  }
  const [ofBetter, ofOther] = [shinglesIn(better), shinglesIn(other)]
  let sharedCount = 0
  for (const shingle of ofOther) if (ofBetter.has(shingle)) sharedCount++
  const all = ofBetter.size + ofOther.size - sharedCount
  return sharedCount >= likenessMin * all && numbersOf(a) === numbersOf(b)
}

/** Much faster than comparing words, and false for nearly all texts that do not say the same. */
function haveLikeLetters(a: string, b: string): boolean {
  const surplus = new Int32Array(64)
  const count = (text: string, by: number) => {
    for (let at = 0; at < text.length; at++) {
      const slot = text.charCodeAt(at) & 63
      surplus[slot] = (surplus[slot] ?? 0) + by
    }
  }
  count(a, 1)
  count(b, -1)
  const difference = surplus.reduce((sum, letters) => sum + Math.abs(letters), 0)
  return difference <= 2 * (1 - likenessMin) * Math.max(a.length, b.length)
}

function shinglesOf(text: string): Set<string> {
  const words = foldText(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  return new Set(words.map((_, at) => words.slice(at, at + shingleWords).join(' ')))
}

function numbersOf(text: string): string {
  return (text.match(/\p{N}+/gu) ?? []).join(' ')
}
