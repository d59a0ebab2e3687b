import { separator, spaced, unspaced } from '../../text/words.ts'
import type { FeatureTable } from './feature-table.ts'

/**
 * Adds the features of about `charsAtOnce` characters of a folded text from `start`, where a word or a separator
 * begins, and answers where to go on.
 */
export function collectFeatures(text: string, start: number, features: FeatureTable): number {
  let at = start
  while (at < text.length && at - start < charsAtOnce) {
    const script = scriptOf(text.charCodeAt(at))
    const runStart = at
    while (at < text.length && scriptOf(text.charCodeAt(at)) === script) at++
    if (script === unspaced) collectBigrams(text, runStart, at, features)
    if (script !== spaced) continue
    for (let from = runStart; from < at; from += wordCharsMax) {
      collectWord(text, from, Math.min(at, from + wordCharsMax), features)
    }
  }
  return at
}

/** Well below a millisecond's work even before the code is compiled. */
const charsAtOnce = 256
/** Longer words, such as encoded data, are taken in pieces. */
const wordCharsMax = 40
const gramCharsMin = 3
const gramCharsMax = 5

// How much a feature of each kind counts. Measured on questions about encyclopaedia passages.
const wordWeight = 0.25
const stemWeight = 0.5
const gramsWeight = 1
const bigramWeight = 1

/**
 * How much a word counts by its length. The shorter a word, the more frequent it is in any language (Zipf's law
 * of abbreviation), so this stands in for the inverse document frequency without a list of stop words.
 */
const lengthWeights = [0, 0.01, 0.06, 0.18, 0.36, 0.63] as const

const kindWord = 0x2f0b4a27
const kindStem = 0x5bd1e995
const kindGram = 0x1b873593
const kindBigram = 0x68e31da4

function collectWord(text: string, start: number, end: number, features: FeatureTable): void {
  const length = end - start
  const weight = hasDigit(text, start, end) ? 1 : (lengthWeights[length] ?? 1)
  const stemEnd = stemEndOf(text, start, end)
  features.add(hashOf(text, start, end, kindWord), wordWeight * weight)
  features.add(hashOf(text, start, stemEnd, kindStem), stemWeight * weight)
  if (length <= gramCharsMin) return
  // The n-grams of `_word_`, of which there are this many; together they count as one feature.
  const gramsCount = 3 * (length + 2) - 9
  const gramWeight = (gramsWeight * weight) / Math.sqrt(gramsCount)
  for (let from = start - 1; from + gramCharsMin <= end + 1; from++) {
    let hash = kindGram
    for (let chars = 1; chars <= gramCharsMax && from + chars <= end + 1; chars++) {
      const offset = from + chars - 1
      hash = hashStep(hash, offset < start || offset >= end ? UNDERSCORE : text.charCodeAt(offset))
      if (chars >= gramCharsMin) features.add(hash, gramWeight)
    }
  }
}

/** Single characters and pairs, for scripts that do not mark where a word ends. */
function collectBigrams(text: string, start: number, end: number, features: FeatureTable): void {
  for (let at = start; at < end; at++) {
    features.add(hashOf(text, at, at + 1, kindBigram), bigramWeight / 4)
    if (at + 1 < end) features.add(hashOf(text, at, at + 2, kindBigram), bigramWeight)
  }
}

const suffixes = [
  'ations',
  'ation',
  'ments',
  'ment',
  'ions',
  'ion',
  'ing',
  'ies',
  'ers',
  'es',
  'ed',
  'er',
  'ly',
  's',
  'y',
  'e',
]
const stemCharsMin = 3

/** Where the word ends without the commonest English endings. Rough on purpose: the n-grams do the rest. */
function stemEndOf(text: string, start: number, end: number): number {
  for (const suffix of suffixes) {
    if (end - start - suffix.length >= stemCharsMin && text.startsWith(suffix, end - suffix.length)) {
      return end - suffix.length
    }
  }
  return end
}

function hashOf(text: string, start: number, end: number, kind: number): number {
  let hash = kind
  for (let at = start; at < end; at++) hash = hashStep(hash, text.charCodeAt(at))
  return hash
}

/** FNV-1a over code units. */
function hashStep(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

const UNDERSCORE = 0x5f
function hasDigit(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) return true
  }
  return false
}

/**
 * Whether a code unit separates words, belongs to one, or to a script that puts no space between them. By ranges,
 * which are the same whatever version of Unicode this process knows; part of every embedding space.
 */
function scriptOf(code: number): number {
  if (code < 0x80) return isAsciiWord(code) ? spaced : separator
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba ? spaced : separator
  if (code < 0x0e00) return code === 0xd7 || code === 0xf7 ? separator : spaced
  // Thai and Lao, Myanmar, Khmer.
  if (code < 0x0f00 || (code >= 0x1000 && code < 0x10a0) || (code >= 0x1780 && code < 0x1800)) return unspaced
  if (code >= 0x2000 && code < 0x2c00) return separator
  if (code < 0x2e00) return spaced
  // Radicals, kana, ideographs; between them CJK punctuation.
  if (code < 0x3040) return code === 0x3005 || (code >= 0x2e80 && code < 0x3000) ? unspaced : separator
  if (code < 0xa000) return unspaced
  if (code < 0xd800) return spaced
  // Surrogates: mostly ideographs and emoji.
  if (code < 0xe000) return unspaced
  if (code >= 0xf900 && code < 0xfb00) return unspaced
  return code >= 0xfe00 ? separator : spaced
}

function isAsciiWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a)
}
