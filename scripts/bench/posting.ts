import { splitIntoChunks } from '../../src/knowledge/chunking/chunks.ts'
import type { Dataset } from './dataset.ts'
import type { Running } from './processes.ts'
import { bodyOf } from './requests.ts'
import type { Document, Texts } from './texts.ts'

const postsAtOnce = 4

/** Repeats the documents without end, each time under other names. */
export function* endlessDocuments({ documents }: Texts): Generator<Document> {
  for (let copy = 1; ; copy++) {
    for (const { name, text } of documents) yield { name: `${name} (${copy})`.slice(-200), text }
  }
}

/** Creates items until they have `count` chunks. Each request is answered when its chunks are indexed. */
export async function postChunks(
  { url }: Running,
  { key }: Pick<Dataset, 'key'>,
  documents: Generator<Document>,
  count: number,
): Promise<void> {
  let created = 0
  const post = async () => {
    while (created < count) {
      const document = documents.next().value
      created += splitIntoChunks(document.text).length
      await bodyOf(url, { method: 'POST', path: '/v1/knowledge', key, body: document })
    }
  }
  await Promise.all(Array.from({ length: postsAtOnce }, post))
}
