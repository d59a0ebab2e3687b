import { describe, expect, test } from 'bun:test'
import { type Embedder, EmbeddingError } from '../../../src/knowledge/embedding/embedder.ts'
import { QueryVectors } from '../../../src/knowledge/search/query-vectors.ts'

interface Asked {
  texts: readonly string[]
  kind: string
  signal: AbortSignal
  answer(vectors: Float32Array[]): void
  fail(error: Error): void
}

/** An embedder whose answers the test gives by hand. */
function byHand() {
  const asked: Asked[] = []
  const embedder: Embedder = {
    space: 'by hand',
    dimensions: 2,
    isLexical: false,
    destination: 'the test',
    batchTextsMax: 1,
    batchesAtOnce: 1,
    embed: (texts, kind, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ texts, kind, signal, answer: resolve, fail: reject })
        signal.addEventListener('abort', () => reject(new EmbeddingError('given up')))
      }),
  }
  return { asked, vectors: new QueryVectors(embedder) }
}

const vectorOf = (n: number) => new Float32Array([n, 1])
const failureOf = (promise: Promise<unknown>) => promise.then(() => null).catch((error: Error) => error)

describe('the vector of a query', () => {
  test('is asked for once, as a query, however many want it at the same time', async () => {
    const { asked, vectors } = byHand()
    const wanted = Array.from({ length: 20 }, () => vectors.of(1, 'refund'))
    expect(asked.map(({ texts, kind }) => ({ texts, kind }))).toEqual([{ texts: ['refund'], kind: 'query' }])
    asked[0]?.answer([vectorOf(7)])
    expect(await Promise.all(wanted)).toEqual(wanted.map(() => vectorOf(7)))
  })

  test('is cached: the same query later, composed or decomposed, asks nothing', async () => {
    const { asked, vectors } = byHand()
    const first = vectors.of(1, 'caf\u00e9')
    asked[0]?.answer([vectorOf(3)])
    expect(await first).toEqual(vectorOf(3))
    expect(await vectors.of(1, 'cafe\u0301')).toEqual(vectorOf(3))
    expect(asked.length).toBe(1)
  })

  test('is asked for again by another project, at the same time and later', async () => {
    const { asked, vectors } = byHand()
    const both = [vectors.of(1, 'refund'), vectors.of(2, 'refund')]
    expect(asked.map(({ texts }) => texts)).toEqual([['refund'], ['refund']])
    for (const { answer } of asked) answer([vectorOf(7)])
    await Promise.all(both)
    void failureOf(vectors.of(3, 'refund'))
    // No project can write a query that reads as another's.
    void failureOf(vectors.of(11, '1 refund'))
    void failureOf(vectors.of(1, '11 refund'))
    expect(asked.length).toBe(5)
  })

  test('that arrives after its search was answered is cached for the next', async () => {
    const { asked, vectors } = byHand()
    // The search that wanted it has been answered without.
    void vectors.of(1, 'refund')
    asked[0]?.answer([vectorOf(5)])
    await Bun.sleep(0)
    expect(await vectors.of(1, 'refund')).toEqual(vectorOf(5))
    expect(asked.length).toBe(1)
  })

  test('of another query is another', async () => {
    const { asked, vectors } = byHand()
    const both = [vectors.of(1, 'one'), vectors.of(1, 'two')]
    for (const [n, { answer }] of asked.entries()) answer([vectorOf(n)])
    expect(await Promise.all(both)).toEqual([vectorOf(0), vectorOf(1)])
  })

  test('that fails is a failure for every search that waits, and is asked for again by the next', async () => {
    const { asked, vectors } = byHand()
    const failures = [failureOf(vectors.of(1, 'refund')), failureOf(vectors.of(1, 'refund'))]
    asked[0]?.fail(new EmbeddingError('the provider is down'))
    for (const failure of await Promise.all(failures)) expect(failure?.message).toBe('the provider is down')
    const again = vectors.of(1, 'refund')
    asked[1]?.answer([vectorOf(1)])
    expect(await again).toEqual(vectorOf(1))
  })

  test('that the embedder leaves out is a failure, and is not cached', async () => {
    const { asked, vectors } = byHand()
    const failure = failureOf(vectors.of(1, 'refund'))
    asked[0]?.answer([])
    expect(await failure).toBeInstanceOf(EmbeddingError)
    void failureOf(vectors.of(1, 'refund'))
    expect(asked.length).toBe(2)
  })
})

describe('more queries at once than can be embedded in time', () => {
  test('are refused from the 65th on, until one is done; one that is under way may still be shared', async () => {
    const { asked, vectors } = byHand()
    const wanted = Array.from({ length: 64 }, (_, n) => vectors.of(1, `query ${n}`))
    expect(await failureOf(vectors.of(1, 'one more'))).toBeInstanceOf(EmbeddingError)
    expect(asked.length).toBe(64)
    const shared = vectors.of(1, 'query 63')
    asked[0]?.answer([vectorOf(0)])
    await wanted[0]
    await Bun.sleep(0)
    void failureOf(vectors.of(1, 'one more'))
    expect(asked.length).toBe(65)
    asked[63]?.answer([vectorOf(63)])
    expect(await shared).toEqual(vectorOf(63))
    for (const { fail } of asked) fail(new EmbeddingError('enough'))
    await Promise.allSettled(wanted)
  })

  test('fill a cache of 2,000, which evicts the least recently used', async () => {
    const { asked, vectors } = byHand()
    const ask = async (query: string) => {
      const before = asked.length
      const vector = vectors.of(1, query)
      asked[before]?.answer([vectorOf(1)])
      await vector
      return asked.length > before
    }
    for (let n = 0; n < 2_000; n++) await ask(`query ${n}`)
    expect(await ask('query 0')).toBe(false)
    expect(await ask('query 2000')).toBe(true)
    expect(await ask('query 0')).toBe(false)
    expect(await ask('query 1')).toBe(true)
  })
})

test('closing aborts what is under way', async () => {
  const { asked, vectors } = byHand()
  const failure = failureOf(vectors.of(1, 'refund'))
  vectors.close()
  expect(asked[0]?.signal.aborted).toBe(true)
  expect(await failure).toBeInstanceOf(EmbeddingError)
})
