import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../../src/calls/schemas.ts'
import { createRandom } from './random.ts'

export interface Passage {
  title: string
  text: string
}

export interface Document {
  name: string
  text: string
}

/** The texts for calls and knowledge: real ones, or ones that are generated from a fixed seed. */
export interface Texts {
  /** For people: where the texts come from. */
  origin: string
  /** Part of the names of cached folders. */
  kind: 'real' | 'synthetic'
  dialogues: Partial<Call>[]
  passages: Passage[]
  documents: Document[]
}

export function readTexts(folder: string | null): Texts {
  if (folder === null) return generateTexts()
  return {
    origin: `real texts from ${folder}`,
    kind: 'real',
    dialogues: readLines(join(folder, 'calls.jsonl')),
    passages: readLines(join(folder, 'retrieval', 'squad-passages.jsonl')),
    documents: readDocuments(join(folder, 'knowledge')),
  }
}

function readLines<Line>(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

function readDocuments(folder: string): Document[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'))
  return names.sort().map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
}

const seed = 20_260_105
const wordsCount = 6_000

function generateTexts(): Texts {
  const random = createRandom(seed)
  const words = Array.from({ length: wordsCount }, () => generateWord(random))
  // Squared, so that some words are common and most are rare.
  const sentence = (count: number) =>
    Array.from({ length: count }, () => words[Math.floor(random() ** 2 * words.length)]).join(' ')
  const passages = Array.from({ length: 1_200 }, () => ({ title: sentence(2), text: sentence(120) }))
  return {
    origin: `synthetic texts from seed ${seed}`,
    kind: 'synthetic',
    dialogues: Array.from({ length: 8_000 }, (_, index) => ({
      id: `made-up-${index}`,
      status: 'completed' as const,
      duration: Math.round(random() * 3_000) / 10,
      evaluation: random() < 0.8 ? 'success' : 'fail',
      endedReason: 'customer-ended-call',
      callerNumber: `+1555${String(Math.floor(random() * 1e7)).padStart(7, '0')}`,
      calledNumber: '+15550100000',
      isEngaged: random() < 0.9,
      callAnalysis: { domains: [sentence(1)] },
      transcript: Array.from({ length: 4 + Math.floor(random() * 22) }, (_, turn) => ({
        role: turn % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: sentence(4 + Math.floor(random() * 16)),
      })),
      createdAt: new Date(Date.UTC(2026, 0, 5) + index * 2_900_000).toISOString(),
    })),
    passages,
    documents: Array.from({ length: 75 }, (_, index) => ({
      name: `document-${index}.md`,
      text: Array.from(
        { length: 2 + Math.floor(random() * 30) },
        () => `## ${sentence(3)}\n\n${sentence(150)}`,
      ).join('\n\n'),
    })),
  }
}

function generateWord(random: () => number): string {
  const syllables = [
    'ba',
    'con',
    'de',
    'fi',
    'gra',
    'hol',
    'in',
    'ju',
    'ka',
    'lo',
    'mer',
    'no',
    'per',
    'sti',
    'tu',
  ]
  const count = 1 + Math.floor(random() * 4)
  return Array.from({ length: count }, () => syllables[Math.floor(random() * syllables.length)]).join('')
}
