import { join } from 'node:path'
import Database from 'libsql'
import { type Dataset, emptyDataset } from './dataset.ts'
import type { Running } from './processes.ts'
import { bodyOf } from './requests.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import type { Row } from './table.ts'
import type { Texts } from './texts.ts'

const sections = 100
const changes = 100
const warmUpChanges = 10
const pauseMs = 20
const foundWithinMs = 5_000
const chunksMax = 2
const answerMsMax = 15
const foundMsMax = 100
const path = '/v1/knowledge/handbook'

/** Changes one section after another of an item of 100 sections by PUT, and searches for each by vector. */
export async function benchChanging({ documents }: Texts, { start }: Options): Promise<Row[]> {
  const dataset = await emptyDataset()
  const service = await start(dataset)
  const filler = documents.map(({ text }) => text.replace(/[#`|]/g, '').slice(0, 600))
  const said = Array.from({ length: sections }, (_, at) => filler[at % filler.length] ?? '')
  const textOf = () => said.map((text, at) => `## Section ${at}\n\n${text}`).join('\n\n')
  await put(service, dataset, textOf())
  const answers: number[] = []
  const finds: number[] = []
  let labelBefore = 0
  for (let change = -warmUpChanges; change < changes; change++) {
    if (change === 0) labelBefore = newestLabel(dataset)
    const word = `quokka${change + warmUpChanges}`
    const section = `The ${word} opens the gate. ${filler[(change + warmUpChanges) % filler.length]}`
    said[(change + warmUpChanges) % sections] = section
    const text = textOf()
    const startedAt = performance.now()
    await put(service, dataset, text)
    const answeredMs = performance.now() - startedAt
    await untilFound(service, dataset, section, word)
    if (change >= 0) {
      answers.push(answeredMs)
      finds.push(performance.now() - startedAt)
    }
    await Bun.sleep(pauseMs)
  }
  const chunksEach = (newestLabel(dataset) - labelBefore) / changes
  return rowsOf({ chunksEach, answerMs: median(answers), foundMs: Math.max(...finds) })
}

async function put({ url }: Running, { key }: Dataset, text: string): Promise<void> {
  await bodyOf(url, { method: 'PUT', path, key, body: { name: 'Handbook', text } })
}

async function untilFound({ url }: Running, { key }: Dataset, query: string, word: string): Promise<void> {
  const body = { query, mode: 'vector', limit: 3, timeoutMs: 1_000 }
  const endsAt = performance.now() + foundWithinMs
  while (performance.now() < endsAt) {
    const answer = JSON.parse(await bodyOf(url, { method: 'POST', path: '/v1/knowledge/search', key, body }))
    if (answer.mode === 'vector' && answer.data.some(({ text }: { text: string }) => text.includes(word)))
      return
  }
  throw new Error(`${word} was not found by vector`)
}

/** The newest label. Labels are never reused, so it counts the embedded chunks. */
function newestLabel({ folder }: Dataset): number {
  const db = new Database(join(folder, 'callbook.db'))
  try {
    return Number(db.prepare('select max(label) from chunks').pluck().all()[0])
  } finally {
    db.close()
  }
}

function rowsOf(figures: { chunksEach: number; answerMs: number; foundMs: number }): Row[] {
  const { chunksEach, answerMs, foundMs } = figures
  const what = `PUT of an item of ${sections} sections, one changed`
  return [
    {
      what: `${what}: chunks embedded`,
      measured: `${chunksEach.toFixed(1)} on average`,
      target: `≤ ${chunksMax}`,
      isMet: chunksEach <= chunksMax,
    },
    {
      what: '  answered',
      measured: `p50 ${answerMs.toFixed(1)} ms`,
      target: `≤ ${answerMsMax} ms`,
      isMet: answerMs <= answerMsMax,
    },
    {
      what: '  found by vector, from the request on',
      measured: `at most ${foundMs.toFixed(1)} ms`,
      target: `≤ ${foundMsMax} ms`,
      isMet: foundMs <= foundMsMax,
    },
  ]
}
