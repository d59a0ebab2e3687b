import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { calls } from '../../db/schema.ts'
import { notFound } from '../../errors.ts'
import { toIso } from '../../text/instant.ts'
import type { Condition } from '../finding/conditions.ts'
import type { CallSelections } from './call-selection.ts'
import type { CallerAddress } from './caller-address.ts'
import type { HoldRecord, Holds } from './holds.ts'

/** What a project has of a phone number. */
export interface CallerRecord {
  /** The caller's id in the address of the page: see caller-address.ts. */
  id: string
  number: string
  /** The same as people read it. */
  shownNumber: string
  calls: number
  /** How many of them are on hold. */
  onHold: number
  /** When the first and the newest call were created, ISO 8601; null without calls. */
  firstAt: string | null
  lastAt: string | null
}

interface CallersParts {
  selections: CallSelections
  holds: Holds
  addresses: CallerAddress
}

/** The people behind phone numbers. Requests name them by an address that does not show the number. */
export class Callers {
  readonly #parts: Core & CallersParts

  constructor(core: Core, parts: CallersParts) {
    this.#parts = { ...core, ...parts }
  }

  /** The address of a whole phone number, however it is written. @throws invalid_request */
  async find(projectId: number, number: string): Promise<{ id: string }> {
    const { selections, addresses } = this.#parts
    const { text } = await selections.matcher(projectId, number)
    return { id: addresses.write(projectId, text) }
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<CallerRecord> {
    const { store, selections, holds } = this.#parts
    const number = this.#numberOf(projectId, id)
    const db = store(projectId).readForConsole
    const selection = await selections.of(db, projectId, { number })
    const [totals = { calls: 0, first: null, last: null }] = await db
      .select({
        calls: sql<number>`count(*)`,
        first: sql<number | null>`min(created_at)`,
        last: sql<number | null>`max(created_at)`,
      })
      .from(
        sql`(${selection}) as some cross join ${calls} on calls.seq = some.seq and project_id = ${projectId}`,
      )
    const { seqs } = await holds.among(db, projectId, selection)
    const times = { firstAt: toIso(totals.first), lastAt: toIso(totals.last) }
    const { formatNumber } = await import('./phone-number.ts')
    const shownNumber = formatNumber(number)
    return { id, number, shownNumber, calls: totals.calls, onHold: seqs.size, ...times }
  }

  /** The holds on the number itself. @throws not_found */
  async holds(projectId: number, id: string): Promise<HoldRecord[]> {
    const { selections, holds } = this.#parts
    const { matches } = await selections.matcher(projectId, this.#numberOf(projectId, id))
    return (await holds.list(projectId)).filter(({ number }) => number !== null && matches(number))
  }

  /** What the person's calls meet. @throws not_found */
  async conditionOf(projectId: number, id: string): Promise<Condition> {
    const { store, selections } = this.#parts
    return await selections.conditionOf(
      store(projectId).readForConsole,
      projectId,
      this.#numberOf(projectId, id),
    )
  }

  #numberOf(projectId: number, id: string): string {
    const number = this.#parts.addresses.read(projectId, id)
    if (number === null) throw notFound('There is no such person.')
    return number
  }
}
