import type { Turn } from '../../src/calls/schemas.ts'
import { type Dataset, emptyDataset } from './dataset.ts'
import { type ProcessUse, processOf } from './memory.ts'
import type { Running } from './processes.ts'
import { bodyOf } from './requests.ts'
import type { Options } from './runner.ts'
import { formatCount, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const callsCount = 200
const turnsMeasured = 10
const turnsMax = 500
/** How many turns are appended one by one first, so that the calls are at different stages of their storage. */
const turnsBeforeMax = 64
const requestsAtOnce = 16
const ratioMax = 2

/** The cost of appending a turn to live calls of 500 turns, compared with their first turns. */
export async function benchAppend(texts: Texts, { start }: Options): Promise<Row[]> {
  const dataset = await emptyDataset()
  const service = await start(dataset)
  const calls = new LiveCalls(service, dataset, texts)
  await calls.grow('warm', 0, turnsBeforeMax)
  await calls.grow('old', turnsMax - turnsMeasured - turnsBeforeMax, turnsMax - turnsMeasured)
  const first: ProcessUse = { processorSeconds: 0, bytesWritten: 0 }
  const last: ProcessUse = { processorSeconds: 0, bytesWritten: 0 }
  // In turns, so that other load affects both.
  for (let turn = 0; turn < turnsMeasured; turn++) {
    add(first, await calls.appendMeasured('new', turn))
    add(last, await calls.appendMeasured('old', turnsMax - turnsMeasured + turn))
  }
  const time = last.processorSeconds / first.processorSeconds
  const bytes = last.bytesWritten / first.bytesWritten
  return [
    {
      what: `PUT of turns 491 to 500 of ${callsCount} live calls`,
      measured: `${time.toFixed(2)} × the time of turns 1 to 10, ${bytes.toFixed(2)} × the bytes; ${formatUse(last)} an append against ${formatUse(first)}`,
      target: `≤ ${ratioMax} × the first`,
      isMet: time <= ratioMax && bytes <= ratioMax,
    },
  ]
}

/** Calls that get one turn at a time, in order. */
class LiveCalls {
  readonly #service: Running
  readonly #key: string
  readonly #said: Turn[]

  constructor(service: Running, { ingestKey }: Dataset, { dialogues }: Texts) {
    this.#service = service
    this.#key = ingestKey
    this.#said = dialogues.flatMap(({ transcript }) => transcript ?? [])
  }

  /** Makes calls of from `from` to `end` turns in one request, and appends the turns up to `end` one by one. */
  async grow(name: string, from: number, end: number): Promise<void> {
    const lengthOf = (call: number) => from + (call % (end - from))
    await this.#each((call) => this.#put(name, call, { transcript: this.#turns(call, 0, lengthOf(call)) }))
    for (let turn = from; turn < end; turn++) {
      await this.#each(async (call) => {
        if (turn >= lengthOf(call)) await this.#append(name, call, turn)
      })
    }
  }

  /** Appends a turn to each call. Returns what that cost the service. */
  async appendMeasured(name: string, turn: number): Promise<ProcessUse> {
    const before = processOf(this.#service.pid)
    await this.#each((call) => this.#append(name, call, turn))
    const after = processOf(this.#service.pid)
    return {
      processorSeconds: after.processorSeconds - before.processorSeconds,
      bytesWritten: after.bytesWritten - before.bytesWritten,
    }
  }

  async #each(work: (call: number) => Promise<void>): Promise<void> {
    let next = 0
    const workOn = async () => {
      while (next < callsCount) await work(next++)
    }
    await Promise.all(Array.from({ length: requestsAtOnce }, workOn))
  }

  #append(name: string, call: number, turn: number): Promise<void> {
    return this.#put(name, call, { appendTranscript: { at: turn, turns: this.#turns(call, turn, turn + 1) } })
  }

  async #put(name: string, call: number, body: object): Promise<void> {
    await bodyOf(this.#service.url, {
      ...{ method: 'PUT', path: `/ingest/calls/${name}-${call}`, key: this.#key, body },
    })
  }

  #turns(call: number, from: number, end: number): Turn[] {
    return Array.from({ length: end - from }, (_, index) => {
      const turn = from + index
      const { content = '' } = this.#said[(call * turnsMax + turn) % this.#said.length] ?? {}
      return { role: turn % 2 === 0 ? 'user' : 'assistant', content }
    })
  }
}

function add(sum: ProcessUse, { processorSeconds, bytesWritten }: ProcessUse): void {
  sum.processorSeconds += processorSeconds
  sum.bytesWritten += bytesWritten
}

function formatUse({ processorSeconds, bytesWritten }: ProcessUse): string {
  const appends = callsCount * turnsMeasured
  return `${((processorSeconds * 1e3) / appends).toFixed(2)} ms, ${formatCount(bytesWritten / appends / 1e3)} KB`
}
