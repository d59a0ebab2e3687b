import type { CallChange, Turn } from '../../src/calls/schemas.ts'
import type { Texts } from './texts.ts'

const msPerYear = 365 * 86_400_000
const firstAt = Date.UTC(2025, 0, 1)

/** Any number of calls spread evenly over a year, each with a transcript of exactly `turns` turns. */
export function* madeCalls(texts: Texts, { count, turns }: { count: number; turns: number }) {
  const said = texts.dialogues.flatMap(({ transcript }) => transcript ?? [])
  for (let index = 0; index < count; index++) {
    const dialogue = texts.dialogues[index % texts.dialogues.length] ?? {}
    const createdAt = new Date(firstAt + Math.floor((index * msPerYear) / count)).toISOString()
    const transcript: Turn[] = []
    for (let turn = 0; turn < turns; turn++) {
      const content = said[(index * turns + turn) % said.length]?.content ?? ''
      transcript.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content })
    }
    const change: CallChange = { ...dialogue, id: callId(index), transcript, createdAt, updatedAt: createdAt }
    yield { id: callId(index), change }
  }
}

/** Ids that do not grow with time, as those of most platforms. */
export function callId(index: number): string {
  return `call-${(Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-${index}`
}
