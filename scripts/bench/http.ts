import { benchById } from './by-id.ts'
import { removeCache } from './dataset.ts'
import { connections, hasWrk } from './load.ts'
import { readOptions } from './options.ts'
import { benchPage } from './pages.ts'
import { printRow, type Row } from './table.ts'
import { readTexts } from './texts.ts'

// Measures the running service against what we promise. Prints every figure, also of a target that is missed.

await main()

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options.fresh) removeCache()
  const texts = readTexts(options.data)
  process.stdout.write(
    `Bun ${Bun.version}; ${(await hasWrk()) ? 'wrk' : 'autocannon'}, ${connections} connections; ${texts.origin}\n\n`,
  )
  const cases: Record<string, () => Promise<Row[]>> = {
    'by-id': () => benchById(texts, options),
    'list-100': () => benchPage(texts, 100, options),
    'list-1000': () => benchPage(texts, 1_000, options),
  }
  for (const [name, run] of Object.entries(cases)) {
    if (options.only !== null && options.only !== name) continue
    for (const row of await run()) printRow(row)
  }
}
