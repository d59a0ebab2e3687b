import { LRUCache } from 'lru-cache'
import type { Core } from '../../core/core.ts'
import { readChangeSeq } from '../../db/change-tags.ts'
import { readRows } from '../../db/store.ts'
import { Thread } from '../../threads/thread.ts'
import type { Scan } from '../finding/scan.ts'
import { answerAll, type PassOptions } from './pass.ts'
import type { PassApi } from './pass-worker.ts'
import type { Answer, Question } from './question.ts'

const idleMs = 60_000
/** How long a question waits for others, which are answered by the same pass. */
const gatherMs = 3
/** A question joins a pass of at most so many times its own period. */
const widerMax = 4
/** Of kept answers together. */
const groupsKeptMax = 200_000
/** How old an answer for people may be: so many times what it cost, and never older than this. */
const oldPerCost = 20
const oldMsMax = 10_000
/** How old an answer from a server may be, where its calls would hold up the server's other work. */
const oldFromServerMsMax = 60_000
const callsOfServerDefault = 100_000

interface Asked {
  name: string
  question: Question
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
  result: Promise<Answer>
}

/** Questions about the calls of one scan that wait for the same pass. */
interface Waiting {
  scan: Scan
  asked: Map<string, Asked>
}

interface Known {
  changeSeq: number
  at: number
  costMs: number
  answer: Answer
}

/**
 * Answers questions about many calls. Those that wait share one pass over the calls, equal ones one answer, and an answer
 * is kept as long as nothing of the project changes.
 */
export class Passes {
  readonly #core: Core
  /** Above so many calls, what a server answered counts for a while. Null for a file, which a thread reads. */
  readonly #callsOfServer: number | null
  readonly #thread: Thread<PassApi, { file: string | null }>
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Map<number, Promise<void>>()
  readonly #known = new LRUCache<string, Known>({
    maxSize: groupsKeptMax,
    sizeCalculation: ({ answer }) => answer.groups.length + 1,
  })

  constructor(core: Core, { callsOfServer = callsOfServerDefault } = {}) {
    this.#core = core
    const { readsAt } = core.database
    this.#callsOfServer = readsAt.kind === 'file' ? null : callsOfServer
    this.#thread = new Thread({
      script: new URL('./pass-worker.ts', import.meta.url),
      name: 'The reader of figures',
      data: () => ({ file: readsAt.kind === 'file' ? readsAt.file : null }),
      idleMs,
    })
  }

  /** The figure of each window of time of these calls. */
  figuresOfWindows(...args: Parameters<PassApi['figuresOfWindows']>) {
    return this.#thread.ask('figuresOfWindows', ...args)
  }

  /** @param options.mayBeOld for people, who look again and again */
  async ask(scan: Scan, question: Question, { mayBeOld = false } = {}): Promise<Answer> {
    const { projectId, where, rows } = scan
    const of = JSON.stringify([projectId, where, rows])
    const name = `${of} ${JSON.stringify(question)}`
    const known = this.#known.get(name)
    if (known && Math.abs(this.#core.now() - known.at) < this.#oldMsMax(known, mayBeOld)) return known.answer
    const changeSeq = await this.#changeSeq(projectId)
    if (known?.changeSeq === changeSeq) return known.answer
    return await this.#enqueue(of, scan, name, question)
  }

  #oldMsMax({ answer, costMs }: Known, mayBeOld: boolean): number {
    if (answer.asOf !== undefined) return oldFromServerMsMax
    return mayBeOld ? Math.min(oldMsMax, oldPerCost * costMs) : 0
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  #changeSeq(projectId: number): Promise<number> {
    return readChangeSeq(this.#core.store(projectId).read, projectId)
  }

  #enqueue(of: string, scan: Scan, name: string, question: Question): Promise<Answer> {
    const waiting = this.#waiting.get(of) ?? []
    const joined = waiting.find((one) => isNear(one.scan, scan))
    const batch: Waiting = joined ?? { scan, asked: new Map() }
    if (joined)
      joined.scan = {
        ...joined.scan,
        from: Math.min(joined.scan.from, scan.from),
        to: Math.max(joined.scan.to, scan.to),
      }
    else {
      this.#waiting.set(of, [...waiting, batch])
      setTimeout(() => void this.#start(of, batch), gatherMs)
    }
    const equal = batch.asked.get(name)
    if (equal) return equal.result
    let [resolve, reject]: [Asked['resolve'], Asked['reject']] = [() => undefined, () => undefined]
    const result = new Promise<Answer>((...both) => {
      ;[resolve, reject] = both
    })
    batch.asked.set(name, { name, question, resolve, reject, result })
    return result
  }

  /** A project has one pass at a time: what it asks meanwhile shares the next one. */
  async #start(of: string, batch: Waiting): Promise<void> {
    const { projectId } = batch.scan
    while (this.#running.has(projectId)) await this.#running.get(projectId)
    this.#waiting.set(
      of,
      (this.#waiting.get(of) ?? []).filter((one) => one !== batch),
    )
    if (this.#waiting.get(of)?.length === 0) this.#waiting.delete(of)
    const run = this.#run(batch).finally(() => this.#running.delete(projectId))
    this.#running.set(projectId, run)
    await run
  }

  async #run({ scan, asked }: Waiting): Promise<void> {
    const all = [...asked.values()]
    try {
      const changeSeq = await this.#changeSeq(scan.projectId)
      const [at, startedAt] = [this.#core.now(), performance.now()]
      const answers = await this.#answer({ scan, questions: all.map(({ question }) => question) })
      const costMs = performance.now() - startedAt
      for (const [place, { name, question, resolve }] of all.entries()) {
        const read = answers[place]
        if (!read) throw new Error('A question has no answer')
        const isDated = this.#callsOfServer !== null && read.total > this.#callsOfServer
        const answer = isDated ? { ...read, asOf: at } : read
        // What the database's clock decides changes by itself.
        const isKept = !question.listedAt && !scan.where.sql.includes('unixepoch')
        if (isKept) this.#known.set(name, { changeSeq, at, costMs, answer })
        resolve(answer)
      }
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }

  async #answer(options: PassOptions): Promise<Answer[]> {
    const { store } = this.#core
    if (this.#callsOfServer === null) return await this.#thread.ask('answerAll', options)
    // A server answers each slice on its own, and other requests get their turn meanwhile.
    const { readInBackground } = store(options.scan.projectId)
    return await answerAll(readRows(readInBackground), options, async () => undefined)
  }
}

/** Whether one pass is worth while for both. */
function isNear(a: Scan, b: Scan): boolean {
  const [shorter, both] = [
    Math.min(a.to - a.from, b.to - b.from),
    Math.max(a.to, b.to) - Math.min(a.from, b.from),
  ]
  return both <= shorter * widerMax
}
