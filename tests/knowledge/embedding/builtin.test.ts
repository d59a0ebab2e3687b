import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { embeddedText } from '../../../src/knowledge/chunking/chunk.ts'
import { createBuiltinEmbedder } from '../../../src/knowledge/embedding/builtin.ts'
import { EmbeddingError } from '../../../src/knowledge/embedding/embedder.ts'
import fc from '../../support/fast-check.ts'
import { skipped } from '../../support/skipped.ts'

const seed = 20_260
const embedder = createBuiltinEmbedder()

async function embedAll(texts: string[]): Promise<Float32Array[]> {
  return embedder.embed(texts, 'document', new AbortController().signal)
}

async function similarity(one: string, other: string): Promise<number> {
  const [first, second] = await embedAll([one, other])
  return dot(first, second)
}

function dot(one: Float32Array | undefined, other: Float32Array | undefined): number {
  let sum = 0
  for (const [index, value] of (one ?? []).entries()) sum += value * (other?.[index] ?? 0)
  return sum
}

test('it says of itself that it is lexical and stays in this process', () => {
  expect(embedder.space).toBe('builtin:lexical-v2:384:chunks-v4')
  expect(embedder.destination).toContain('lexical')
  expect(embedder.dimensions).toBe(384)
})

test(`any text gives one finite vector of unit length (seed ${seed})`, async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
  )
  const property = fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (texts) => {
    const vectors = await embedAll(texts)
    expect(vectors).toHaveLength(texts.length)
    for (const vector of vectors) {
      expect(vector).toHaveLength(384)
      expect(Math.abs(dot(vector, vector) - 1)).toBeLessThan(1e-5)
    }
  })
  await fc.assert(property, { seed, numRuns: 300 })
})

test.each([
  [''],
  [' \n\t'],
  ['?!… — «»'],
  ['\ud800'],
  ['\u0000'],
  ['🙂'],
  ['a'.repeat(1 << 20)],
  ['a b '.repeat(1 << 18)],
])('a text with little to go by gives a unit vector as well (%#)', async (text) => {
  const [vector] = await embedAll([text])
  expect(Math.abs(dot(vector, vector) - 1)).toBeLessThan(1e-5)
})

test(`a text’s vector depends on nothing else (seed ${seed})`, async () => {
  const property = fc.asyncProperty(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'grapheme' }),
    async (one, other) => {
      const [alone] = await createBuiltinEmbedder().embed([one], 'query', new AbortController().signal)
      const [, among] = await embedAll([other, one, other])
      expect(among).toEqual(alone as Float32Array)
    },
  )
  await fc.assert(property, { seed, numRuns: 200 })
})

test('calls that run at once do not mix', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => `call ${index} `.repeat(400))
  const together = await Promise.all(texts.map(async (text) => embedAll([text])))
  for (const [index, text] of texts.entries()) expect(together[index]).toEqual(await embedAll([text]))
})

test('the vectors of version 2 do not change: stored ones stay comparable', async () => {
  const [vector] = await embedAll(['How do I reset my password? Straße, CAFÉ, 漢字 42'])
  const digest = createHash('sha256')
    .update(Buffer.from(vector?.buffer ?? new ArrayBuffer(0)))
    .digest('hex')
  expect(digest.slice(0, 16)).toBe('96ad96191901a10e')
})

test('case, diacritics and compatibility forms make no difference', async () => {
  expect(await similarity('Ｃafé MÜNCHEN ﬁle', 'cafe munchen file')).toBeGreaterThan(0.999)
})

test('inflected, compounded and mistyped words are near', async () => {
  expect(await similarity('cancelling subscriptions', 'cancel subscription')).toBeGreaterThan(0.5)
  expect(await similarity('Kontokündigung', 'Konto kündigen')).toBeGreaterThan(0.2)
  expect(await similarity('appointment', 'apointment')).toBeGreaterThan(0.4)
})

test('scripts without spaces are compared by parts', async () => {
  expect(await similarity('如何重置密码', '重置密码的方法')).toBeGreaterThan(0.4)
  expect(Math.abs(await similarity('如何重置密码', '今天天气很好'))).toBeLessThan(0.3)
})

test('short function words count less than what the text is about', async () => {
  const query = 'what is the refund of a ticket'
  const about = await similarity(query, 'refund ticket')
  const around = await similarity(query, 'what is the of a')
  expect(about).toBeGreaterThan(around + 0.3)
})

describe('cancelling', () => {
  test('is an EmbeddingError', async () => {
    const promise = embedder.embed(['a'], 'query', AbortSignal.abort())
    expect(await promise.catch((error: unknown) => error)).toBeInstanceOf(EmbeddingError)
  })

  test('works in the middle of a large call, because others get their turn', async () => {
    const controller = new AbortController()
    const texts = new Array<string>(5_000).fill('word '.repeat(240))
    setTimeout(() => controller.abort(), 5)
    const promise = embedder.embed(texts, 'document', controller.signal)
    expect(await promise.catch((error: unknown) => error)).toBeInstanceOf(EmbeddingError)
  })
})

const retrieval = `${import.meta.dir}/../../../../shared/data/retrieval`
if (!existsSync(retrieval)) skipped(`there is no ${retrieval}`)

test.skipIf(!existsSync(retrieval))('questions find their passage among 1,216', async () => {
  const passages: { doc_id: string; title: string; text: string }[] = readLines('squad-passages.jsonl')
  const queries: { query: string; doc_id: string }[] = readLines('squad-queries.jsonl')
  const vectors = await embedAll(
    passages.map(({ title, text }) => embeddedText(title, { heading: null, text })),
  )
  const asked = queries.filter((_, index) => index % 10 === 0)
  const questions = await embedAll(asked.map(({ query }) => query))
  let hits = 0
  for (const [index, { doc_id }] of asked.entries()) {
    const scores = vectors.map((vector) => dot(vector, questions[index]))
    const score = scores[passages.findIndex((passage) => passage.doc_id === doc_id)] ?? 0
    if (scores.filter((other) => other > score).length < 5) hits++
  }
  expect(hits / asked.length).toBeGreaterThan(0.7)
})

function readLines<Row>(name: string): Row[] {
  const lines = readFileSync(`${retrieval}/${name}`, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}
