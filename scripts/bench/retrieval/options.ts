import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { realDataIfAny, repository } from '../options.ts'

const caseNames = ['quality', 'latency', 'indexing', 'deadline', 'items'] as const

export type CaseName = (typeof caseNames)[number]

export interface Options {
  /** Folder of real data as its README describes it; null for texts that are made up from a seed. */
  data: string | null
  /** The service's entry: another one compares two states of the code. */
  main: string
  /** The one case to run; null for all. */
  only: CaseName | null
  /** Builds the data anew instead of taking it from an earlier run. */
  fresh: boolean
  /** Names items by the titles of their passages, which may give the answer away. */
  titles: boolean
}

const usage = `Usage: bun run bench:retrieval [options]

  --data PATH     folder with retrieval/, knowledge/ and calls.jsonl (default: ../shared/data when it is there)
  --only NAME     one case: ${caseNames.join(', ')}
  --titles        name items by their passages' titles instead of "Article 17"
  --fresh         remove what earlier runs have built
  --main PATH     the service's entry (default src/main.ts)

With HF_TOKEN or EMBEDDING_ENDPOINT set, the quality is also measured with Hugging Face (EMBEDDING_MODEL).
`

/** @throws Error with the usage for what cannot be run. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      main: { type: 'string', default: join(repository, 'src/main.ts') },
      only: { type: 'string' },
      fresh: { type: 'boolean', default: false },
      titles: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const only = caseNames.find((name) => name === values.only) ?? null
  if (values.help || (values.only !== undefined && only === null)) throw new Error(usage)
  const { fresh, titles } = values
  return { data: values.data ?? realDataIfAny(), main: resolve(values.main), only, fresh, titles }
}
