import { setImmediate } from 'node:timers/promises'
import { foldText } from '../../text/words.ts'
import { chunkerVersion } from '../chunking/chunks.ts'
import { type Embedder, EmbeddingError } from './embedder.ts'
import { FeatureTable } from './feature-table.ts'
import { collectFeatures } from './lexical-features.ts'

const dimensions = 384
const batchTextsMax = 32
/** Lexical vectors tell little that the words themselves have not told. */
const rankWeight = 0.07
/** What lies beyond in a text does not count; chunks and queries are far shorter. */
const textCharsMax = 16_000
/** Others get their turn after this time, and the little work that cannot be divided. */
const workSliceMs = 1

interface BuiltinOptions {
  /** Does the same for documents elsewhere, such as on another thread. */
  embedDocuments?: (texts: readonly string[]) => Promise<Float32Array[]>
}

/**
 * An embedder without model, file or network. Its vectors are lexical: texts are near when they share words and
 * parts of words, not when they mean the same. Hashed words, stems and character n-grams, the same on every
 * machine: only integer arithmetic and the operations that IEEE 754 defines to the last bit.
 */
export function createBuiltinEmbedder({ embedDocuments }: BuiltinOptions = {}): Embedder {
  return {
    space: `builtin:lexical-v1:${dimensions}:chunks-v${chunkerVersion}`,
    dimensions,
    rankWeight,
    destination: 'this process (builtin, lexical)',
    batchTextsMax,
    batchesAtOnce: 1,
    embed: async (texts, kind, signal) => {
      throwIfCancelled(signal)
      return kind === 'document' && embedDocuments ? embedDocuments(texts) : embedAll(texts, signal)
    },
  }
}

async function embedAll(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
  // This call's own, because other calls get their turn in the middle of a text.
  const features = new FeatureTable()
  const takeTurns = createTurns(signal)
  const vectors: Float32Array[] = []
  await takeTurns()
  for (const text of texts) {
    const folded = foldText(text.slice(0, textCharsMax))
    features.clear(folded.length)
    for (let at = 0; at < folded.length; ) {
      at = collectFeatures(folded, at, features)
      await takeTurns()
    }
    vectors.push(features.toVector(dimensions))
    await takeTurns()
  }
  return vectors
}

/** To be awaited between pieces of work: lets others run when it is time, throws once the caller has given up. */
function createTurns(signal: AbortSignal): () => Promise<void> | undefined {
  let sliceStart = performance.now()
  const letOthersRun = async () => {
    await setImmediate()
    sliceStart = performance.now()
    throwIfCancelled(signal)
  }
  return () => {
    throwIfCancelled(signal)
    return performance.now() - sliceStart < workSliceMs ? undefined : letOthersRun()
  }
}

function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new EmbeddingError('Embedding was cancelled', { cause: signal.reason })
}
