import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { repository } from '../repository.ts'
import { removeCache } from './dataset.ts'
import { writeFigures } from './figures.ts'
import { type Running, startService } from './processes.ts'
import { printRow, type Row } from './table.ts'
import { removeTemporaryFolders } from './temporary.ts'
import { readTexts, type Texts } from './texts.ts'

const figuresFile = join(repository, 'src/guide/figures.md')
const roundsMax = 100

export type Start = (data: { folder: string }, environment?: Record<string, string>) => Promise<Running>

export interface Options {
  /** Folder of real data; null for texts that are generated from a seed. */
  data: string | null
  /** The entry file of the service under test, also one of another checkout. */
  main: string
  /** Starts the service under test on a folder. It stops after the case, and temporary folders are removed then. */
  start: Start
  /** How often a comparison measures each side. */
  rounds: number
  /** How many calls and chunks a case has that takes any number. */
  calls: number
  chunks: number
}

export interface Case {
  name: string
  run(texts: Texts, options: Options): Promise<Row[]>
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
    process.exit((await measure(suite)) ? 0 : 1)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

async function measure(suite: Suite): Promise<boolean> {
  const { values } = readArguments(suite)
  const only = values.only?.split(',')
  const options = {
    data: values.data ?? findRealData(),
    main: resolve(values.main),
    rounds: Number(values.rounds),
    calls: Number(values.calls),
    chunks: Number(values.chunks),
  }
  if (values.fresh) removeCache()
  const texts = readTexts(options.data)
  const machine = `Bun ${Bun.version}, ${cpus().length} cores (${cpus()[0]?.model}), ${texts.kind} texts`
  process.stdout.write(`${machine}\n\n`)
  const figures = new Map<string, Row[]>()
  for (const { name, run, isLarge = false } of suite.cases) {
    if (only ? !only.includes(name) : isLarge && !values.all) continue
    const started: Running[] = []
    const start: Start = async (data, environment) => {
      const service = await startService(options.main, data, environment)
      started.push(service)
      return service
    }
    // A failed case does not stop the others.
    const rows = await run(texts, { ...options, start }).catch((error) => [failedRow(name, error)])
    for (const service of started) await service.stop()
    removeTemporaryFolders('case')
    for (const row of rows) printRow(row)
    figures.set(name, rows)
  }
  await suite.close?.()
  if (values.write) {
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
  const { rounds: roundsDefault = 7, calls: callsDefault = 1_000_000 } = defaults ?? {}
  const parsed = parseArgs({
    args: process.argv.slice(2),
    options: {
      data: { type: 'string' },
      only: { type: 'string' },
      all: { type: 'boolean', default: false },
      rounds: { type: 'string', default: String(roundsDefault) },
      calls: { type: 'string', default: String(callsDefault) },
      chunks: { type: 'string', default: '20000' },
      main: { type: 'string', default: join(repository, 'src/main.ts') },
      fresh: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { only, rounds, help } = parsed.values
  const names = cases.map(({ name }) => name)
  const areCases = only?.split(',').every((name) => names.includes(name)) ?? true
  if (!help && areCases && Number(rounds) >= 1 && Number(rounds) <= roundsMax) return parsed
  throw new Error(`Usage: bun run ${command} [options]

  --only NAMES    some cases: ${names.join(',')}
  --all           also the cases that take minutes and gigabytes: ${
    cases
      .filter(({ isLarge }) => isLarge)
      .map(({ name }) => name)
      .join(', ') || 'none here'
  }
  --write         write the figures into src/guide/figures.md
  --data PATH     folder with calls.jsonl, knowledge/ and retrieval/ (default: ../shared/data if it exists, else generated)
  --rounds N      how often a comparison measures each side (default ${roundsDefault})
  --calls N       how many calls the cases have that take any number (default ${callsDefault})
  --chunks N      the same for chunks (default 20000)
  --fresh         remove the datasets that earlier runs have built
  --main PATH     entry file of the service (default src/main.ts)
`)
}

function failedRow(name: string, error: unknown): Row {
  const measured = error instanceof Error ? error.message : String(error)
  return { what: name, measured, target: 'to be measured', isMet: false }
}

/** The folder beside the repository; null when it is not there. */
export function findRealData(): string | null {
  const folder = join(repository, '../shared/data')
  return existsSync(join(folder, 'calls.jsonl')) ? folder : null
}
