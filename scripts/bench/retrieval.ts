import { removeCachedCorpora } from './retrieval/cached-corpus.ts'
import { benchDeadline } from './retrieval/deadline.ts'
import { benchIndexing } from './retrieval/indexing.ts'
import { benchItems } from './retrieval/items.ts'
import { benchLatency } from './retrieval/latency.ts'
import { type CaseName, type Options, readOptions } from './retrieval/options.ts'
import { benchQuality, type EmbedderChoice } from './retrieval/quality.ts'
import { readQuestionSets } from './retrieval/sets.ts'
import { removeTemporaryFolders } from './retrieval/temporary.ts'
import { printRow, type Row } from './table.ts'
import { readTexts } from './texts.ts'

// Measures how well and how fast the service finds, over HTTP, against what we promise. Prints every figure,
// also of a target that is missed.

const builtin: EmbedderChoice = { name: 'builtin', environment: { EMBEDDING_PROVIDER: 'builtin' } }

try {
  process.once('exit', removeTemporaryFolders)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options.fresh) removeCachedCorpora()
  const texts = readTexts(options.data)
  process.stdout.write(`Bun ${Bun.version}, ${texts.origin}\n\n`)
  const isWanted = (name: CaseName) => options.only === null || options.only === name
  if (isWanted('quality')) await printQuality(options)
  for (const [name, measure] of [
    ['latency', benchLatency],
    ['items', benchItems],
    ['indexing', benchIndexing],
    ['deadline', benchDeadline],
  ] as const)
    if (isWanted(name)) await printRows(name, () => measure(texts, options))
}

async function printQuality(options: Options): Promise<void> {
  const sets = readQuestionSets(options.data)
  if (sets.length === 0) {
    process.stdout.write('Quality was not measured: no folder of data with retrieval/ was found or given.\n')
    return
  }
  for (const set of sets) await printRows('quality', () => benchQuality(set, builtin, options))
  const huggingFace = huggingFaceIfAny()
  if (!huggingFace) {
    process.stdout.write(
      'Hugging Face was not measured: neither HF_TOKEN nor EMBEDDING_ENDPOINT configures an endpoint.\n',
    )
    return
  }
  for (const set of sets) await printRows('quality', () => benchQuality(set, huggingFace, options))
}

function huggingFaceIfAny(): EmbedderChoice | null {
  const { HF_TOKEN, EMBEDDING_ENDPOINT, EMBEDDING_MODEL } = process.env
  if (!HF_TOKEN && !EMBEDDING_ENDPOINT) return null
  const environment: Record<string, string> = { EMBEDDING_PROVIDER: 'huggingface' }
  if (HF_TOKEN) environment.HF_TOKEN = HF_TOKEN
  if (EMBEDDING_ENDPOINT) environment.EMBEDDING_ENDPOINT = EMBEDDING_ENDPOINT
  if (EMBEDDING_MODEL) environment.EMBEDDING_MODEL = EMBEDDING_MODEL
  return { name: 'Hugging Face', environment }
}

/** When one case fails, the others still tell something. */
async function printRows(name: CaseName, measure: () => Promise<Row[]>): Promise<void> {
  process.stderr.write(`Measuring ${name} …\n`)
  const rows = await measure().catch((error): Row[] => {
    const measured = error instanceof Error ? error.message : String(error)
    return [{ what: name, measured, target: 'to be measured', isMet: false }]
  })
  for (const row of rows) printRow(row)
}
