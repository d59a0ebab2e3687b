import { rmSync, writeFileSync } from 'node:fs'
import { type Chance, phoneNumberOf } from './chance.ts'
import { count, reading, untilNone } from './database.ts'
import type { Model } from './model.ts'
import { startCommand } from './victim.ts'

const project = 'kept for a day'
const callsPerRound = 250
const settleWithinMs = 60_000

/** A project whose calls are deleted a day after they were completed: each start finds many that are due. */
export class AgedCalls {
  readonly #dataDir: string
  readonly #model: Model
  readonly #chance: Chance
  #due: string[] = []
  #imported = 0
  #live = 0

  constructor(dataDir: string, model: Model, chance: Chance) {
    this.#dataDir = dataDir
    this.#model = model
    this.#chance = chance
  }

  async makeProject(): Promise<void> {
    await this.#run(['project', 'create', project])
    await this.#run(['project', 'set', project, '--retain-days', '1'])
  }

  /** Adds calls that are due, and an equally old live one, while the service is down. */
  async add(): Promise<void> {
    const marker = this.#chance.marker()
    const callerNumber = `+${phoneNumberOf(marker)}`
    const createdAt = '2024-01-01T00:00:00Z'
    const calls = Array.from({ length: callsPerRound }, (_, at) => ({
      id: `due-${marker}-${at}`,
      status: 'completed',
      createdAt,
      duration: at,
      callerNumber,
      transcript: [{ role: 'user', content: `turn ${at} ${marker}` }],
    }))
    const file = `${this.#dataDir}.aged.jsonl`
    const lines = [...calls, { id: `live-${this.#live}`, status: 'live', createdAt }]
    writeFileSync(file, lines.map((call) => JSON.stringify(call)).join('\n'))
    await this.#run(['calls', 'import', file, '--project', project])
    rmSync(file)
    this.#due.push(marker)
    this.#imported += callsPerRound
    this.#live++
  }

  /** Checks that everything due is deleted, and that the audit trail has counted it right. */
  async inspect(): Promise<void> {
    const own = `project_id = (select id from projects where name = '${project}')`
    const due = `calls where ${own} and status = 'completed'`
    const left = await untilNone(this.#dataDir, due, settleWithinMs)
    const open = await untilNone(this.#dataDir, 'erasures where done_at is null', settleWithinMs)
    if (left + open > 0)
      return this.#model.violated(`${left} calls are due and there, ${open} erasures are open`)
    await reading(this.#dataDir, (database) => {
      const sum = `select sum(cast(target as integer)) from audit_events where ${own} and action = 'calls_expired'`
      const counted = Number(database.prepare(sum).pluck().all()[0])
      if (counted !== this.#imported)
        this.#model.violated(`the trail counts ${counted} of ${this.#imported} calls that were due`)
      const live = count(database, `calls where ${own}`)
      if (live !== this.#live) this.#model.violated(`${live} of ${this.#live} live calls are left`)
    })
    for (const marker of this.#due) this.#model.deadMarkers.add(marker)
    for (let n = 0; n < callsPerRound * this.#due.length; n++) this.#model.count('calls gone by retention')
    this.#due = []
  }

  async #run(args: string[]): Promise<void> {
    const { code, err } = await startCommand(this.#dataDir, args).done
    if (code !== 0) this.#model.violated(`${args.slice(0, 2).join(' ')} ended with ${code}: ${err}`)
  }
}
