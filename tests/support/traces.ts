import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { inIndex } from '../../scripts/torture/vectors.ts'
import type { TraceResult, TraceSearch } from './trace-search.ts'
import { until } from './until.ts'

/** Bytes that must be in no file, with a name for reports. */
export interface Trace {
  name: string
  bytes: Uint8Array
}

/** Starts with the first search, serves all test files of a process, and ends with it. */
let searcher: Searcher | undefined

/** Which of the traces are in which files under a folder, as `name in file`. Texts are found in any case. */
export async function findTraces(folder: string, traces: Trace[]): Promise<string[]> {
  return (await searchTraces(folder, traces)).found
}

/** Shows that what is looked for would be found: waits for all of it, since files are replaced while they are read. */
export async function untilInFiles(folder: string, traces: Trace[]): Promise<void> {
  await until(async () => {
    const found = await findTraces(folder, traces)
    return traces.every(({ name }) => found.some((line) => line.startsWith(name)))
  }, 'Writing everything down')
}

/** The same, and how many bytes were searched. */
export function searchTraces(folder: string, traces: Trace[]): Promise<TraceResult> {
  searcher ??= new Searcher()
  return searcher.search({
    folder,
    traces: traces.map(({ name, bytes }) => [name, Buffer.from(bytes).toString('hex')]),
  })
}

/** The program that searches, which answers one line after the other. */
class Searcher {
  readonly #child = Bun.spawn([process.execPath, join(import.meta.dir, 'trace-search.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  readonly #answers = createInterface({ input: Readable.from(this.#child.stdout) })[Symbol.asyncIterator]()
  #last: Promise<unknown> = Promise.resolve()

  constructor() {
    this.#child.unref()
  }

  search(search: TraceSearch): Promise<TraceResult> {
    const result = this.#last.then(async () => {
      this.#child.stdin.write(`${JSON.stringify(search)}\n`)
      await this.#child.stdin.flush()
      const { value, done } = await this.#answers.next()
      if (done) throw new Error(`The search for traces ended with ${await this.#child.exited}`)
      return JSON.parse(value) as TraceResult
    })
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** A word that is nowhere else, and ends so that no stemmer shortens it. */
export function newWord(): string {
  return `q${crypto.randomUUID().replaceAll('-', '').slice(0, 22)}7`
}

/** The word in lower case, its beginning and its end: keyword indexes share beginnings among neighbours. */
export function tracesOfWord(word: string): Trace[] {
  const lower = word.toLowerCase()
  return [lower.slice(0, 12), lower.slice(-12)].map((part) => ({
    name: `${part} (${word})`,
    bytes: Buffer.from(part),
  }))
}

/** Two pieces of a vector's bytes, and two of those that an index has, that are not mostly zeros. */
export function tracesOfVector(name: string, vector: Uint8Array): Trace[] {
  return [...piecesOf(name, vector), ...piecesOf(`${name} of the index`, inIndex(vector))]
}

function piecesOf(name: string, vector: Uint8Array): Trace[] {
  const pieces: Trace[] = []
  for (let start = 0; start + 32 <= vector.length && pieces.length < 2; start += 32) {
    const bytes = vector.slice(start, start + 32)
    if (new Set(bytes).size >= 16) pieces.push({ name: `${name} from byte ${start}`, bytes })
  }
  return pieces
}
