import type { CallChange, Turn } from '../../src/calls/schemas.ts'
import type { Texts } from './texts.ts'

const msPerYear = 365 * 24 * 3_600_000
const firstAt = Date.UTC(2025, 0, 1)

interface MadeCallsOptions {
  count: number
  /** Turns of each transcript; null keeps the transcripts of the dialogues. */
  turns: number | null
}

/** Calls spread evenly over a year, oldest first. The newest calls are the same for every count. */
export function* madeCalls(texts: Texts, { count, turns }: MadeCallsOptions) {
  const said = texts.dialogues.flatMap(({ transcript }) => transcript ?? [])
  for (let index = 0; index < count; index++) {
    const age = count - 1 - index
    const dialogue = texts.dialogues[age % texts.dialogues.length] ?? {}
    const createdAt = new Date(firstAt + Math.floor((index * msPerYear) / count)).toISOString()
    const id = callId(index)
    const change: CallChange = { ...dialogue, id, createdAt, updatedAt: createdAt }
    if (turns !== null) change.transcript = conversation(said, age * turns, turns)
    yield { id, change }
  }
}

function conversation(said: Turn[], start: number, turns: number): Turn[] {
  return Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: said[(start + turn) % said.length]?.content ?? '',
  }))
}

/** Not ordered by time, like the ids of most platforms. */
export function callId(index: number): string {
  return `call-${(Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-${index}`
}
