import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { benchById } from './by-id.ts'
import { benchConsole } from './console.ts'
import { removeCache } from './dataset.ts'
import { benchDeleting } from './deleting.ts'
import { benchImport } from './importing.ts'
import { benchIndexing } from './indexing.ts'
import { connections, hasWrk } from './load.ts'
import { type CaseName, type Options, readOptions } from './options.ts'
import { benchPage } from './pages.ts'
import { benchScale } from './scale.ts'
import { benchStart } from './starting.ts'
import { printRow, type Row } from './table.ts'
import { readTexts, type Texts } from './texts.ts'

// Measures the service as people run it against what we promise, each case in a process of its own. Prints
// every figure, also of a target that is missed.

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options.fresh) removeCache()
  const texts = readTexts(options.data)
  const by = (await hasWrk()) ? 'wrk' : 'autocannon'
  process.stdout.write(`Bun ${Bun.version}, ${by}, ${connections} connections, ${texts.origin}\n\n`)
  for (const [name, run] of casesOf(texts, options)) {
    if (options.only === null ? name === 'scale' && !options.scale : options.only !== name) continue
    for (const row of await run().catch((error) => [failedRow(name, error)])) printRow(row)
  }
  const isIndexWanted = options.only === null ? !options.skipIndex : options.only === 'index'
  if (isIndexWanted) printIndexFigures()
}

/** The other cases still tell something. */
function failedRow(name: CaseName, error: unknown): Row {
  const measured = error instanceof Error ? error.message : String(error)
  return { what: name, measured, target: 'to be measured', isMet: false }
}

function casesOf(texts: Texts, options: Options): [CaseName, () => Promise<Row[]>][] {
  return [
    ['by-id', () => benchById(texts, options)],
    ['list-100', () => benchPage(texts, 100, options)],
    ['list-1000', () => benchPage(texts, 1_000, options)],
    ['indexing', () => benchIndexing(texts, options)],
    ['deleting', () => benchDeleting(texts, options)],
    ['console', () => benchConsole(texts, options)],
    ['import', () => benchImport(texts, options)],
    ['start', () => benchStart(texts, options)],
    ['scale', () => benchScale(texts, options)],
  ]
}

function printIndexFigures(): void {
  const script = fileURLToPath(new URL('vector-index.ts', import.meta.url))
  if (!existsSync(script)) return
  process.stdout.write('\nVector index:\n')
  spawnSync(process.execPath, [script], { stdio: 'inherit' })
}
