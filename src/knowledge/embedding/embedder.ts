/**
 * Turns texts into vectors of unit length: one finite vector of the right dimension for each text, in order. If any is
 * missing, throws an EmbeddingError.
 */
export interface Embedder {
  /**
   * Names everything that decides what a vector means: provider, model, revision, prefixes, normalisation
   * and chunker version. Vectors of different spaces are never compared.
   */
  readonly space: string
  /** Length of every vector; null until a stored vector or an answer tells it. */
  readonly dimensions: number | null
  /** Whether its vectors stand for the words of a text alone: they add nothing where keyword search finds enough. */
  readonly isLexical: boolean
  /** For people: where texts are sent, e.g. `this process (builtin)` or `https://router.huggingface.co/…`. */
  readonly destination: string
  /** How many texts to pass in one call; fewer while the provider is slow. */
  readonly batchTextsMax: number
  /** How many calls for documents to make at once; one if this process does the work itself. */
  readonly batchesAtOnce: number
  embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]>
  /** Stops its worker, if it has one. */
  close?(): Promise<void>
}

/** Some models need different prefixes for queries and documents. */
export type EmbeddingKind = 'query' | 'document'

interface EmbeddingErrorOptions {
  /** How long the provider asked us to wait, if it did. */
  retryAfterMs?: number | undefined
  /** Whether one of the texts may be the reason, so that the others could be embedded without it. */
  mayBeText?: boolean
  cause?: unknown
}

/** Why texts could not be embedded now. Their chunks stay pending and are tried again. */
export class EmbeddingError extends Error {
  readonly retryAfterMs: number | undefined
  readonly mayBeText: boolean

  constructor(message: string, { retryAfterMs, mayBeText = false, cause }: EmbeddingErrorOptions = {}) {
    super(message, { cause })
    this.name = 'EmbeddingError'
    this.retryAfterMs = retryAfterMs
    this.mayBeText = mayBeText
  }
}
