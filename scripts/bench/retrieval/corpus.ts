import { splitIntoChunks } from '../../../src/knowledge/chunking/chunks.ts'
import { createRandom } from '../random.ts'
import type { Document, Texts } from '../texts.ts'

const dialoguesPerItem = 10
const dialoguesPerSubject = 100
/** With fewer sentences the generated sections would repeat themselves. */
const sentencesMin = 100
const sentenceCharsMin = 20
const itemChars = 9_000
const sectionChars = { min: 400, max: 3_000 }

/** Items with `chunksCount` chunks in total, or slightly more. All differ, and every run gets the same ones. */
export function* corpusOf(texts: Texts, chunksCount: number): Generator<Document> {
  let chunks = 0
  for (const item of endlessItems(texts)) {
    if (chunks >= chunksCount) return
    chunks += splitIntoChunks(item.text).length
    yield item
  }
}

/**
 * First the texts themselves, then sections of random sentences of one subject each: word frequencies stay as in the
 * real texts, and no chunk occurs twice.
 */
function* endlessItems(texts: Texts): Generator<Document> {
  yield* texts.documents
  yield* articlesOf(texts)
  yield* conversationsOf(texts)
  const random = createRandom(1)
  const subjects = subjectsOf(texts)
  for (let index = 0; ; index++) {
    const subject = subjects[index % subjects.length]
    if (!subject) throw new Error('The texts are too few to make others of')
    yield { name: `${subject.name}, notes ${index + 1}`, text: drawItem(subject.sentences, random) }
  }
}

interface Subject {
  name: string
  sentences: string[]
}

function subjectsOf(texts: Texts): Subject[] {
  const written = [...texts.documents, ...articlesOf(texts)].map(({ name, text }) => ({
    name,
    sentences: sentencesOf(text),
  }))
  const said = inGroups(texts.dialogues, dialoguesPerSubject).map((dialogues, index) => ({
    name: `Calls ${index + 1}`,
    sentences: dialogues.flatMap(linesOf),
  }))
  return [...written, ...said].filter(({ sentences }) => sentences.length >= sentencesMin)
}

/** The passages with the same title are one article. */
function articlesOf({ passages }: Texts): Document[] {
  return [...Map.groupBy(passages, ({ title }) => title)].map(([title, own]) => ({
    name: title,
    text: own.map(({ text }) => text).join('\n\n'),
  }))
}

function conversationsOf({ dialogues }: Texts): Document[] {
  return inGroups(dialogues, dialoguesPerItem).map((group, index) => ({
    name: `Conversations ${index + 1}`,
    text: group.map((dialogue) => `## ${dialogue.id}\n\n${linesOf(dialogue).join('\n')}`).join('\n\n'),
  }))
}

function linesOf({ transcript = [] }: Texts['dialogues'][number]): string[] {
  return transcript.map(({ role, content }) => `${role}: ${content}`)
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

function inGroups<Value>(values: Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  )
}
