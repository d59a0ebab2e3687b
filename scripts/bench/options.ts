import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

const caseNames = [
  'by-id',
  'list-100',
  'list-1000',
  'indexing',
  'deleting',
  'console',
  'import',
  'start',
  'scale',
] as const

export type CaseName = (typeof caseNames)[number] | 'index'

export interface Options {
  /** Folder of real data as its README describes it; null for texts that are made up from a seed. */
  data: string | null
  /** The service's entry: another one compares two states of the code. */
  main: string
  /** The one case to run; null for all. */
  only: CaseName | null
  /** Also the cases that need 1,000,000 calls. */
  scale: boolean
  /** Builds the data anew instead of taking it from an earlier run. */
  fresh: boolean
  skipIndex: boolean
  rounds: number
}

const usage = `Usage: bun run bench [options]

  --data PATH     folder with calls.jsonl and knowledge/ (default: ../shared/data when it is there, else made up)
  --only NAME     one case: ${caseNames.join(', ')}, index
  --scale         also the pages of 1,000,000 calls (two minutes and 2.4 GB of disk at first)
  --fresh         remove what earlier runs have built
  --skip-index    leave out scripts/bench/vector-index.ts
  --rounds N      rounds of service and ceiling (default 7)
  --main PATH     the service's entry (default src/main.ts)
`

/** @throws Error with the usage for what cannot be run. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      main: { type: 'string', default: join(repository, 'src/main.ts') },
      only: { type: 'string' },
      scale: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      'skip-index': { type: 'boolean', default: false },
      rounds: { type: 'string', default: '7' },
      help: { type: 'boolean', default: false },
    },
  })
  const only = [...caseNames, 'index' as const].find((name) => name === values.only) ?? null
  const rounds = Number(values.rounds)
  const isCase = values.only === undefined || only !== null
  if (values.help || !isCase || !(rounds >= 1 && rounds <= 100)) throw new Error(usage)
  return {
    data: values.data ?? realDataIfAny(),
    main: values.main,
    only,
    scale: values.scale || only === 'scale',
    fresh: values.fresh,
    skipIndex: values['skip-index'],
    rounds,
  }
}

/** The folder beside the repository; null when it is not there. */
export function realDataIfAny(): string | null {
  const folder = join(repository, '../shared/data')
  return existsSync(join(folder, 'calls.jsonl')) ? folder : null
}
