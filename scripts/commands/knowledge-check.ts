import { createReadStream } from 'node:fs'
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '../../src/errors.ts'
import { parseJson } from '../../src/http/json-body.ts'
import { askGolden, sharesOf } from '../../src/knowledge/questions/golden-check.ts'
import { SearchRequest } from '../../src/knowledge/schemas.ts'
import type { Services } from '../../src/services/services.ts'
import { isBlank, readLines } from '../../src/text/lines.ts'
import { compileCheck } from '../../src/validation.ts'
import { startProgress } from './progress.ts'
import { counted, sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const lineBytesMax = 65_536
const questionsMax = 100_000
const names = ['query', 'itemId', 'name']

/** A question of the file, and the item that answers it. */
const Question = Type.Object({
  query: SearchRequest.properties.query,
  itemId: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
})

interface Question {
  line: number
  query: string
  /** The items that answer it: several items may have one name. */
  itemIds: string[]
  /** The expected item, as in the file. */
  wanted: { itemId: string } | { name: string }
}

export interface CheckSummary {
  questions: number
  /** The shares of questions, from 0 to 1, whose item is that of the first passage, or of one of the first five. */
  hit1: number
  hit5: number
  /** The questions whose item is not among the first five passages. */
  misses: Miss[]
}

interface Miss {
  line: number
  query: string
  itemId?: string
  name?: string
  /** The items that were found instead, best first. */
  found: { itemId: string; name: string }[]
}

/** One run of `knowledge check`: asks the questions of a file as an agent would. */
export class KnowledgeCheck {
  readonly #services: Services
  readonly #shell: Shell
  readonly #projectId: number
  readonly #check = compileCheck(Question)

  constructor(services: Services, shell: Shell, projectId: number) {
    this.#services = services
    this.#shell = shell
    this.#projectId = projectId
  }

  async run(file: string): Promise<CheckSummary> {
    const { index, search } = this.#services
    const questions = await this.#readQuestions(file)
    if (questions.length === 0 && this.#shell.exitCode === 0)
      throw new Error(`${shown(file)}: it has no questions`)
    await index.reconcile(this.#projectId)
    const misses: Miss[] = []
    const ranks: number[] = []
    let byWords = 0
    const progress = startProgress(this.#shell, 'Asking', questions.length)
    try {
      for (const [position, question] of questions.entries()) {
        this.#shell.signal.throwIfAborted()
        const { rank, found, isByWordsAlone } = await askGolden(search, this.#projectId, question)
        ranks.push(rank)
        if (rank === 0) misses.push({ line: question.line, query: question.query, ...question.wanted, found })
        if (isByWordsAlone) byWords++
        progress.update(position + 1, counted(position + 1, 'question'))
      }
    } finally {
      progress.stop()
    }
    if (byWords > 0)
      this.#shell.complain(
        `${counted(byWords, 'question')} answered by keyword alone: the embedding provider did not answer.`,
      )
    return { questions: questions.length, ...sharesOf(ranks), misses }
  }

  /** Reports lines that cannot be read or whose item does not exist; the exit code is then 1. */
  async #readQuestions(file: string): Promise<Question[]> {
    const heads = await this.#services.knowledge.heads(this.#projectId)
    const idsByName = new Map<string, string[]>()
    for (const { id, name } of heads) idsByName.set(name, [...(idsByName.get(name) ?? []), id])
    const ids = new Set(heads.map(({ id }) => id))
    const questions: Question[] = []
    const source =
      file === '-' ? this.#shell.streams.stdin : createReadStream(file, { signal: this.#shell.signal })
    for await (const { number, bytes } of readLines(source, lineBytesMax)) {
      if (bytes && isBlank(bytes)) continue
      try {
        if (!bytes) throw new Error(`must be at most ${lineBytesMax} bytes`)
        if (questions.length >= questionsMax) throw new Error(`at most ${questionsMax} questions are asked`)
        const { query, wanted } = this.#read(bytes)
        const itemIds =
          'name' in wanted ? (idsByName.get(wanted.name) ?? []) : [wanted.itemId].filter((id) => ids.has(id))
        if (itemIds.length === 0)
          this.#shell.complain(
            `Line ${number}: the project has no item ${shown('name' in wanted ? wanted.name : wanted.itemId)}`,
          )
        questions.push({ line: number, query, itemIds, wanted })
      } catch (error) {
        if (!(error instanceof Error) || this.#shell.signal.aborted) throw error
        this.#shell.complain(`Line ${number}: ${sentenceOf(error)}`)
        if (questions.length >= questionsMax) break
      }
    }
    return questions
  }

  #read(bytes: Uint8Array): Pick<Question, 'query' | 'wanted'> {
    const value = parseJson(bytes)
    const { query, itemId, name } = this.#check(value)
    const unknown = Object.keys(Object(value)).filter((key) => !names.includes(key))
    if (unknown.length > 0)
      throw invalidRequest(
        unknown.map((field) => ({ field, message: `is not known; a question has ${names.join(', ')}` })),
      )
    if (itemId !== undefined && name === undefined) return { query, wanted: { itemId } }
    if (name !== undefined && itemId === undefined) return { query, wanted: { name } }
    throw invalidRequest([{ field: 'itemId', message: 'or name is required, and not both' }])
  }
}

/** The value of `--min-hit5`. @throws unless it is from 0 to 1 */
export function shareOf(text: string): number {
  const share = /^[0-9]*\.?[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (share <= 1) return share
  throw new Error('--min-hit5 must be a number from 0 to 1, such as 0.9.')
}
