import { splitIntoChunks } from '../../src/knowledge/chunking/chunks.ts'
import { cachedDataset, type Dataset } from '../dataset.ts'
import { createRandom } from '../random.ts'
import type { Options } from './runner.ts'
import type { Document, Texts } from './texts.ts'

/** With fewer sentences the generated sections would repeat themselves. */
const sentencesMin = 100
const sentenceCharsMin = 20
const dialoguesPerSubject = 100
const itemChars = 9_000
const sectionChars = { min: 400, max: 3_000 }

/** An indexed project with that many chunks. */
export function corpusDataset({ texts, chunks }: Pick<Options, 'texts' | 'chunks'>): Promise<Dataset> {
  return cachedDataset(`chunks-${chunks}-${texts.kind}`, async ({ knowledge, indexer }, projectId) => {
    for (const item of corpusOf(texts, chunks)) await knowledge.store(projectId, item)
    indexer.wake(projectId)
    await indexer.idle()
  })
}

/** Items with `count` chunks in total, or slightly more. All differ, and every run gets the same ones. */
export function* corpusOf(texts: Texts, count: number): Generator<Document> {
  let chunks = 0
  for (const item of endlessItems(texts)) {
    if (chunks >= count) return
    chunks += splitIntoChunks(item.text).length
    yield item
  }
}

/**
 * First the texts themselves, then sections of random sentences of one subject each: word frequencies stay as in the
 * real texts, and no chunk occurs twice.
 */
function* endlessItems({ passages, documents, dialogues }: Texts): Generator<Document> {
  // The passages with the same title are one article.
  const articles = [...Map.groupBy(passages, ({ title }) => title)].map(([name, own]) => ({
    name,
    text: own.map(({ text }) => text).join('\n\n'),
  }))
  const lines = dialogues.map(({ transcript = [] }) =>
    transcript.map(({ role, content }) => `${role}: ${content}`),
  )
  const conversations = Array.from({ length: Math.ceil(lines.length / dialoguesPerSubject) }, (_, at) => ({
    name: `Calls ${at + 1}`,
    text: lines
      .slice(at * dialoguesPerSubject, (at + 1) * dialoguesPerSubject)
      .flat()
      .join('\n'),
  }))
  yield* documents
  yield* articles
  yield* conversations
  const random = createRandom(1)
  const subjects = [...documents, ...articles, ...conversations]
    .map(({ name, text }) => ({ name, sentences: sentencesOf(text) }))
    .filter(({ sentences }) => sentences.length >= sentencesMin)
  for (let index = 0; ; index++) {
    const subject = subjects[index % subjects.length]
    if (!subject) throw new Error('The texts are too few to make others of')
    yield { name: `${subject.name}, notes ${index + 1}`, text: drawItem(subject.sentences, random) }
  }
}

/** Without headings and code fences, which would change how the text around them is split. */
function sentencesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|```|~~~|---|===)/.test(line))
  return lines
    .flatMap((line) => line.split(/(?<=[.!?]) /))
    .filter((sentence) => sentence.length >= sentenceCharsMin)
}

function drawItem(sentences: string[], random: () => number): string {
  let text = ''
  for (let section = 1; text.length < itemChars; section++) {
    const end = text.length + sectionChars.min + random() * (sectionChars.max - sectionChars.min)
    text += `## Section ${section}\n\n`
    while (text.length < end) text += `${sentences[Math.floor(random() * sentences.length)]}\n`
    text += '\n'
  }
  return text
}
