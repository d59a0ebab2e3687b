import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { EmbeddingError } from '../../../src/knowledge/embedding/embedder.ts'
import { RemoteEmbedder, type RemoteOptions } from '../../../src/knowledge/embedding/remote.ts'
import {
  type FakeEmbeddings,
  fakeVector,
  type Misbehaviour,
  startFakeEmbeddings,
} from '../../support/fake-embeddings.ts'

// What both formats share, such as the circuit, time limits and batches, is tested in huggingface.test.ts.

const token = 'sk-very-secret-token'
const secret = 'the customer said her pin is 4711'

let fake: FakeEmbeddings

beforeEach(async () => {
  fake = await startFakeEmbeddings({ token })
})
afterEach(() => fake.stop())

function embedderWith(options: Partial<RemoteOptions> = {}) {
  return new RemoteEmbedder({
    format: 'openai',
    model: 'text-embedding-3-small',
    endpoint: `${fake.url}/v1`,
    token,
    retryDelayMsMin: 5,
    ...options,
  })
}

function never(): AbortSignal {
  return new AbortController().signal
}

async function failureOf(promise: Promise<unknown>): Promise<EmbeddingError> {
  const error = await promise.then(
    () => new Error('It should have failed'),
    (error: unknown) => error,
  )
  if (!(error instanceof EmbeddingError)) throw error
  expect(Bun.inspect(error)).not.toContain(token)
  expect(Bun.inspect(error)).not.toContain('4711')
  return error
}

function expectNear(vector: Float32Array | undefined, text: string): void {
  const expected = Float32Array.from(fakeVector(text))
  expect(vector?.length).toBe(expected.length)
  for (const [index, value] of expected.entries()) expect(vector?.[index]).toBeCloseTo(value, 5)
}

describe('what is sent', () => {
  test('model and input alone, with the token: no encoding, no dimensions', async () => {
    await embedderWith().embed(['one', 'two'], 'document', never())
    const [request] = fake.requests
    expect(request).toMatchObject({ method: 'POST', path: '/v1/embeddings' })
    expect(request?.headers.authorization).toBe(`Bearer ${token}`)
    expect(request?.headers['content-type']).toBe('application/json')
    expect(request?.body).toEqual({ model: 'text-embedding-3-small', input: ['one', 'two'] })
  })

  test('without a token there is no Authorization header', async () => {
    await failureOf(embedderWith({ token: null }).embed(['one'], 'document', never()))
    expect(fake.requests[0]?.headers.authorization).toBeUndefined()
  })

  test.each([
    ['/v1', '/v1/embeddings'],
    ['/v1/', '/v1/embeddings'],
    ['/openai/v1//', '/openai/v1/embeddings'],
    ['', '/v1/embeddings'],
    ['/v1beta/openai', '/v1beta/openai/embeddings'],
    ['/v1/embeddings', '/v1/embeddings'],
    ['/v1?api-version=2', '/v1/embeddings?api-version=2'],
  ])('an endpoint that ends in "%s" is asked at %s', async (path, asked) => {
    const embedder = embedderWith({ endpoint: fake.url + path, token: null })
    await failureOf(embedder.embed(['one'], 'document', never()))
    expect(fake.requests.map(({ path }) => path)).toEqual([asked])
    expect(embedder.destination).toBe(fake.url + asked.replace(/\?.*/, ''))
  })

  test.each([
    ['nomic-embed-text:latest', 'search_query: a', 'search_document: a'],
    ['text-embedding-nomic-embed-text-v1.5', 'search_query: a', 'search_document: a'],
    ['BAAI/bge-large-en-v1.5', 'Represent this sentence for searching relevant passages: a', 'a'],
    [
      'hf.co/CompendiumLabs/bge-small-en-v1.5-gguf:q8_0',
      'Represent this sentence for searching relevant passages: a',
      'a',
    ],
    ['mxbai-embed-large', 'Represent this sentence for searching relevant passages: a', 'a'],
    ['snowflake-arctic-embed2:568m', 'query: a', 'a'],
    ['some/where/else/multilingual-e5-large', 'query: a', 'passage: a'],
    ['bge-m3', 'a', 'a'],
    ['text-embedding-3-small', 'a', 'a'],
  ])('%s gets the prefixes of its family', async (model, query, document) => {
    const embedder = embedderWith({ model })
    await embedder.embed(['a'], 'query', never())
    await embedder.embed(['a'], 'document', never())
    expect(fake.requests.map(({ texts }) => texts)).toEqual([[query], [document]])
  })

  test('the space names the model, its prefixes and the format, but neither endpoint nor token', () => {
    const { space } = embedderWith({ model: 'nomic-embed-text:latest' })
    expect(space).toBe('openai:nomic-embed-text:latest:nomic/normalised:chunks-v4')
    expect(embedderWith({ format: 'huggingface', model: 'nomic-embed-text' }).space).not.toBe(space)
  })
})

describe('what is accepted', () => {
  test('70 texts in batches of 8 at first, each vector with its text', async () => {
    const texts = Array.from({ length: 70 }, (_, index) => `text ${index}`)
    const vectors = await embedderWith().embed(texts, 'document', never())
    for (const [index, text] of texts.entries()) expectNear(vectors[index], text)
    expect(fake.requests.map(({ texts }) => texts.length).sort()).toEqual([6, 8, 8, 8, 8, 8, 8, 8, 8])
  })

  test('vectors in another order than the texts, by their index', async () => {
    fake.next({ indexes: [2, 0, 1] })
    const vectors = await embedderWith().embed(['one', 'two', 'three'], 'document', never())
    for (const [index, text] of ['two', 'three', 'one'].entries()) expectNear(vectors[index], text)
  })

  test('vectors without an index, in the order of the texts', async () => {
    fake.next({ indexes: [] })
    const vectors = await embedderWith().embed(['one', 'two'], 'document', never())
    for (const [index, text] of ['one', 'two'].entries()) expectNear(vectors[index], text)
  })

  test.each([
    ['413 of text-embeddings-inference', 413, {}],
    [
      'OpenAI',
      400,
      {
        error: { message: "This model's maximum context length is 8192 tokens, however you requested 9000" },
      },
    ],
    ['vLLM', 400, { object: 'error', message: 'The input is too long', type: 'BadRequestError' }],
    ['Ollama', 400, { error: 'the input length exceeds the context length' }],
    [
      'llama.cpp',
      500,
      { error: { code: 500, message: 'input is too large to process. increase the physical batch size' } },
    ],
    ['DashScope', 400, { error: { message: 'batch size is invalid, it should not be larger than 10.' } }],
  ])('what is too much at once for %s goes in two halves', async (_, status, body) => {
    fake.next({ status, body })
    const vectors = await embedderWith().embed(['one', 'two', 'three'], 'document', never())
    for (const [index, text] of ['one', 'two', 'three'].entries()) expectNear(vectors[index], text)
    expect(fake.requests.map(({ texts }) => texts.length)).toEqual([3, 2, 1])
  })
})

describe('what is refused', () => {
  const refused: [string, Misbehaviour][] = [
    ['one vector too few', { extra: -1 }],
    ['one vector too many', { extra: 1 }],
    ['the same index twice', { indexes: [0, 0] }],
    ['an index beyond the texts', { indexes: [0, 2] }],
    ['an index that is a text', { indexes: ['0', '1'] }],
    [
      'a vector in base64',
      {
        body: {
          data: [
            { index: 0, embedding: 'AAAA' },
            { index: 1, embedding: 'AAAA' },
          ],
        },
      },
    ],
    ['empty vectors', { dimensions: 0 }],
    ['vectors of another dimension', { dimensions: 383 }],
    ['no embedding', { body: { data: [{ index: 0 }, { index: 1 }] } }],
    ['null for a vector', { body: { data: [null, null] } }],
    ['NaN, which is not JSON', { entry: 'NaN' }],
    ['null for NaN', { entry: 'null' }],
    ['a number beyond all numbers', { entry: '1e999' }],
    ['a string for a number', { entry: '"0.5"' }],
    ['a vector of zeros', { zero: true }],
    ['no list', { body: { data: {} } }],
    ['an error with 200', { body: { error: { message: 'model not loaded' } } }],
    ['a bare list', { body: [fakeVector('a'), fakeVector('b')] }],
    ['null', { body: 'null' }],
    ['nothing', { body: '' }],
    ['HTML', { html: true }],
    ['half an answer', { cut: 'middle' }],
    [
      'an answer that breaks off',
      { body: '{"object":"list","data":[{"object":"embedding","index":0,"embed' },
    ],
  ]

  test.each(refused)('%s', async (_, misbehaviour) => {
    fake.always(misbehaviour)
    await failureOf(embedderWith({ dimensions: 384 }).embed([secret, 'two'], 'document', never()))
  })

  test('the first answer decides the dimension, and no later answer may have another', async () => {
    const embedder = embedderWith()
    fake.next({ dimensions: 100 }, { dimensions: 101 })
    await embedder.embed(['a'], 'document', never())
    const error = await failureOf(embedder.embed(['a'], 'document', never()))
    expect(error.message).toContain('101 instead of 100')
  })

  test('a redirect is not followed', async () => {
    fake.next({ status: 307, headers: { location: '/v2/embeddings' }, body: {} })
    const error = await failureOf(embedderWith().embed([secret], 'document', never()))
    expect(error.message).toContain('redirects')
    expect(fake.requests).toHaveLength(1)
  })

  test('a wrong token is an error at once', async () => {
    const error = await failureOf(embedderWith({ token: 'sk-other' }).embed([secret], 'document', never()))
    expect(error.message).toBe('The embedding provider refused the token (401)')
    expect(fake.requests).toHaveLength(1)
  })

  test('500 and 503 are tried again; 429 waits as long as it is asked to', async () => {
    fake.next({ status: 500 }, { status: 503 })
    const [vector] = await embedderWith().embed(['one'], 'document', never())
    expectNear(vector, 'one')
    fake.next({
      status: 429,
      headers: { 'retry-after': '30' },
      body: { error: { code: 'rate_limit_exceeded' } },
    })
    const embedder = embedderWith()
    const error = await failureOf(embedder.embed([secret], 'document', never()))
    expect(error.retryAfterMs).toBeGreaterThan(28_000)
    const before = fake.requests.length
    await failureOf(embedder.embed([secret], 'query', never()))
    expect(fake.requests).toHaveLength(before)
  })

  test('a 400 that says nothing of a length is not sent again in parts', async () => {
    fake.always({ status: 400, body: { error: { message: 'invalid model' } } })
    await failureOf(embedderWith().embed(['one', 'two'], 'document', never()))
    expect(fake.requests).toHaveLength(1)
  })
})
