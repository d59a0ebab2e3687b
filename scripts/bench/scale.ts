import { fewCallsCount, manyCallsCount, yearDataset } from './datasets.ts'
import { callId } from './made-calls.ts'
import { type Running, startService } from './processes.ts'
import { measureInTurn, ratioOf } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatCount, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const limit = 100
const firstPageRatioMax = 1.25
const otherPageRatioMax = 2

/** Pages of 1,000,000 calls: the first compared with that of 10,000 calls, the others with the first. */
export async function benchScale(texts: Texts, { main, rounds }: Options): Promise<Row[]> {
  const [few, many] = [await yearDataset(texts, fewCallsCount), await yearDataset(texts, manyCallsCount)]
  const small = await startService(main, few)
  const large = await startService(main, many)
  try {
    const offsets = [0, 0.1, 0.5, 0.9].map((share) => share * manyCallsCount)
    offsets.push(manyCallsCount - limit)
    for (const offset of offsets) await checkPage(large, many.key, offset)
    const target = (server: Running, key: string, offset: number) => ({
      server,
      key,
      paths: [pathOf(offset)],
    })
    const [first = [], ...pages] = await measureInTurn(
      [target(small, few.key, 0), ...offsets.map((offset) => target(large, many.key, offset))],
      rounds,
    )
    const [firstOfMany = [], ...others] = pages
    const growth = ratioOf(first, firstOfMany)
    const rows: Row[] = [
      {
        what: 'first page of 1,000,000 calls against 10,000',
        measured: `${growth.ratio.toFixed(2)} × the time: ${formatCount(growth.ceiling.requestsPerSecond)} and ${formatCount(growth.service.requestsPerSecond)} requests/s`,
        target: `≤ ${firstPageRatioMax} ×`,
        isMet: growth.ratio <= firstPageRatioMax,
      },
    ]
    for (const [index, page] of others.entries()) {
      const slower = ratioOf(firstOfMany, page)
      rows.push({
        what: `  page of 100 at offset ${formatCount(offsets[index + 1] ?? 0)} against the first`,
        measured: `${slower.ratio.toFixed(2)} × the time: ${formatCount(slower.ceiling.requestsPerSecond)} and ${formatCount(slower.service.requestsPerSecond)} requests/s`,
        target: `≤ ${otherPageRatioMax} ×`,
        isMet: slower.ratio <= otherPageRatioMax,
      })
    }
    return rows
  } finally {
    await small.stop()
    await large.stop()
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
