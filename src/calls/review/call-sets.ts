import { and, desc, eq, isNotNull, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { callSetSlices, callSets } from '../../db/schema.ts'
import { forbidden, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { CallQuery } from '../finding/call-query.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { readSearchBox } from '../finding/search-box.ts'
import type { Holds } from '../keeping/holds.ts'

/** The most calls that are changed together. */
const callsMax = 100_000
/** The most calls of a queue, which one person reviews one by one. */
const queueCallsMax = 1_000
const queueKeptMs = 7 * 86_400_000
const selectionKeptMs = 86_400_000
/** The most sets of one person in a project. */
const setsMax = 200
/** The most selections of one person in a project: the oldest gives way to a new one. */
const selectionsMax = 10
const placesPerPage = 1_000
/** The most pages that are read for a set: a page of a phrase that few calls have ends after 2,000 documents. */
const pagesMax = 200
/** The calls that a task changes in one transaction: some 10 ms of the writer's time. */
const callsPerSlice = 50
/** Deleted in one transaction. */
const slicesPerDeletion = 500

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
  calls: number
  /** How many of them a legal hold covers. */
  held: number
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

interface CallSetsParts {
  holds: Pick<Holds, 'among'>
}

/** The calls of a list, frozen at one moment. A deleted call leaves its sets. */
export class CallSets {
  readonly #parts: Core & CallSetsParts

  constructor(core: Core, parts: CallSetsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @throws invalid_request for a query that cannot be read; forbidden when the person has too many sets */
  async create(projectId: number, personId: string, { name, query = {}, ids }: AskedSet): Promise<FrozenSet> {
    const { store, holds, now } = this.#parts
    const { readInBackground, write } = store(projectId)
    const most = name === undefined ? callsMax : queueCallsMax
    const { seqs, isCapped } = ids
      ? { seqs: await this.#seqsOf(projectId, ids), isCapped: false }
      : await this.#find(projectId, query, most)
    const slices = Array.from({ length: Math.ceil(seqs.length / callsPerSlice) }, (_, at) =>
      seqs.slice(at * callsPerSlice, (at + 1) * callsPerSlice),
    )
    const id = newId('set')
    const keptUntil = now() + (name === undefined ? selectionKeptMs : queueKeptMs)
    const isOwn = sql`project_id = ${projectId} and person_id = ${personId}`
    const { created } = await write.batch({
      oldest: sql`
        delete from ${callSets} where ${isOwn} and name is null and due_at is null and id not in (
          select id from ${callSets} where ${isOwn} and name is null order by rowid desc limit ${selectionsMax - 1})`,
      created: write.all<{ id: string }>(sql`
        insert into ${callSets} (id, project_id, person_id, name, calls, created_at, kept_until)
        select ${id}, ${projectId}, ${personId}, ${name?.trim() ?? null}, ${seqs.length}, ${now()}, ${keptUntil}
        where (select count(*) from ${callSets} where ${isOwn} and kept_until >= ${now()}) < ${setsMax} returning id`),
      slices: sql`
        insert into ${callSetSlices} (set_id, number, seqs)
        select ${id}, key, value from json_each(${JSON.stringify(slices)})
        where exists (select 1 from ${callSets} where id = ${id})`,
    })
    if (created.length === 0)
      throw forbidden(`You already have ${setsMax} queues and selections in this project. End a queue first.`)
    const selection = sql`select value as seq from json_each(${JSON.stringify(seqs)})`
    const onHold = await holds.among(readInBackground, projectId, selection)
    return { id, calls: seqs.length, held: onHold.seqs.size, isCapped }
  }

  /** The person's queues, newest first. */
  async queues(projectId: number, personId: string): Promise<ReviewQueue[]> {
    const { store, now } = this.#parts
    const ofSet = sql`from call_set_slices cross join json_each(seqs) as one
      cross join calls on calls.seq = one.value where set_id = call_sets.id`
    const rows = await store(projectId)
      .readForConsole.select({
        id: callSets.id,
        name: sql<string>`name`,
        calls: sql<number>`(select count(*) ${ofSet})`,
        reviewed: sql<number>`(select count(*) ${ofSet} and calls.review ->> '$.reviewed')`,
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
    const { rowsAffected } = await this.#parts
      .store(projectId)
      .write.delete(callSets)
      .where(and(eq(callSets.projectId, projectId), eq(callSets.personId, personId), eq(callSets.id, id)))
    if (rowsAffected > 0) return { id, deleted: true }
    throw noSuchSet()
  }

  /** Deletes the sets whose time is over, in every project. One whose calls are being changed waits for that. */
  async expire(): Promise<void> {
    const { read, write, now } = this.#parts
    const isOver = sql`kept_until < ${now()} and due_at is null`
    // Read first, since a write needs the primary.
    const over = await read.select({ id: callSets.id }).from(callSets).where(isOver)
    for (const { id } of over) {
      const some = sql`select number from ${callSetSlices} where set_id = ${id} limit ${slicesPerDeletion}`
      const ofSet = sql`set_id = ${id} and number in (${some})`
      while ((await write.delete(callSetSlices).where(ofSet)).rowsAffected > 0);
      await write.delete(callSets).where(and(eq(callSets.id, id), isOver))
    }
  }

  async #seqsOf(projectId: number, ids: readonly string[]): Promise<number[]> {
    const rows = await this.#parts
      .store(projectId)
      .read.select({ seq: sql<number>`calls.seq` })
      .from(sql`json_each(${JSON.stringify([...new Set(ids)])}) as wanted cross join calls
        on calls.project_id = ${projectId} and calls.id = wanted.value`)
      .orderBy(sql`wanted.key`)
    return rows.map(({ seq }) => seq)
  }

  /** The first calls that match, in the order of the list. */
  async #find(
    projectId: number,
    query: CallQuery,
    most: number,
  ): Promise<{ seqs: number[]; isCapped: boolean }> {
    const { readInBackground } = this.#parts.store(projectId)
    const { search } = await readSearchBox(readInBackground, projectId, query)
    const pages = new FoundPages(readInBackground, projectId, search)
    const seqs: number[] = []
    let start: Parameters<FoundPages['page']>[1] = {}
    for (let read = 1; ; read++) {
      const { places, end } = await pages.page(Math.min(placesPerPage, most - seqs.length), start)
      for (const { seq } of places) seqs.push(seq)
      if (!end || seqs.length === most || read === pagesMax) return { seqs, isCapped: end !== null }
      start = { after: end }
    }
  }
}

export function noSuchSet() {
  return notFound('These calls are no longer selected. Select them again.')
}
