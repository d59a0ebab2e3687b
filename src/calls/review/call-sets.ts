import { and, desc, eq, isNotNull, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { callSets } from '../../db/schema.ts'
import { forbidden, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { CallQuery } from '../finding/call-query.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { readSearchBox } from '../finding/search-box.ts'

/** The most calls of a set: a queue that one person reviews one by one, or calls that are changed together. */
const callsMax = 1_000
const queueKeptMs = 7 * 86_400_000
const selectionKeptMs = 86_400_000
/** The most sets of one person in a project. */
const setsMax = 200
/** The most selections of one person in a project: the oldest gives way to a new one. */
const selectionsMax = 10
/** The most pages that are read for a set: a page of a phrase that few calls have ends after 2,000 documents. */
const pagesMax = 200

/** Which calls to freeze: those of a query of the console's list, or these. */
export interface AskedSet {
  /** The name of a queue of reviews. */
  name?: string | undefined
  query?: CallQuery | undefined
  ids?: readonly string[] | undefined
}

/** A set, as it was frozen. */
export interface FrozenSet {
  id: string
  /** The ids of its calls, in the order of the list. */
  ids: string[]
  /** Whether more calls may match. */
  isCapped: boolean
}

/** A queue of reviews. */
export interface ReviewQueue {
  id: string
  name: string
  /** Calls that were deleted since do not count. */
  calls: number
  reviewed: number
  createdAt: string
}

/** The calls of a list, frozen at one moment. A deleted call leaves its sets. */
export class CallSets {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** @throws invalid_request for a query that cannot be read; forbidden when the person has too many sets */
  async create(projectId: number, personId: string, { name, query = {}, ids }: AskedSet): Promise<FrozenSet> {
    const { store, now } = this.#core
    const { write } = store(projectId)
    const { calls, isCapped } = ids
      ? { calls: await this.#named(projectId, ids), isCapped: false }
      : await this.#find(projectId, query)
    const seqs = JSON.stringify(calls.map(({ seq }) => seq))
    const id = newId('set')
    const keptUntil = now() + (name === undefined ? selectionKeptMs : queueKeptMs)
    const isOwn = sql`project_id = ${projectId} and person_id = ${personId}`
    const { created } = await write.batch({
      oldest: sql`
        delete from ${callSets} where ${isOwn} and name is null and id not in (
          select id from ${callSets} where ${isOwn} and name is null order by rowid desc limit ${selectionsMax - 1})`,
      created: write.all<{ id: string }>(sql`
        insert into ${callSets} (id, project_id, person_id, name, seqs, created_at, kept_until)
        select ${id}, ${projectId}, ${personId}, ${name?.trim() ?? null}, ${seqs}, ${now()}, ${keptUntil}
        where (select count(*) from ${callSets} where ${isOwn} and kept_until >= ${now()}) < ${setsMax} returning id`),
    })
    if (created.length === 0)
      throw forbidden(`You already have ${setsMax} queues and selections in this project. End a queue first.`)
    return { id, ids: calls.map((call) => call.id), isCapped }
  }

  /** The person's queues, newest first. */
  async queues(projectId: number, personId: string): Promise<ReviewQueue[]> {
    const { store, now } = this.#core
    const ofSet = sql`from json_each(seqs) as one cross join calls on calls.seq = one.value`
    const rows = await store(projectId)
      .readForConsole.select({
        id: callSets.id,
        name: sql<string>`name`,
        calls: sql<number>`(select count(*) ${ofSet})`,
        reviewed: sql<number>`(select count(*) ${ofSet} where calls.review ->> '$.reviewed')`,
        createdAt: callSets.createdAt,
      })
      .from(callSets)
      .where(
        and(
          eq(callSets.projectId, projectId),
          eq(callSets.personId, personId),
          isNotNull(callSets.name),
          sql`kept_until >= ${now()}`,
        ),
      )
      .orderBy(desc(callSets.createdAt), desc(callSets.id))
    return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
  }

  /** @throws not_found unless it is the person's */
  async delete(projectId: number, personId: string, id: string): Promise<{ id: string; deleted: true }> {
    const { rowsAffected } = await this.#core
      .store(projectId)
      .write.delete(callSets)
      .where(and(eq(callSets.projectId, projectId), eq(callSets.personId, personId), eq(callSets.id, id)))
    if (rowsAffected > 0) return { id, deleted: true }
    throw notFound('You have no such queue.')
  }

  /** Deletes the sets whose time is over, in every project. */
  async expire(): Promise<void> {
    const { read, write, now } = this.#core
    const isOver = sql`kept_until < ${now()}`
    // Read first, since a write needs the primary.
    const [over] = await read.select({ id: callSets.id }).from(callSets).where(isOver).limit(1)
    if (over) await write.delete(callSets).where(isOver)
  }

  async #named(projectId: number, ids: readonly string[]): Promise<{ seq: number; id: string }[]> {
    return await this.#core
      .store(projectId)
      .read.select({ seq: sql<number>`calls.seq`, id: sql<string>`calls.id` })
      .from(sql`json_each(${JSON.stringify([...new Set(ids)])}) as wanted cross join calls
        on calls.project_id = ${projectId} and calls.id = wanted.value`)
      .orderBy(sql`wanted.key`)
  }

  /** The first calls that match, in the order of the list. */
  async #find(projectId: number, query: CallQuery) {
    const { readInBackground } = this.#core.store(projectId)
    const { search } = await readSearchBox(readInBackground, projectId, query)
    const calls: { seq: number; id: string }[] = []
    let pages = 0
    for await (const places of new FoundPages(readInBackground, projectId, search).all()) {
      calls.push(...places)
      if (calls.length > callsMax || ++pages === pagesMax)
        return { calls: calls.slice(0, callsMax), isCapped: true }
    }
    return { calls, isCapped: false }
  }
}
