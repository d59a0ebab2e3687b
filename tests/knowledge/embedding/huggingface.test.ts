import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { EmbeddingError } from '../../../src/knowledge/embedding/embedder.ts'
import { RemoteEmbedder, type RemoteOptions } from '../../../src/knowledge/embedding/remote.ts'
import {
  type FakeEmbeddings,
  fakeTokenVectors,
  fakeVector,
  type Misbehaviour,
  startFakeEmbeddings,
} from '../../support/fake-embeddings.ts'

const token = 'hf_very_secret_token'
const secret = 'the customer said her pin is 4711'
const bge = 'BAAI/bge-small-en-v1.5'
const mini = 'sentence-transformers/all-MiniLM-L6-v2'

let fake: FakeEmbeddings
let outcomes: { durationMs: number; texts: number; error: string | null }[]

beforeEach(async () => {
  fake = await startFakeEmbeddings()
  outcomes = []
})
afterEach(() => fake.stop())

function embedderWith(options: Partial<RemoteOptions> = {}) {
  const observe = (outcome: (typeof outcomes)[number]) => void outcomes.push(outcome)
  return new RemoteEmbedder({
    format: 'huggingface',
    model: mini,
    endpoint: fake.url,
    token,
    retryDelayMsMin: 5,
    observe,
    ...options,
  })
}

function never(): AbortSignal {
  return new AbortController().signal
}

async function failureOf(promise: Promise<unknown>): Promise<EmbeddingError> {
  const error = await promise.then(
    (value) => {
      throw new Error(`It should have failed, but gave ${JSON.stringify(value).slice(0, 100)}`)
    },
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(EmbeddingError)
  const everything = inspectAll(error)
  expect(everything).not.toContain(token)
  expect(everything).not.toContain('4711')
  return error as EmbeddingError
}

/** Whatever a logger could find: message, stack, own properties, causes. */
function inspectAll(error: unknown): string {
  let text = ''
  for (let at = error; at instanceof Error; at = at.cause)
    text += `${at.message}\n${at.stack}\n${JSON.stringify(at, Object.getOwnPropertyNames(at))}\n${Bun.inspect(at)}\n`
  return text
}

function expectNear(vector: Float32Array | undefined, expected: number[]): void {
  const norm = Math.sqrt(expected.reduce((squares, value) => squares + value * value, 0))
  expect(vector?.length).toBe(expected.length)
  let off = 0
  for (const [index, value] of expected.entries())
    off = Math.max(off, Math.abs((vector?.[index] ?? 9) - value / norm))
  expect(off).toBeLessThan(1e-6)
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1)
}

function meanOf(tokens: number[][]): number[] {
  return (tokens[0] ?? []).map(
    (_, index) => tokens.reduce((sum, one) => sum + (one[index] ?? 0), 0) / tokens.length,
  )
}

describe('what is sent', () => {
  test('an endpoint gets the texts at its own path, with token, truncate and normalize', async () => {
    await embedderWith().embed(['one', 'two'], 'document', never())
    const [request] = fake.requests
    expect(request?.method).toBe('POST')
    expect(request?.path).toBe('/')
    expect(request?.headers.authorization).toBe(`Bearer ${token}`)
    expect(request?.body).toEqual({ inputs: ['one', 'two'], normalize: true, truncate: true })
  })

  test('the hosted service gets them at the path of hf-inference, and the hub is not asked', async () => {
    const embedder = embedderWith({ model: bge, endpoint: null, fetch: fake.fetch })
    await embedder.embed(['one'], 'document', never())
    expect(fake.requests.map(({ path }) => path)).toEqual([
      `/hf-inference/models/${bge}/pipeline/feature-extraction`,
    ])
    expect(embedder.destination).toStartWith('https://router.huggingface.co/')
  })

  test('without a token there is no Authorization header', async () => {
    await embedderWith({ token: null }).embed(['one'], 'document', never())
    expect(fake.requests[0]?.headers.authorization).toBeUndefined()
  })

  test.each([
    [bge, 'Represent this sentence for searching relevant passages: a', 'a'],
    ['BAAI/bge-large-en', 'Represent this sentence for searching relevant passages: a', 'a'],
    ['BAAI/bge-m3', 'a', 'a'],
    ['intfloat/multilingual-e5-large', 'query: a', 'passage: a'],
    ['intfloat/e5-base-v2', 'query: a', 'passage: a'],
    [mini, 'a', 'a'],
    ['someone/unheard-of', 'a', 'a'],
  ])('%s gets the prefixes of its family', async (model, query, document) => {
    const embedder = embedderWith({ model })
    await embedder.embed(['a'], 'query', never())
    await embedder.embed(['a'], 'document', never())
    expect(fake.requests.map(({ texts }) => texts)).toEqual([[query], [document]])
  })

  test('70 texts go in batches of 8 at first, of 32 once answers were quick, and come back in order', async () => {
    const texts = Array.from({ length: 70 }, (_, index) => `text ${index}`)
    const embedder = embedderWith()
    const batchesOf = async () => {
      const before = fake.requests.length
      const vectors = await embedder.embed(texts, 'document', never())
      for (const [index, text] of texts.entries()) expectNear(vectors[index], fakeVector(text))
      return fake.requests.slice(before).map((request) => request.texts.length)
    }
    expect((await batchesOf()).sort()).toEqual([6, 8, 8, 8, 8, 8, 8, 8, 8])
    await batchesOf()
    expect((await batchesOf()).sort()).toEqual([32, 32, 6])
  })

  test('no text, no request', async () => {
    expect(await embedderWith().embed([], 'document', never())).toEqual([])
    expect(fake.requests).toEqual([])
  })

  test('an empty text and a lone surrogate are sent as something every server takes', async () => {
    await embedderWith().embed(['', 'a\ud800b'], 'document', never())
    expect(fake.requests[0]?.texts).toEqual([' ', 'a\ufffdb'])
  })

  test('a text beyond 512 tokens is cut, one of 1,600 characters of prose is not', async () => {
    const prose = 'The quick brown fox jumps over the lazy dog, as it always does in such tests. '
      .repeat(21)
      .slice(0, 1_600)
    const digits = '1234567890'.repeat(160)
    await embedderWith({ model: bge }).embed([prose, digits, '漢'.repeat(2_000)], 'document', never())
    const lengths = fake.requests[0]?.texts.map((text) => text.length)
    expect(lengths).toEqual([1_600, 510, 510])
  })

  test('at most `concurrency` requests for documents run at once, and a query does not wait for them', async () => {
    const embedder = embedderWith({ concurrency: 2 })
    fake.always({ delayMs: 300 })
    const texts = Array.from({ length: 32 * 4 }, (_, index) => `text ${index}`)
    const documents = embedder.embed(texts, 'document', never())
    await until(() => fake.atOnce.now === 2)
    await embedder.embed(['a question'], 'query', never())
    expect(fake.requests.findIndex((request) => request.texts[0] === 'a question')).toBe(2)
    await documents
    expect(fake.atOnce.max).toBe(3)
  })

  test('a redirect is not followed', async () => {
    fake.next({ status: 307, headers: { location: '/embed' }, body: {} })
    expect((await failureOf(embedderWith().embed([secret], 'document', never()))).message).toContain(
      'redirects',
    )
    expect(fake.requests).toHaveLength(1)
  })
})

describe('what is accepted', () => {
  const texts = ['one', 'two words', 'three more words']

  test('pooled vectors, brought to unit length', async () => {
    fake.next({ body: texts.map((text) => fakeVector(text).map((value) => value * 7)) })
    const vectors = await embedderWith().embed(texts, 'document', never())
    for (const [index, text] of texts.entries()) expectNear(vectors[index], fakeVector(text))
  })

  test('the bare vector of a single text', async () => {
    fake.next({ shape: 'single' })
    const [vector] = await embedderWith().embed(['one'], 'document', never())
    expectNear(vector, fakeVector('one'))
  })

  test('token vectors: their mean, for models that are made so', async () => {
    fake.next({ shape: 'tokens' })
    const vectors = await embedderWith().embed(texts, 'document', never())
    for (const [index, text] of texts.entries()) expectNear(vectors[index], meanOf(fakeTokenVectors(text)))
  })

  test('token vectors: the first, for bge', async () => {
    fake.next({ shape: 'padded' })
    const vectors = await embedderWith({ model: bge }).embed(texts, 'document', never())
    for (const [index, text] of texts.entries()) expectNear(vectors[index], fakeTokenVectors(text)[0] ?? [])
  })

  test('token vectors that may be padded are asked for one by one instead of averaged', async () => {
    fake.always({ shape: 'padded' })
    const vectors = await embedderWith().embed(texts, 'document', never())
    for (const [index, text] of texts.entries()) expectNear(vectors[index], meanOf(fakeTokenVectors(text)))
  })

  test('a server that takes four texts at a time gets four at a time', async () => {
    const small = await startFakeEmbeddings({ batchTextsMax: 4 })
    const many = Array.from({ length: 32 }, (_, index) => `text ${index}`)
    const embedder = embedderWith({ endpoint: small.url })
    const vectors = await embedder.embed(many, 'document', never())
    for (const [index, text] of many.entries()) expectNear(vectors[index], fakeVector(text))
    // From then on it is not asked for more.
    const before = small.requests.length
    for (let n = 0; n < 5; n++) await embedder.embed(many, 'document', never())
    expect(small.requests.slice(before).map(({ texts }) => texts.length)).toEqual(Array(40).fill(4))
    await small.stop()
  })

  test('a text that is too long, however few are sent with it, does not make later requests smaller', async () => {
    const embedder = embedderWith()
    const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`)
    // With the whole batch, with its half, with its quarter, and alone.
    fake.next({ status: 413 }, { status: 413 }, { status: 413 }, { status: 413 })
    const error = await failureOf(embedder.embed(texts, 'document', never()))
    expect(error.message).toContain('fewer or shorter texts')
    expect(embedder.batchTextsMax).toBe(8)
  })

  test('a server that answers several requests as fast as one gets more at once, up to eight; others get two', async () => {
    const found = async (misbehaviour: Misbehaviour) => {
      const embedder = embedderWith()
      const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`)
      const batch = () => embedder.embed(texts, 'document', never())
      fake.always(misbehaviour)
      for (let n = 0; n < 8; n++) await Promise.all(Array.from({ length: embedder.batchesAtOnce }, batch))
      return embedder.batchesAtOnce
    }
    // Long against the moments that a busy machine adds.
    expect(await found({ delayMs: 600 })).toBeGreaterThan(3)
    expect(await found({ msPerText: 20 })).toBeLessThanOrEqual(3)
  })
})

describe('what is refused', () => {
  const refused: [string, Misbehaviour][] = [
    ['one vector too few', { extra: -1 }],
    ['one vector too many', { extra: 1 }],
    ['no vectors', { body: [] }],
    ['a bare vector for two texts', { shape: 'single' }],
    ['vectors of another dimension', { dimensions: 383 }],
    ['one vector shorter than the others', { body: [fakeVector('a'), fakeVector('b').slice(1)] }],
    ['NaN, which is not JSON', { entry: 'NaN' }],
    ['null for NaN', { entry: 'null' }],
    ['a number beyond all numbers', { entry: '1e999' }],
    ['numbers whose length is beyond all numbers', { body: [fakeVector('a'), new Array(384).fill(1e300)] }],
    ['a string for a number', { entry: '"0.5"' }],
    ['a boolean for a number', { entry: 'true' }],
    ['a vector of zeros', { zero: true }],
    ['token vectors of different dimensions', { body: [[[1, 2], [1]], [[1, 2]]] }],
    ['no token vectors', { body: [[], []] }],
    ['vectors five deep', { body: [[[[[1]]]], [[[[1]]]]] }],
    ['an object', { body: { data: [{ embedding: [1, 2] }] } }],
    ['a number', { body: 7 }],
    ['null', { body: 'null' }],
    ['nothing', { body: '' }],
    ['HTML', { html: true }],
    [
      'HTML that says it is JSON',
      { body: '<!doctype html>', headers: { 'content-type': 'application/json' } },
    ],
    [
      'vectors that say they are text',
      { body: [fakeVector('a')], headers: { 'content-type': 'text/plain' } },
    ],
    ['half an answer', { cut: 'middle' }],
  ]

  test.each(refused)('%s', async (_, misbehaviour) => {
    fake.always(misbehaviour)
    await failureOf(embedderWith({ dimensions: 384 }).embed([secret, 'two'], 'document', never()))
    expect(outcomes.every(({ error }) => error !== null)).toBe(true)
  })

  test('the first answer decides the dimension, and no later answer may have another', async () => {
    const embedder = embedderWith()
    expect(embedder.dimensions).toBeNull()
    fake.next({ dimensions: 100, extra: 1 })
    await failureOf(embedder.embed(['a'], 'document', never()))
    expect(embedder.dimensions).toBeNull()
    fake.next({ dimensions: 100 }, { dimensions: 101 }, { dimensions: 100 })
    await embedder.embed(['a'], 'document', never())
    expect(embedder.dimensions).toBe(100)
    expect((await failureOf(embedder.embed(['a'], 'document', never()))).message).toContain(
      '101 instead of 100',
    )
    await embedder.embed(['a'], 'document', never())
  })

  test('one good batch does not save a call with a bad one', async () => {
    fake.next(null, { entry: 'null' })
    const texts = Array.from({ length: 16 }, (_, index) => `text ${index}`)
    await failureOf(embedderWith({ concurrency: 1 }).embed(texts, 'document', never()))
  })
})

describe('errors', () => {
  test.each([[500], [502], [503], [504], [424], [429]])(
    '%d twice and then an answer is an answer',
    async (status) => {
      fake.next({ status }, { status })
      const [vector] = await embedderWith().embed(['one'], 'document', never())
      expectNear(vector, fakeVector('one'))
      expect(outcomes.map(({ error }) => error === null)).toEqual([false, false, true])
    },
  )

  test.each([['before' as const], ['middle' as const]])(
    'a connection cut %s the answer is tried again',
    async (cut) => {
      fake.next({ cut }, { cut })
      const [vector] = await embedderWith().embed(['one'], 'document', never())
      expectNear(vector, fakeVector('one'))
    },
  )

  test('three failures are one error, without the texts that the server repeats', async () => {
    fake.always({ status: 500, body: { error: secret } })
    const error = await failureOf(embedderWith().embed([secret], 'document', never()))
    expect(error.message).toBe('The embedding provider failed (500)')
    expect(fake.requests).toHaveLength(3)
    expect(JSON.stringify(outcomes)).not.toContain('4711')
  })

  test.each([
    [400, true],
    [401, false],
    [404, false],
    [408, false],
    [413, true],
    [422, true],
    [424, true],
    [429, false],
    [500, true],
    [502, false],
    [503, false],
    [504, false],
  ])('after %d, that a text of the batch is the reason may be %p', async (status, mayBeText) => {
    fake.always({ status })
    const error = await failureOf(embedderWith().embed(['one', 'two'], 'document', never()))
    expect(error.mayBeText).toBe(mayBeText)
  })

  test.each([[400], [401], [403], [404], [413], [422]])('%d is not tried again', async (status) => {
    fake.always({ status })
    const error = await failureOf(embedderWith().embed([secret], 'document', never()))
    expect(error.message).toContain(String(status))
    expect(error.retryAfterMs).toBeUndefined()
    expect(fake.requests).toHaveLength(1)
  })

  test('a refused token is not told', async () => {
    const strict = await startFakeEmbeddings({ token: 'hf_other' })
    const error = await failureOf(embedderWith({ endpoint: strict.url }).embed([secret], 'document', never()))
    expect(error.message).toContain('refused the token')
    await strict.stop()
  })

  test('nobody listening is an error that says so', async () => {
    const gone = await startFakeEmbeddings()
    await gone.stop()
    const error = await failureOf(embedderWith({ endpoint: gone.url }).embed([secret], 'document', never()))
    expect(error.message).toContain('cannot be reached')
  })

  test('a short Retry-After is waited for', async () => {
    fake.next({ status: 429, headers: { 'retry-after': '1' } })
    const [vector] = await embedderWith().embed(['one'], 'document', never())
    expectNear(vector, fakeVector('one'))
    const [first, second] = fake.requests.map(({ receivedAtMs }) => receivedAtMs)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test.each([
    ['in seconds', () => '30', 30_000],
    ['as a date', () => new Date(Date.now() + 30_000).toUTCString(), 30_000],
  ])(
    'a long Retry-After %s is the caller’s to schedule, and nothing is sent meanwhile',
    async (_, header, wait) => {
      const embedder = embedderWith()
      fake.next({ status: 429, headers: { 'retry-after': header() } })
      const error = await failureOf(embedder.embed([secret], 'document', never()))
      expect(error.retryAfterMs).toBeGreaterThan(wait - 2_000)
      expect(error.retryAfterMs).toBeLessThanOrEqual(wait)
      const query = await failureOf(embedder.embed([secret], 'query', never()))
      expect(query.retryAfterMs).toBeGreaterThan(wait - 4_000)
      expect(fake.requests).toHaveLength(1)
    },
  )

  test.each([['soon'], ['-5'], ['Wed, 21 Oct 2015 07:28:00 GMT'], ['']])(
    'a Retry-After of %p does no harm',
    async (header) => {
      fake.next({ status: 429, headers: { 'retry-after': header } })
      await embedderWith().embed(['one'], 'document', never())
      expect(fake.requests).toHaveLength(2)
    },
  )

  test('a model that is being loaded says how long', async () => {
    fake.next({ status: 503, body: { error: 'Model is currently loading', estimated_time: 20.5 } })
    const error = await failureOf(embedderWith().embed(['one'], 'document', never()))
    expect(error.retryAfterMs).toBe(20_500)
    expect(fake.requests).toHaveLength(1)
  })

  test('an error that says it is JSON and is not, is still its status', async () => {
    fake.always({ status: 400, body: '<html>', headers: { 'content-type': 'application/json' } })
    expect((await failureOf(embedderWith().embed(['a'], 'document', never()))).message).toContain('400')
  })
})

describe('time', () => {
  test('a request that takes longer than the limit is an error', async () => {
    fake.always({ delayMs: 5_000 })
    const error = await failureOf(embedderWith({ timeoutMs: 40 }).embed([secret], 'document', never()))
    expect(error.message).toContain('40 ms')
  })

  test('an answer that stops half way is an error, too', async () => {
    fake.always({ cut: 'stall' })
    const error = await failureOf(embedderWith({ timeoutMs: 100 }).embed([secret], 'document', never()))
    expect(error.message).toContain('in time')
  })

  test('a slow provider is sent fewer texts at a time, and more again when it is quick', async () => {
    const embedder = embedderWith({ timeoutMs: 1_000 })
    const texts = Array.from({ length: 32 }, (_, n) => `text ${n}`)
    fake.always({ msPerText: 50 })
    const vectors = await embedder.embed(texts, 'document', never())
    for (const [n, text] of texts.entries()) expectNear(vectors[n], fakeVector(text))
    const size = embedder.batchTextsMax
    expect(size).toBeLessThanOrEqual(16)

    const before = fake.requests.length
    await embedder.embed(texts.slice(0, size), 'document', never())
    expect(fake.requests[before]?.texts).toHaveLength(size)

    fake.always(null)
    for (let count = 0; embedder.batchTextsMax < 32 && count < 100; count++)
      await embedder.embed(texts, 'document', never())
    expect(embedder.batchTextsMax).toBe(32)
  })

  test('a caller that gives up is answered at once, whatever is under way', async () => {
    fake.always({ delayMs: 5_000 })
    const embedder = embedderWith({ concurrency: 1 })
    const controller = new AbortController()
    const running = embedder.embed([secret], 'document', controller.signal)
    const waiting = embedder.embed([secret], 'document', controller.signal)
    await until(() => fake.requests.length === 1)
    controller.abort()
    for (const promise of [running, waiting])
      expect((await failureOf(promise)).message).toBe('Embedding was cancelled')
    expect(fake.requests).toHaveLength(1)
  })

  test('a signal that is aborted already sends nothing', async () => {
    await failureOf(embedderWith().embed([secret], 'query', AbortSignal.abort()))
    expect(fake.requests).toHaveLength(0)
  })

  test('a caller that gives up between two tries does not wait for the second', async () => {
    fake.always({ status: 429, headers: { 'retry-after': '2' } })
    const error = await failureOf(embedderWith().embed([secret], 'query', AbortSignal.timeout(30)))
    expect(error).toBeInstanceOf(EmbeddingError)
    expect(fake.requests).toHaveLength(1)
  })
})

describe('circuit', () => {
  test('opens after failures in a row, tries once after the rest, and closes when that works', async () => {
    const embedder = embedderWith({ restMs: 500 })
    fake.always({ status: 500 })
    await failureOf(embedder.embed([secret], 'document', never()))
    await failureOf(embedder.embed([secret], 'document', never()))
    expect(fake.requests.length).toBe(5)
    const error = await failureOf(embedder.embed([secret], 'query', never()))
    expect(error.retryAfterMs).toBeGreaterThan(0)
    expect(fake.requests.length).toBe(5)
    await Bun.sleep(520)
    fake.always(null)
    await embedder.embed(['one'], 'query', never())
    await embedder.embed(['one'], 'query', never())
    expect(fake.requests.length).toBe(7)
  })

  test('does not open because callers give up or texts are refused', async () => {
    const embedder = embedderWith()
    fake.always({ status: 422 })
    for (let count = 0; count < 8; count++) await failureOf(embedder.embed(['one'], 'query', never()))
    fake.always({ delayMs: 200 })
    for (let count = 0; count < 8; count++)
      await failureOf(embedder.embed(['one'], 'query', AbortSignal.timeout(5)))
    fake.always(null)
    await embedder.embed(['one'], 'query', never())
  })

  test('a trial that the caller gives up does not close it', async () => {
    const embedder = embedderWith({ restMs: 500 })
    fake.always({ status: 500 })
    await failureOf(embedder.embed(['one'], 'document', never()))
    await failureOf(embedder.embed(['one'], 'document', never()))
    await Bun.sleep(520)
    fake.always({ delayMs: 500 })
    await failureOf(embedder.embed(['one'], 'query', AbortSignal.timeout(30)))
    const before = fake.requests.length
    await failureOf(embedder.embed(['one'], 'query', never()))
    expect(fake.requests.length).toBe(before)
  })

  test('while one request is the trial, the others are answered at once', async () => {
    const embedder = embedderWith({ restMs: 20 })
    fake.always({ status: 500 })
    await failureOf(embedder.embed(['one'], 'document', never()))
    await failureOf(embedder.embed(['one'], 'document', never()))
    await Bun.sleep(30)
    fake.always({ delayMs: 300 })
    const before = fake.requests.length
    const trial = embedder.embed(['one'], 'query', never())
    await until(() => fake.requests.length > before)
    expect((await failureOf(embedder.embed(['two'], 'query', never()))).retryAfterMs).toBeGreaterThan(0)
    await trial
  })
})

describe('start', () => {
  test('the space names model, prefixes, pooling and chunker, but neither endpoint nor token', () => {
    const hosted = embedderWith({ model: bge, endpoint: null })
    expect(hosted.space).toBe(`huggingface:${bge}:main/bge-en/cls/normalised:chunks-v4`)
    expect(embedderWith({ model: bge }).space).toBe(hosted.space)
  })

  test('the destination is told without user, password and query', () => {
    const endpoint = 'https://user:password@vectors.example.org/embed?key=secret'
    expect(embedderWith({ endpoint }).destination).toBe('https://vectors.example.org/embed')
  })

  test.each([['https://huggingface.co/x'], ['../../x'], ['a/b/c'], [''], ['a b'], ['a/..']])(
    'a model id of %p stops the start',
    (model) => {
      expect(() => embedderWith({ model })).toThrow()
    },
  )

  test.each([['nonsense'], ['ftp://x'], ['']])('an endpoint of %p stops the start', (endpoint) => {
    expect(() => embedderWith({ endpoint })).toThrow()
  })
})
