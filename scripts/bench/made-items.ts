import { splitIntoChunks } from '../../src/knowledge/chunking/chunks.ts'
import type { Document, Texts } from './texts.ts'

/** Items of exactly `chunksEach` chunks. No two are the same. */
export function* madeItems(texts: Texts, { count, chunksEach }: { count: number; chunksEach: number }) {
  for (let index = 0; index < count; index++) yield madeItem(texts, index, chunksEach)
}

function madeItem({ passages }: Texts, index: number, chunksEach: number): Document {
  const name = `Item ${index}`
  let text = ''
  for (let section = 0; ; section++) {
    const passage = passages[(index * 7 + section * (1 + (index % 11))) % passages.length]
    const longer = `${text}## ${passage?.title} ${index}.${section}\n\n${passage?.text}\n\n`
    const chunks = splitIntoChunks(longer).length
    if (chunks > chunksEach) continue
    text = longer
    if (chunks === chunksEach) return { name, text }
  }
}
