import { checkSameAnswers } from './answers.ts'
import { callsDataset } from './datasets.ts'
import { memoryOf } from './memory.ts'
import { startPageCeiling } from './processes.ts'
import { measureRatio } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatMemory, formatRates, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const ratioMin = 0.85
const residentMbMax = 400

/** GET /v1/calls?limit=… against the ceiling, and the memory of the process after it. */
export async function benchPage(texts: Texts, limit: number, { start, rounds }: Options): Promise<Row[]> {
  const dataset = await callsDataset(texts)
  const service = await start(dataset)
  const ceiling = await startPageCeiling(dataset, { limit, offset: 0 })
  try {
    const paths = [`/v1/calls?limit=${limit}`]
    await checkSameAnswers({ service, ceiling }, paths, dataset.key)
    const rates = await measureRatio({ service, ceiling, paths, key: dataset.key, rounds })
    const memory = memoryOf(service.pid)
    return [
      {
        what: `GET /v1/calls?limit=${limit}`,
        measured: formatRates(rates),
        target: `≥ ${ratioMin} × ceiling`,
        isMet: rates.ratio >= ratioMin,
      },
      {
        what: '  memory of the process after it',
        measured: formatMemory(memory),
        target: `< ${residentMbMax} MB`,
        isMet: memory.residentMbMax < residentMbMax,
      },
    ]
  } finally {
    await ceiling.stop()
  }
}
