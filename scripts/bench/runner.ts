import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Running, startService } from '../processes.ts'
import { repository } from '../repository.ts'
import { removeTemporaryFolders } from '../temporary.ts'
import { printRow, type Row, row, writeFigures } from './figures.ts'
import { readTexts, type Texts } from './texts.ts'

const figuresFile = join(repository, 'src/guide/figures.md')
const roundsMax = 100

export interface Options {
  texts: Texts
  /** Folder of real data; null for texts that are generated from a seed. */
  data: string | null
  /** Starts the service on a folder. It stops after the case, and temporary folders are removed then. */
  start: typeof startService
  /** How often a comparison measures each side. */
  rounds: number
  /** How many calls and chunks a case has that takes any number. */
  calls: number
  chunks: number
}

export interface Case {
  name: string
  run(options: Options): Promise<Row[]>
  /** Takes minutes and gigabytes, so it runs only with --all or --only. */
  isLarge?: boolean
}

export interface Suite {
  /** The script of package.json that runs it. */
  command: string
  title: string
  /** How to read the figures: a sentence or two. */
  about: string
  cases: Case[]
  /** Of the options with a number. */
  defaults?: { rounds?: number; calls?: number }
  /** Stops what the cases share. */
  close?(): Promise<void>
}

/**
 * Runs a suite with the options of the command line, prints each figure and ends the process: with 1 if a target is
 * missed or a case fails.
 */
export async function runSuite(suite: Suite): Promise<never> {
  process.once('exit', () => removeTemporaryFolders('run'))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  try {
    process.exit((await measureAll(suite)) ? 0 : 1)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

async function measureAll(suite: Suite): Promise<boolean> {
  const { only, all, write, ...options } = readArguments(suite)
  const texts = readTexts(options.data)
  const machine = `Bun ${Bun.version}, ${cpus().length} cores (${cpus()[0]?.model}), ${texts.kind} texts`
  process.stdout.write(`${machine}\n\n`)
  const figures = new Map<string, Row[]>()
  for (const { name, run, isLarge = false } of suite.cases) {
    if (only ? !only.includes(name) : isLarge && !all) continue
    const started: Running[] = []
    const start: typeof startService = async (...given) => {
      const service = await startService(...given)
      started.push(service)
      return service
    }
    // A failed case does not stop the others.
    const rows = await run({ ...options, texts, start }).catch((error) => [
      row(name, error instanceof Error ? error.message : String(error), 'to be measured', false),
    ])
    for (const service of started) await service.stop()
    removeTemporaryFolders('case')
    for (const each of rows) printRow(each)
    figures.set(name, rows)
  }
  await suite.close?.()
  if (write) {
    const date = new Date().toISOString().slice(0, 10)
    const text = readFileSync(figuresFile, 'utf8')
    writeFileSync(figuresFile, writeFigures(text, { suite, figures, origin: `${date}, ${machine}` }))
    // Aligns the table, as `bun run check` demands.
    execFileSync(join(repository, 'node_modules/.bin/biome'), ['format', '--write', figuresFile])
  }
  return [...figures.values()].flat().every(({ isMet }) => isMet !== false)
}

/** @throws Error with the usage for invalid options */
function readArguments({ command, cases, defaults }: Suite) {
  const { rounds = 3, calls = 1_000_000 } = defaults ?? {}
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      only: { type: 'string' },
      all: { type: 'boolean', default: false },
      rounds: { type: 'string', default: String(rounds) },
      calls: { type: 'string', default: String(calls) },
      chunks: { type: 'string', default: '100000' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const only = values.only?.split(',')
  const names = cases.map(({ name }) => name)
  const given = { rounds: Number(values.rounds), calls: Number(values.calls), chunks: Number(values.chunks) }
  const isValid =
    (only ?? []).every((name) => names.includes(name)) && given.rounds >= 1 && given.rounds <= roundsMax
  if (isValid && !values.help)
    return { ...given, only, all: values.all, write: values.write, data: values.data ?? findRealData() }
  const large = cases.filter(({ isLarge }) => isLarge).map(({ name }) => name)
  throw new Error(`Usage: bun run ${command} [options]

  --only NAMES    some cases: ${names.join(',')}
  --all           also the cases that take minutes and gigabytes: ${large.join(', ') || 'none here'}
  --write         write the figures into src/guide/figures.md
  --data PATH     folder with calls.jsonl, knowledge/ and retrieval/ (default: ../shared/data if it exists, else generated)
  --rounds N      how often a comparison measures each side (default ${rounds})
  --calls N       how many calls the cases have that take any number (default ${calls})
  --chunks N      the same for chunks (default 100000)
`)
}

/** The folder beside the repository; null when it is not there. */
export function findRealData(): string | null {
  const folder = join(repository, '../shared/data')
  return existsSync(join(folder, 'calls.jsonl')) ? folder : null
}
