import { fewCallsCount, hourDataset, manyCallsCount, yearDataset } from './datasets.ts'
import { callId } from './made-calls.ts'
import type { Running } from './processes.ts'
import { measureInTurn, type Round, ratioOf, readsOf } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatCount, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const limit = 100
const firstPageRatioMax = 1.25
const otherPageRatioMax = 2
const otherOffsets = [...[0.1, 0.5, 0.9].map((share) => share * manyCallsCount), manyCallsCount - limit]

/** Pages of 1,000,000 calls of a year: the first compared with that of 10,000 calls, the others with the first. */
export async function benchScale(texts: Texts, { start, rounds }: Options): Promise<Row[]> {
  const [few, many] = [await yearDataset(texts, fewCallsCount), await yearDataset(texts, manyCallsCount)]
  const small = await start(few)
  const large = await start(many)
  try {
    const targets = [readsOf(small, [pathOf(0)], few.key), ...(await pagesOf(large, many.key))]
    const [firstOfFew = [], first = [], ...others] = await measureInTurn(targets, rounds)
    const growth = { what: 'first page of 1,000,000 calls against 10,000', ratioMax: firstPageRatioMax }
    return [compare(firstOfFew, first, growth), ...compareWithFirst(first, others)]
  } finally {
    await small.stop()
    await large.stop()
  }
}

/** Pages of 1,000,000 calls of one hour, compared with the first. */
export async function benchHour(texts: Texts, { start, rounds }: Options): Promise<Row[]> {
  const dataset = await hourDataset(texts, manyCallsCount)
  const service = await start(dataset)
  const [first = [], ...others] = await measureInTurn(await pagesOf(service, dataset.key), rounds)
  return compareWithFirst(first, others)
}

/** The first page and the others, to be measured. */
async function pagesOf(server: Running, key: string) {
  const offsets = [0, ...otherOffsets]
  for (const offset of offsets) await checkPage(server, key, offset)
  return offsets.map((offset) => readsOf(server, [pathOf(offset)], key))
}

function compareWithFirst(first: Round[], others: Round[][]): Row[] {
  return others.map((page, index) => {
    const what = `  page of ${limit} at offset ${formatCount(otherOffsets[index] ?? 0)} against the first`
    return compare(first, page, { what, ratioMax: otherPageRatioMax })
  })
}

function compare(page: Round[], other: Round[], { what, ratioMax }: { what: string; ratioMax: number }): Row {
  const { ratio, ceiling, service } = ratioOf(page, other)
  const rates = [ceiling, service].map(({ requestsPerSecond }) => formatCount(requestsPerSecond))
  const times = [ceiling, service].map(({ processorUsPerRequest }) => formatCount(processorUsPerRequest))
  return {
    what,
    measured: `${ratio.toFixed(2)} × the time: ${rates.join(' and ')} requests/s; processor ${times.join(' and ')} us a request`,
    target: `≤ ${ratioMax} ×`,
    isMet: ratio <= ratioMax,
  }
}

function pathOf(offset: number): string {
  return `/v1/calls?limit=${limit}&offset=${offset}`
}

/** The service did not write these rows itself. @throws when they are not the page at that offset */
async function checkPage({ url }: Running, key: string, offset: number): Promise<void> {
  const response = await fetch(url + pathOf(offset), { headers: { authorization: `Bearer ${key}` } })
  const page: { data: { id: string }[]; pagination: { total: number } } = await response.json()
  const expected = Array.from({ length: limit }, (_, index) => callId(manyCallsCount - 1 - offset - index))
  const isRight =
    page.pagination.total === manyCallsCount && page.data.every(({ id }, index) => id === expected[index])
  if (!isRight || page.data.length !== limit)
    throw new Error(`The page at offset ${offset} is not the right one`)
}
