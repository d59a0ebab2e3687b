/**
 * Turns texts into vectors of unit length. Implementations never answer partly: either one finite vector
 * of the right dimension for each text, in order, or an EmbeddingError.
 */
export interface Embedder {
  /**
   * Names everything that decides what a vector means: provider, model, revision, prefixes, normalisation
   * and chunker version. Vectors of different spaces are never compared.
   */
  readonly space: string
  /** Length of every vector; null while neither stored vectors nor an answer told it. */
  readonly dimensions: number | null
  /**
   * How much the order of its vectors counts in hybrid search, where the order by words counts 1: less than 1 where
   * vectors know no more than the words.
   */
  readonly rankWeight: number
  /** For people: where texts are sent, e.g. `this process (builtin)` or `https://router.huggingface.co/…`. */
  readonly destination: string
  /** How many texts are worth handing over at once; less while the provider is slow. */
  readonly batchTextsMax: number
  /** How many calls for documents are worth having under way: one where this process does the work itself. */
  readonly batchesAtOnce: number
  embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]>
}

/** Some models want queries and documents marked by different prefixes. */
export type EmbeddingKind = 'query' | 'document'

/** Why texts could not be embedded now. Their chunks stay pending and are tried again. */
export class EmbeddingError extends Error {
  /** Milliseconds the provider asked us to wait (from `Retry-After`), when it did. */
  readonly retryAfterMs: number | undefined
  /** Whether it may be that one of the texts cannot be embedded, and its neighbours could without it. */
  readonly mayBeText: boolean

  constructor(
    message: string,
    options: { retryAfterMs?: number | undefined; mayBeText?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'EmbeddingError'
    this.retryAfterMs = options.retryAfterMs
    this.mayBeText = options.mayBeText ?? false
  }
}
