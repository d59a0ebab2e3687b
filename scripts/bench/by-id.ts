import { checkSameAnswers } from './answers.ts'
import { callsCount, callsDataset } from './datasets.ts'
import { callId } from './made-calls.ts'
import { startCeiling } from './processes.ts'
import { createRandom } from './random.ts'
import { measureRatio } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatRates, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const ratioMin = 0.65
const pathsCount = 20_000

/** GET /v1/calls/:id against the ceiling, ids in random order. */
export async function benchById(texts: Texts, { start, rounds }: Options): Promise<Row[]> {
  const dataset = await callsDataset(texts)
  const service = await start(dataset)
  const ceiling = await startCeiling(dataset)
  try {
    const paths = randomCallPaths(pathsCount)
    await checkSameAnswers({ service, ceiling }, paths, dataset.key)
    const rates = await measureRatio({ service, ceiling, paths, key: dataset.key, rounds })
    return [
      {
        what: 'GET /v1/calls/:id, 20 turns, 100,000 calls',
        measured: formatRates(rates),
        target: `≥ ${ratioMin} × ceiling`,
        isMet: rates.ratio >= ratioMin,
      },
    ]
  } finally {
    await ceiling.stop()
  }
}

export function randomCallPaths(count: number): string[] {
  const random = createRandom(1)
  return Array.from({ length: count }, () => `/v1/calls/${callId(Math.floor(random() * callsCount))}`)
}
