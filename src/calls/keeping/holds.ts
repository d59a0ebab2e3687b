import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { rowOfCall } from '../../audit/targets.ts'
import type { Core } from '../../core/core.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { ownsProject, type Requirement } from '../../db/requirements.ts'
import { calls, erasures, holds, projects } from '../../db/schema.ts'
import type { Erasure } from '../../erasure/erasure.ts'
import { AppError, callNotFound, type FieldError, invalidRequest, notFound } from '../../errors.ts'
import type { ActedBy } from '../../identity.ts'
import { newId } from '../../ids.ts'

const holdsMax = 1_000
const numberCharsMax = 200
const reasonCharsMax = 500

interface NewHold {
  /** The id of a call; exactly one of this and `number`. */
  callId?: string | undefined
  number?: string | undefined
  reason: string
  createdBy?: string | null
}

/** A hold as people see it. */
export interface HoldRecord {
  id: string
  callId: string | null
  number: string | null
  reason: string
  createdAt: string
  createdBy: string | null
}

/** The calls on hold, among some. */
export interface CallsOnHold {
  /** Row numbers of the calls on hold. */
  seqs: ReadonlySet<number>
  /** The requirement of a batch that deletes the others: no hold was set since. */
  isAsSeen: Requirement
}

interface HoldsParts {
  erasure: Pick<Erasure, 'schedule'>
}

/**
 * Legal holds: a call on hold is not deleted until the hold is lifted. A hold on a number covers all of its calls, also
 * those that arrive later.
 */
export class Holds {
  readonly #parts: Core & HoldsParts

  constructor(core: Core, parts: HoldsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @throws invalid_request; not_found for an unknown call; forbidden unless `by` owns the project */
  async set(projectId: number, input: NewHold, by?: ActedBy): Promise<HoldRecord> {
    const { store, audit, now } = this.#parts
    const { write } = store(projectId)
    const { callId = null, number = null, reason, createdBy = null } = input
    await this.#refuse(projectId, input)
    const row = { id: newId('hold'), projectId, callId, number, reason, createdAt: now(), createdBy }
    const isThere = sql`exists (select 1 from ${calls} where project_id = ${projectId} and id = ${callId})`
    const requirements = [
      ownsProject(projectId, by),
      { condition: callId === null ? sql`true` : isThere, otherwise: callNotFound },
    ]
    await write.batchIf(requirements, {
      set: write.insert(holds).values(row),
      entry: audit.entry({ by, projectId, action: 'hold_set', ...this.#targetOf(row) }),
    })
    return toRecord(row)
  }

  /** Returns the holds, oldest first. */
  async list(projectId: number): Promise<HoldRecord[]> {
    return (await this.#read(this.#parts.store(projectId).read, projectId)).map(toRecord)
  }

  /** Lifts a hold. Its number and reason are erased like a deleted call. @throws not_found, forbidden */
  async lift(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; lifted: true }> {
    const { store, audit, erasure, now } = this.#parts
    const { write } = store(projectId)
    const isThis = and(eq(holds.projectId, projectId), eq(holds.id, id))
    const [hold] = await write.select().from(holds).where(isThis)
    if (!hold) throw noSuchHold()
    const { lifted } = await write.batchIf([ownsProject(projectId, by)], {
      ledger: sql`
          insert into ${erasures} (project_id, kind, id_hash, change_seq, requested_at)
          select projects.id, 'hold', holds.id, change_seq, ${now()}
          from ${holds} join ${projects} on projects.id = project_id where project_id = ${projectId} and holds.id = ${id}`,
      lifted: write.delete(holds).where(isThis).returning({ id: holds.id }),
      entry: audit.entry({ by, projectId, action: 'hold_lifted', ...this.#targetOf(hold) }),
    })
    if (lifted.length === 0) throw noSuchHold()
    erasure.schedule(projectId)
    return { id, lifted: true }
  }

  /** The holds that cover a call. @throws not_found */
  async ofCall(projectId: number, id: string): Promise<HoldRecord[]> {
    const { read } = this.#parts.store(projectId)
    const [call] = await read
      .select({ id: calls.id, callerNumber: calls.callerNumber, calledNumber: calls.calledNumber })
      .from(calls)
      .where(and(eq(calls.projectId, projectId), eq(calls.id, id)))
    if (!call) throw callNotFound()
    const all = await this.#read(read, projectId)
    const { covers } = await this.#coverage(projectId, all)
    return all.filter((hold) => covers(hold, call)).map(toRecord)
  }

  /**
   * The calls on hold, among some. Every deletion of calls asks this, and puts `isAsSeen` into its batch.
   * @param selection selects row numbers as `seq`
   */
  async among(db: ReadDatabase, projectId: number, selection: SQL): Promise<CallsOnHold> {
    const all = await this.#read(db, projectId)
    const isAsSeen = {
      condition: sql`not exists (
        select 1 from ${holds} where project_id = ${projectId} and seq > ${all.at(-1)?.seq ?? 0})`,
      otherwise: () => new HoldWasSet(),
    }
    if (all.length === 0) return { seqs: new Set(), isAsSeen }
    const { covers, tails } = await this.#coverage(projectId, all)
    const ids = all.flatMap(({ callId }) => callId ?? [])
    const ends = (column: string) => sql`substr(${sql.raw(column)}, -length(value)) = value`
    const candidates = await db
      .select({
        seq: sql<number>`calls.seq`,
        id: sql<string>`id`,
        callerNumber: sql<string | null>`caller_number`,
        calledNumber: sql<string | null>`called_number`,
      })
      .from(sql`(${selection}) as some cross join ${calls} on calls.seq = some.seq`)
      .where(sql`project_id = ${projectId} and (id in (select value from json_each(${JSON.stringify(ids)}))
        or exists (select 1 from json_each(${JSON.stringify(tails)})
          where ${ends('caller_digits')} or ${ends('called_digits')}))`)
    const seqs = candidates.filter((call) => all.some((hold) => covers(hold, call))).map(({ seq }) => seq)
    return { seqs: new Set(seqs), isAsSeen }
  }

  /** A call is named by its keyed hash, so that nothing of it outlasts it in the audit trail; a number not at all. */
  #targetOf({ id, projectId, callId }: Pick<Hold, 'id' | 'projectId' | 'callId'>) {
    if (callId === null) return { target: id, targetRef: id }
    const target = `${this.#parts.recordHash(projectId, 'call', callId)}: ${id}`
    return { target, targetRef: rowOfCall(projectId, callId) }
  }

  /** The test whether a hold covers a call, and the last digits that such calls have. */
  async #coverage(projectId: number, all: readonly Hold[]) {
    const { country } = await this.#parts.settingsOf(projectId)
    const { numberMatcher } = await import('./phone-number.ts')
    const matchers = new Map(
      all.flatMap(({ id, number }) => {
        const matcher = number === null ? null : numberMatcher(number, country)
        return matcher ? [[id, matcher] as const] : []
      }),
    )
    const covers = ({ id, callId }: Hold, call: Candidate) => {
      const texts = [call.callerNumber, call.calledNumber]
      return callId === call.id || texts.some((text) => text !== null && matchers.get(id)?.matches(text))
    }
    return { covers, tails: [...matchers.values()].map(({ tail }) => tail) }
  }

  async #read(db: ReadDatabase, projectId: number): Promise<Hold[]> {
    return await db.select().from(holds).where(eq(holds.projectId, projectId)).orderBy(asc(holds.seq))
  }

  async #refuse(projectId: number, { callId, number, reason }: NewHold): Promise<void> {
    const errors: FieldError[] = []
    const wrong = (field: string, message: string) => errors.push({ field, message })
    const { numberMatcher } = await import('./phone-number.ts')
    if ((callId === undefined) === (number === undefined)) wrong('body', 'must have either callId or number')
    if (number !== undefined && (number.length > numberCharsMax || !numberMatcher(number, null)))
      wrong('number', `must be a phone number of at most ${numberCharsMax} characters`)
    if (reason.trim() === '' || reason.length > reasonCharsMax)
      wrong('reason', `must be a text of 1 to ${reasonCharsMax} characters`)
    if ((await this.list(projectId)).length >= holdsMax)
      wrong('body', `is one too many: a project can have at most ${holdsMax} holds`)
    if (errors.length > 0) throw invalidRequest(errors)
  }
}

type Hold = typeof holds.$inferSelect
type Candidate = Pick<typeof calls.$inferSelect, 'id' | 'callerNumber' | 'calledNumber'>

function toRecord({ id, callId, number, reason, createdAt, createdBy }: Omit<Hold, 'seq'>): HoldRecord {
  return { id, callId, number, reason, createdAt: new Date(createdAt).toISOString(), createdBy }
}

function noSuchHold(): AppError {
  return notFound('There is no such hold.')
}

/** Nothing was deleted: who deletes may look at the holds again. */
export class HoldWasSet extends AppError {
  constructor() {
    super('unavailable', 'Service unavailable', {
      detail: 'A hold was just set. Nothing was deleted. Try again.',
      retryAfterSeconds: 1,
    })
  }
}
