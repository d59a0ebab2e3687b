import { vectorsOf } from '../../scripts/torture/vectors.ts'
import type { Reached } from './node.ts'
import { newWord, type Trace, tracesOfVector, tracesOfWord } from './traces.ts'

/** A record whose words, numbers and vectors occur nowhere else. */
export interface Marked {
  /** Under /v1. */
  path: string
  id: string
  words: string[]
  traces: Trace[]
}

/** An item with such words in each of its fields and in headings. */
export async function addMarkedItem(project: Reached): Promise<Marked> {
  const words = Array.from({ length: 6 }, newWord)
  const [name, description, opening, heading, deep, last] = words
  const filler = Array.from({ length: 40 }, () => newWord().slice(0, 7)).join(' ')
  const item = {
    name: `The ${name} handbook`,
    description: `About ${description}`,
    text: `${opening} comes first.\n\n## On ${heading?.toUpperCase()}s\n\n${filler}\n\n### ${deep}\n\n${filler}\n\nIt ends with ${last}ing.`,
  }
  const answer = await project.send('POST', '/v1/knowledge', item)
  const { id }: { id?: string } = await answer.json()
  if (id === undefined) throw new Error(`The item was answered ${answer.status}`)
  const vectors = (await vectorsOf(item)).flatMap((bytes, at) =>
    tracesOfVector(`vector ${at} of ${id}`, bytes),
  )
  return {
    path: `/v1/knowledge/${id}`,
    id,
    words: words.filter((word) => word !== description),
    traces: [{ name: `id ${id}`, bytes: Buffer.from(id) }, ...words.flatMap(tracesOfWord), ...vectors],
  }
}

/** A call with such words, and a phone number, in everything that a platform can write. */
export async function addMarkedCall(project: Reached): Promise<Marked> {
  const words = Array.from({ length: 7 }, newWord)
  const [id, summary, said, analysed, named, noted, ended] = words
  const digits = String(crypto.getRandomValues(new BigUint64Array(1))[0])
    .padStart(15, '7')
    .slice(0, 15)
  const answer = await project.send('PUT', `/ingest/calls/${id}`, {
    summary: `About ${summary}, at length. ${'More was said of it. '.repeat(200)}`,
    callerNumber: `+${digits}`,
    endedReason: ended,
    transcript: [
      { role: 'user', content: `${said?.toUpperCase()}?` },
      { role: 'assistant', content: `${said}.` },
    ],
    callAnalysis: { [`of-${named}`]: { deep: [analysed] } },
    details: { agent: { id: `of ${noted}` }, timeline: [{ atSeconds: 0, kind: 'other', text: noted }] },
    metadata: { note: noted },
  })
  if (!answer.ok || id === undefined) throw new Error(`The call was answered ${answer.status}`)
  const number = { name: `number ${digits}`, bytes: Buffer.from(digits.slice(-12)) }
  return { path: `/v1/calls/${id}`, id, words, traces: [...words.flatMap(tracesOfWord), number] }
}
