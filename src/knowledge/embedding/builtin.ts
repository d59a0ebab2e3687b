import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { foldText, pairsOf, scripts, spaced, stemOf, unspaced } from '../../text/words.ts'
import { chunkerVersion } from '../chunking/chunk.ts'
import { type Embedder, EmbeddingError } from './embedder.ts'

const dimensions = 384
const batchTextsMax = 32
/** The rest of a longer text is ignored. No chunk or query is this long. */
const textCharsMax = 4_096
/** Longer words, such as encoded data, are cut into pieces. */
const wordCharsMax = 40

interface BuiltinOptions {
  /** Embeds documents elsewhere, such as on another thread. */
  embedDocuments?: (texts: readonly string[]) => Promise<Float32Array[]>
}

/**
 * An embedder without a model, files or network. Its vectors are lexical: texts are near each other when they share
 * words and parts of words, not when they mean the same. Machines with one version of Unicode give the same vectors.
 */
export function createBuiltinEmbedder({ embedDocuments }: BuiltinOptions = {}): Embedder {
  const features = new Features()
  return {
    space: `builtin:lexical-v2:${dimensions}:chunks-v${chunkerVersion}`,
    dimensions,
    isLexical: true,
    destination: 'this process (builtin, lexical)',
    batchTextsMax,
    batchesAtOnce: 1,
    embed: async (texts, kind, signal) => {
      if (kind === 'document' && embedDocuments && !signal.aborted) return embedDocuments(texts)
      const vectors: Float32Array[] = []
      for (const text of texts) {
        // Other work runs between texts, and the caller can cancel.
        if (vectors.length > 0) await setImmediate()
        if (signal.aborted) throw new EmbeddingError('Embedding was cancelled', { cause: signal.reason })
        vectors.push(features.vectorOf(text))
      }
      return vectors
    },
  }
}

/** A kind of feature: how much it counts, and the seed of its hashes. Weights are tuned by `bench:retrieval`. */
const wholeWord = { weight: 0.25, seed: 0x2f0b4a27 }
const stem = { weight: 0.5, seed: 0x5bd1e995 }
const grams = { weight: 1.3, seed: 0x1b873593 }
const pair = { weight: 1, seed: 0x68e31da4 }
const character = { weight: 0.25, seed: 0x68e31da4 }

/**
 * How much a word counts by its length; longer words count 1. Short words are the frequent ones in any language (Zipf's
 * law of abbreviation), so this replaces inverse document frequency without a list of stop words.
 */
const lengthWeights = [0, 0.01, 0.06, 0.18, 0.36, 0.63]
const gramCharsMin = 3
const gramCharsMax = 6
/** Enough for the features of one text to rarely share one. */
const slots = 1 << 16
const cachedStemsMax = 10_000

/**
 * Signed feature hashing (Weinberger et al. 2009, https://arxiv.org/abs/0902.2206) with two places for each feature.
 * Counts are sublinear: the n-th occurrence adds 1/n of a feature's weight, in total about 1 + log n.
 */
class Features {
  readonly #counts = new Uint16Array(slots)
  readonly #sums = new Float64Array(dimensions)
  readonly #stems = new LRUCache<string, string>({ max: cachedStemsMax, memoMethod: stemOf })

  /** A vector of unit length, also for a text without any word. */
  vectorOf(text: string): Float32Array {
    this.#counts.fill(0)
    this.#sums.fill(0)
    const foldedText = foldText(text.slice(0, textCharsMax)).slice(0, textCharsMax)
    for (let start = 0, end = 0; start < foldedText.length; start = end) {
      const script = scripts[foldedText.charCodeAt(start)]
      while (end < foldedText.length && scripts[foldedText.charCodeAt(end)] === script) end++
      if (script === unspaced) this.#addRun(foldedText.slice(start, end))
      if (script !== spaced) continue
      for (let at = start; at < end; at += wordCharsMax) {
        this.#addWord(foldedText.slice(at, Math.min(end, at + wordCharsMax)))
      }
    }
    const norm = Math.sqrt(this.#sums.reduce((squares, sum) => squares + sum * sum, 0))
    if (norm === 0) this.#sums[0] = 1
    return Float32Array.from(this.#sums, (sum) => sum / (norm || 1))
  }

  /** The word, its stem, and the character n-grams of `_word_`, which count as one feature together. */
  #addWord(word: string): void {
    const share = /\d/.test(word) ? 1 : (lengthWeights[word.length] ?? 1)
    this.#add(hashOf(word, wholeWord.seed), share * wholeWord.weight)
    this.#add(hashOf(this.#stems.memo(word), stem.seed), share * stem.weight)
    if (word.length <= gramCharsMin) return
    const padded = `_${word}_`
    const gramWeight = (share * grams.weight) / Math.sqrt(4 * padded.length - 14)
    for (let start = 0; start + gramCharsMin <= padded.length; start++) {
      let hash = grams.seed
      const end = Math.min(padded.length, start + gramCharsMax)
      for (let at = start; at < end; at++) {
        hash = nextHash(hash, padded.charCodeAt(at))
        if (at - start >= gramCharsMin - 1) this.#add(hash, gramWeight)
      }
    }
  }

  /** The characters and pairs of a script without spaces between words. */
  #addRun(run: string): void {
    for (const one of run) this.#add(hashOf(one, character.seed), character.weight)
    for (const two of pairsOf(run)) this.#add(hashOf(two, pair.seed), pair.weight)
  }

  #add(hash: number, weight: number): void {
    const first = finalMix(hash)
    const slot = first & (slots - 1)
    const count = (this.#counts[slot] ?? 0) + 1
    this.#counts[slot] = count
    this.#addSigned(first, weight / count)
    this.#addSigned(finalMix(first ^ 0x7feb352d), weight / count)
  }

  #addSigned(hash: number, value: number): void {
    const index = (hash >>> 1) % dimensions
    this.#sums[index] = (this.#sums[index] ?? 0) + ((hash & 1) === 0 ? value : -value)
  }
}

function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = nextHash(hash, text.charCodeAt(at))
  return hash
}

/** The finaliser of MurmurHash3. */
function finalMix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** One step of FNV-1a over UTF-16 code units. */
function nextHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}
