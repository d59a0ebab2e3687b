import { parseArgs } from 'node:util'

export interface TortureOptions {
  seed: number
  /** Ends after this many kills … */
  kills: number
  /** … or after this time. */
  minutes: number
  /** Only recordings: kills while they arrive, are replaced and are deleted. */
  recordings: boolean
}

const usage = `Usage: bun run torture [options]

  --seed S      seed of all random choices (default: the time; it is printed)
  --kills N     how often to kill the service (default 200)
  --minutes M   when to stop in any case (default 60)
  --recordings  kill it while recordings arrive, are replaced and are deleted, and nothing else
`

/** @throws Error with the usage for invalid options */
export function readOptions(args: string[]): TortureOptions {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      kills: { type: 'string', default: '200' },
      minutes: { type: 'string', default: '60' },
      recordings: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [seed, kills, minutes] = [Number(values.seed), Number(values.kills), Number(values.minutes)]
  const isValid = Number.isSafeInteger(seed) && kills >= 1 && minutes > 0
  if (values.help || !isValid) throw new Error(usage)
  return { seed, kills, minutes, recordings: values.recordings }
}
