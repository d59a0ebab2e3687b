import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { callDetails, calls, type Price } from '../../db/schema.ts'
import { invalidRequest } from '../../errors.ts'
import { readStored } from '../details.ts'
import type { Ingest } from '../writing/ingest.ts'
import { costOf } from './prices.ts'

const callsPerPage = 200

interface CostsParts {
  ingest: Pick<Ingest, 'putAll'>
  /** Those of the service, for projects without their own. */
  prices: readonly Price[] | null
}

/** How often each model, or a part of its use, has no price. */
type Missing = Record<string, number>

/** The costs that are computed of what calls used. */
export class Costs {
  readonly #parts: Core & CostsParts

  constructor(core: Core, parts: CostsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** What those prices lack for the calls that began since a time, of a project or of all. */
  async missing(prices: readonly Price[], since: number, projectId?: number): Promise<Missing> {
    const missing: Missing = {}
    for await (const page of this.#pages(since, projectId))
      for (const { usage, createdAt } of page) note(missing, costOf(usage, prices, createdAt))
    return missing
  }

  /**
   * Computes again what was computed, or could not be; never what a platform has said. @throws invalid_request without
   * prices
   */
  async apply(projectId: number, { since, isDryRun }: { since: number; isDryRun: boolean }) {
    const { settingsOf, ingest } = this.#parts
    const prices = (await settingsOf(projectId)).prices ?? this.#parts.prices
    if (prices === null) throw invalidRequest([{ field: 'project', message: 'has no prices' }])
    const counts = { calls: 0, changed: 0, missing: {} as Missing }
    for await (const page of this.#pages(since, projectId)) {
      const open = page.filter(({ costUsd, costSource }) => costUsd === null || costSource === 'computed')
      const changed = open.filter(({ usage, createdAt, costUsd, costMissing }) => {
        const cost = costOf(usage, prices, createdAt)
        note(counts.missing, cost)
        return 'missing' in cost ? String(cost.missing) !== String(costMissing) : cost.costUsd !== costUsd
      })
      counts.calls += open.length
      counts.changed += changed.length
      if (isDryRun) continue
      const audited = { actions: [] }
      await ingest.putAll(
        projectId,
        changed.map(({ id }) => ({ id, change: {}, isRepriced: true, audited })),
      )
    }
    return counts
  }

  async *#pages(since: number, projectId?: number) {
    const ofProject: SQL = projectId === undefined ? sql`true` : sql`${calls.projectId} = ${projectId}`
    for (let after = 0; ; ) {
      const rows = await this.#parts.read
        .select({ seq: calls.seq, id: calls.id, createdAt: calls.createdAt, details: callDetails.details })
        .from(calls)
        .innerJoin(callDetails, sql`${callDetails.seq} = ${calls.seq} and instr(details, '"usage":[') > 0`)
        .where(
          sql`${ofProject} and ${calls.seq} > ${after} and status = 'completed' and ${calls.createdAt} >= ${since}`,
        )
        .orderBy(calls.seq)
        .limit(callsPerPage)
      yield rows.map(({ details, ...row }) => {
        const { usage, ...stored } = readStored(details)
        return { ...stored, ...row, usage: usage ?? [] }
      })
      const last = rows.at(-1)
      if (!last || rows.length < callsPerPage) return
      after = last.seq
    }
  }
}

function note(missing: Missing, cost: ReturnType<typeof costOf>): void {
  if ('missing' in cost) for (const name of cost.missing) missing[name] = (missing[name] ?? 0) + 1
}
