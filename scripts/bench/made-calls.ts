import type { CallChange, Turn } from '../../src/calls/schemas.ts'
import { cachedDataset, type Dataset } from '../dataset.ts'
import type { Options } from './runner.ts'
import type { Texts } from './texts.ts'

const turnsEach = 20
const callsPerBatch = 1_000
const msPerYear = 365 * 24 * 3_600_000
const firstAt = Date.UTC(2025, 0, 1)
/** A word that one call in 1,000 has, and one that every other call has. */
export const rareWord = 'zeppelin'
export const commonWord = 'voucher'

export interface MadeCall {
  id: string
  call: Omit<CallChange, 'id'>
}

/** Calls of 20 turns spread evenly over a year, oldest first. Their filters and words match a known share of all. */
export function* madeCalls({ dialogues }: Texts, count: number): Generator<MadeCall> {
  const said = dialogues.flatMap(({ transcript }) => transcript ?? [])
  for (let index = 0; index < count; index++) {
    const age = count - 1 - index
    const { id: _, ...dialogue } = dialogues[age % dialogues.length] ?? {}
    const createdAt = new Date(firstAt + Math.floor((index * msPerYear) / count)).toISOString()
    const words = [...(index % 2 === 0 ? [commonWord] : []), ...(index % 1_000 === 0 ? [rareWord] : [])]
    const transcript = Array.from({ length: turnsEach }, (_, turn): Turn => {
      const { content = '' } = said[(age * turnsEach + turn) % said.length] ?? {}
      return {
        role: turn % 2 === 0 ? 'user' : 'assistant',
        content: turn === 0 ? [content, ...words].join(' ') : content,
      }
    })
    const isFailed = index % 4 === 0
    const outcome = {
      status: 'completed',
      evaluation: isFailed ? 'fail' : 'success',
      isEngaged: !isFailed,
    } as const
    yield {
      id: callId(index),
      call: { ...dialogue, ...outcome, createdAt, updatedAt: createdAt, transcript },
    }
  }
}

/** Not ordered by time, like the ids of most platforms. */
export function callId(index: number): string {
  return `call-${(Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-${index}`
}

/** A project with that many calls. They also have what figures count. */
export function callsDataset({ texts }: Pick<Options, 'texts'>, count: number): Promise<Dataset> {
  return cachedDataset(`made-${count}-${texts.kind}`, async ({ ingest, wordBacklog }, projectId) => {
    let batch: ReturnType<typeof countable>[] = []
    let index = 0
    for (const made of madeCalls(texts, count)) {
      batch.push(countable(made, index++))
      if (batch.length < callsPerBatch && index < count) continue
      for (const result of await ingest.putAll(projectId, batch)) if (result instanceof Error) throw result
      batch = []
    }
    await wordBacklog.finish()
  })
}

function countable({ id, call }: MadeCall, index: number) {
  const random = Math.imul(index, 0x9e3779b1) >>> 0
  const change: CallChange = {
    ...call,
    id,
    duration: (random % 6_000) / 10,
    endedReason:
      ['customer-ended-call', 'assistant-ended-call', 'silence', 'error'][(random >> 5) % 4] ?? null,
    callAnalysis: { intent: `intent-${random % 7}`, score: random % 11 },
    details: {
      agent: { id: `agent-${random % 12}`, name: null },
      costUsd: (random % 100) / 100,
      latencyMs: 300 + (random % 900),
    },
  }
  const source = ['vapi', 'retell', 'bland'][random % 3] ?? null
  const review = { evaluation: null, note: null, labels: ['billing'], by: null, at: call.createdAt ?? '' }
  return { id, change, own: { source, ...(index % 50 === 0 ? { review } : {}) } }
}
