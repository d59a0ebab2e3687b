import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyDataset } from './dataset.ts'
import { runCommand } from './processes.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatCount, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const callsPerSecondMin = 3_000
const runs = 3

/** `bun callbook calls import` of the 8,000 calls into an empty project. */
export async function benchImport(texts: Texts, { data }: Options): Promise<Row[]> {
  const rates: number[] = []
  const wholeSeconds: number[] = []
  for (let run = 0; run < runs; run++) {
    const dataset = await emptyDataset()
    const file = data === null ? writeCalls(dataset.folder, texts) : join(data, 'calls.jsonl')
    const startedAt = performance.now()
    const args = ['scripts/callbook.ts', 'calls', 'import', file, '--project', 'bench', '--json']
    const printed = await runCommand(args, { DATA_DIR: dataset.folder })
    wholeSeconds.push((performance.now() - startedAt) / 1_000)
    const { imported, seconds }: { imported: number; seconds: number } = JSON.parse(printed)
    if (imported !== texts.dialogues.length) throw new Error(`Only ${imported} calls were imported`)
    rates.push(imported / seconds)
  }
  const rate = median(rates)
  return [
    {
      what: `bun callbook calls import, ${formatCount(texts.dialogues.length)} calls`,
      measured: `${formatCount(rate)} a second; ${median(wholeSeconds).toFixed(1)} s for the whole command`,
      target: `≥ ${formatCount(callsPerSecondMin)} a second`,
      isMet: rate >= callsPerSecondMin,
    },
  ]
}

function writeCalls(folder: string, { dialogues }: Texts): string {
  const file = join(folder, 'calls.jsonl')
  writeFileSync(file, dialogues.map((dialogue) => `${JSON.stringify(dialogue)}\n`).join(''))
  return file
}
