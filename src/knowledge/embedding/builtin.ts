import { setImmediate } from 'node:timers/promises'
import { chunkerVersion } from '../chunks'
import { type Embedder, EmbeddingError } from './embedder'

const dimensions = 384
const batchTextsMax = 64
/** What lies beyond in a text does not count; chunks and queries are far shorter. */
const textCharsMax = 16_000
const workSliceMs = 1

/**
 * An embedder without model, file or network. Its vectors are lexical: texts are near when they share words and
 * parts of words, not when they mean the same. Hashed words, stems and character n-grams, the same on every
 * machine: only integer arithmetic and the operations that IEEE 754 defines to the last bit.
 */
export function createBuiltinEmbedder(): Embedder {
  const features = new FeatureTable()
  return {
    space: `builtin:lexical-v1:${dimensions}:chunks-v${chunkerVersion}`,
    dimensions,
    destination: 'this process (builtin, lexical)',
    batchTextsMax,
    async embed(texts, _kind, signal) {
      const vectors: Float32Array[] = []
      let sliceStart = performance.now()
      for (const text of texts) {
        throwIfCancelled(signal)
        vectors.push(embedText(text, features))
        if (performance.now() - sliceStart < workSliceMs) continue
        await setImmediate()
        sliceStart = performance.now()
      }
      throwIfCancelled(signal)
      return vectors
    },
  }
}

function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new EmbeddingError('Embedding was cancelled', { cause: signal.reason })
}

function embedText(text: string, features: FeatureTable): Float32Array {
  const folded = fold(text.slice(0, textCharsMax))
  features.clear(folded.length)
  collectFeatures(folded, features)
  return features.toVector()
}

/** Lower case without compatibility forms and diacritics: `Ｃafé` becomes `cafe`. */
function fold(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase()
  const marks = /[\u0300-\u036f]+/g
  return text.toLowerCase().normalize('NFKD').replace(marks, '').normalize('NFC')
}

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

function collectFeatures(text: string, features: FeatureTable): void {
  let at = 0
  while (at < text.length) {
    const script = scriptOf(text.charCodeAt(at))
    const start = at
    while (at < text.length && scriptOf(text.charCodeAt(at)) === script) at++
    if (script === unspaced) collectBigrams(text, start, at, features)
    if (script !== spaced) continue
    for (let from = start; from < at; from += wordCharsMax) {
      collectWord(text, from, Math.min(at, from + wordCharsMax), features)
    }
  }
}

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

/**
 * The distinct features of one text with their weights. Counts are sublinear: the n-th occurrence of a feature
 * adds 1/n of its weight, which sums up to about 1 + log n.
 */
class FeatureTable {
  private hashes = new Int32Array(0)
  private counts = new Uint16Array(0)
  private totals = new Float64Array(0)
  private readonly used: number[] = []

  /** Makes room for a text of this many characters, each of which begins five features at most. */
  clear(textChars: number): void {
    const slotsMin = 1 << Math.ceil(Math.log2(textChars * 8 + 256))
    if (this.counts.length < slotsMin) {
      this.hashes = new Int32Array(slotsMin)
      this.counts = new Uint16Array(slotsMin)
      this.totals = new Float64Array(slotsMin)
    } else for (const slot of this.used) this.counts[slot] = 0
    this.used.length = 0
  }

  add(hash: number, weight: number): void {
    const mask = this.counts.length - 1
    let slot = finalMix(hash) & mask
    while (this.counts[slot] !== 0 && this.hashes[slot] !== hash) slot = (slot + 1) & mask
    const count = (this.counts[slot] ?? 0) + 1
    if (count === 1) {
      this.hashes[slot] = hash
      this.totals[slot] = 0
      this.used.push(slot)
    }
    this.counts[slot] = count
    this.totals[slot] = (this.totals[slot] ?? 0) + weight / count
  }

  /**
   * Signed feature hashing (Weinberger et al. 2009, https://arxiv.org/abs/0902.2206) with two places a feature,
   * scaled to unit length. A text without features is a vector like any other, so that nothing divides by zero.
   */
  toVector(): Float32Array {
    const sums = new Float64Array(dimensions)
    for (const slot of this.used) {
      const total = this.totals[slot] ?? 0
      const first = finalMix(this.hashes[slot] ?? 0)
      const second = finalMix(first ^ 0x7feb352d)
      addSigned(sums, first, total)
      addSigned(sums, second, total)
    }
    let squares = 0
    for (const sum of sums) squares += sum * sum
    const vector = new Float32Array(dimensions)
    if (squares === 0) vector[0] = 1
    else
      for (let index = 0; index < dimensions; index++) vector[index] = (sums[index] ?? 0) / Math.sqrt(squares)
    return vector
  }
}

function addSigned(sums: Float64Array, hash: number, value: number): void {
  const index = (hash >>> 1) % dimensions
  sums[index] = (sums[index] ?? 0) + ((hash & 1) === 0 ? value : -value)
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

/** The finaliser of MurmurHash3. */
function finalMix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

const UNDERSCORE = 0x5f
const separator = 0
const spaced = 1
const unspaced = 2

/** Whether a code unit separates words, belongs to one, or to a script that puts no space between them. */
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

function hasDigit(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) return true
  }
  return false
}
