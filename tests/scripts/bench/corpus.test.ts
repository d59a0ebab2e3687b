import { expect, test } from 'bun:test'
import { corpusOf } from '../../../scripts/bench/corpus.ts'
import { readTexts } from '../../../scripts/bench/texts.ts'
import { splitIntoChunks } from '../../../src/knowledge/chunking/chunks.ts'

test('the corpus is the same each time, with the requested number of chunks and no chunk twice', () => {
  const texts = readTexts(null)
  const items = [...corpusOf(texts, 15_000)]
  const chunks = items.flatMap(({ text }) => splitIntoChunks(text).map((chunk) => chunk.text))
  expect(chunks.length).toBeGreaterThanOrEqual(15_000)
  expect(chunks.length).toBeLessThan(15_200)
  expect(new Set(chunks).size).toBe(chunks.length)
  expect(items.some(({ name }) => name.includes('notes'))).toBe(true)
  expect([...corpusOf(texts, 15_000)]).toEqual(items)
}, 60_000)
