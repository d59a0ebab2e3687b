import { afterAll, expect, test } from 'bun:test'
import { toChunkRows } from '../../src/knowledge/chunking/chunk-rows.ts'
import { createBuiltinEmbedder } from '../../src/knowledge/embedding/builtin.ts'
import { TextWork } from '../../src/knowledge/text-work.ts'

const work = new TextWork()
afterAll(() => work.close())

const long = Array.from(
  { length: 400 },
  (_, i) => `## Section ${i}\n\nWords of section ${i}, söme 👋.\n`,
).join('\n')

test('a long text is cut up by the worker as it is here', async () => {
  expect(await work.toChunkRows(long)).toEqual(toChunkRows(long))
  expect(await work.toChunkRows('short')).toEqual(toChunkRows('short'))
})

test('documents are embedded by the worker as they are here', async () => {
  const texts = ['one text', 'another text', long]
  const here = await createBuiltinEmbedder().embed(texts, 'document', new AbortController().signal)
  expect(await work.embed(texts)).toEqual(here)
})

test('requests that come at once are each given their own answer', async () => {
  const texts = Array.from({ length: 20 }, (_, i) => `${i} ${long}`)
  expect(await Promise.all(texts.map((text) => work.toChunkRows(text)))).toEqual(texts.map(toChunkRows))
})

test('what is beyond those that may wait is refused at once, short texts are not', async () => {
  const accepted = Array.from({ length: 64 }, () => work.toChunkRows(long))
  expect(work.isFull).toBe(true)
  await expect(work.toChunkRows(long)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
  expect(await work.toChunkRows('short')).toEqual(toChunkRows('short'))
  await Promise.all(accepted)
  expect(work.isFull).toBe(false)
})
