import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../../src/calls/schemas.ts'
import { createRandom } from '../random.ts'

export interface Document {
  name: string
  text: string
}

/** The texts for calls and knowledge: real ones, or ones that are generated from a fixed seed. */
export interface Texts {
  /** Part of the names of cached folders. */
  kind: 'real' | 'synthetic'
  dialogues: Partial<Call>[]
  passages: { title: string; text: string }[]
  documents: Document[]
  /** Distinct questions about the passages. */
  questions: string[]
}

export function readTexts(folder: string | null): Texts {
  if (folder === null) return generateTexts()
  const names = readdirSync(join(folder, 'knowledge')).filter((name) => name.endsWith('.md'))
  const queries = readLines<{ query: string }>(join(folder, 'retrieval', 'squad-queries.jsonl'))
  return {
    kind: 'real',
    dialogues: readLines(join(folder, 'calls.jsonl')),
    passages: readLines(join(folder, 'retrieval', 'squad-passages.jsonl')),
    documents: names
      .sort()
      .map((name) => ({ name, text: readFileSync(join(folder, 'knowledge', name), 'utf8') })),
    questions: [...new Set(queries.map(({ query }) => query))],
  }
}

export function readLines<Line>(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

function generateTexts(): Texts {
  const random = createRandom(20_260_105)
  const several = (least: number, most: number) => least + Math.floor(random() * (most - least))
  const times = <Value>(count: number, make: (index: number) => Value) =>
    Array.from({ length: count }, (_, n) => make(n))
  const syllables = 'ba con de fi gra hol in ju ka lo mer no per sti tu'.split(' ')
  const syllable = () => syllables[several(0, syllables.length)]
  const words = times(6_000, () => times(several(1, 5), syllable).join(''))
  // Squared, so that some words are common and most are rare.
  const sentence = (count: number) =>
    times(count, () => words[Math.floor(random() ** 2 * words.length)]).join(' ')
  const passages = times(1_200, () => ({ title: sentence(2), text: times(8, () => sentence(15)).join('. ') }))
  return {
    kind: 'synthetic',
    dialogues: times(8_000, (index) => ({
      id: `made-up-${index}`,
      duration: several(0, 300),
      callerNumber: `+1555${String(several(0, 1e7)).padStart(7, '0')}`,
      calledNumber: '+15550100000',
      callAnalysis: { domains: [sentence(1)] },
      transcript: times(several(4, 26), (turn) => ({
        role: turn % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: sentence(several(4, 20)),
      })),
    })),
    passages,
    documents: times(75, (index) => ({
      name: `document-${index}.md`,
      text: times(
        several(2, 32),
        () => `## ${sentence(3)}\n\n${times(10, () => sentence(15)).join('. ')}`,
      ).join('\n\n'),
    })),
    questions: passages.map(({ text }) => text.split('. ', 1)[0] ?? ''),
  }
}
