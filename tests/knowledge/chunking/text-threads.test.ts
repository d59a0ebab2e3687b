import { afterAll, expect, test } from 'bun:test'
import { toChunkRows } from '../../../src/knowledge/chunking/chunk-rows.ts'
import { TextThreads } from '../../../src/knowledge/chunking/text-threads.ts'
import { createBuiltinEmbedder } from '../../../src/knowledge/embedding/builtin.ts'

const work = new TextThreads()
afterAll(() => work.close())

const long = Array.from(
  { length: 400 },
  (_, i) => `## Section ${i}\n\nWords of section ${i}, söme 👋.\n`,
).join('\n')

test('the worker splits a long text into the same chunks as the main thread', async () => {
  expect(await work.toChunkRows(long, 'Name')).toEqual(toChunkRows(long, 'Name'))
  expect(await work.toChunkRows('short', 'Name')).toEqual(toChunkRows('short', 'Name'))
})

test('the worker embeds documents to the same vectors as the main thread', async () => {
  const texts = ['one text', 'another text', long]
  const here = await createBuiltinEmbedder().embed(texts, 'document', new AbortController().signal)
  expect(await work.embed(texts)).toEqual(here)
})

test('simultaneous requests each get their own answer', async () => {
  const texts = Array.from({ length: 20 }, (_, i) => `${i} ${long}`)
  expect(await Promise.all(texts.map((text) => work.toChunkRows(text, 'Name')))).toEqual(
    texts.map((text) => toChunkRows(text, 'Name')),
  )
})

test('beyond the limit, long texts are refused at once and short ones are not', async () => {
  const accepted = Array.from({ length: 64 }, () => work.toChunkRows(long, 'Name'))
  expect(work.isFull).toBe(true)
  await expect(work.toChunkRows(long, 'Name')).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 1,
  })
  expect(await work.toChunkRows('short', 'Name')).toEqual(toChunkRows('short', 'Name'))
  await Promise.all(accepted)
  expect(work.isFull).toBe(false)
})
