import { type AnyColumn, eq, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { alerts, callSets, calls, callViews } from '../../db/schema.ts'
import { invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import type { CallQuery } from '../finding/call-query.ts'
import type { Condition } from '../finding/conditions.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { endsWithDigits } from '../finding/number-words.ts'
import { readSearchBox } from '../finding/search-box.ts'
import { seekWords, seqsMatching } from '../finding/word-match.ts'
import type { NumberMatcher } from './phone-number.ts'

/** Messages of alerts that are read at a time. */
const messagesPerSlice = 1_000

/** Which calls to select: exactly one of these. */
export interface AskedCalls {
  /** The caller's or the called number; compared as a number. */
  number?: string | undefined
  ids?: readonly string[] | undefined
  /** Completed calls created before this time, ISO 8601. */
  before?: string | undefined
  /** A query of the console's list. */
  query?: CallQuery | undefined
}

/** Finds calls by number, by ids or by time. */
export class CallSelections {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Selects the row numbers of the calls as `seq`. @throws invalid_request */
  async of(db: ReadDatabase, projectId: number, { number, ids, before, query }: AskedCalls): Promise<SQL> {
    if (query) return await seqsFound(db, projectId, query)
    if ([number, ids, before].filter((each) => each !== undefined).length !== 1)
      throw invalidRequest([{ field: 'body', message: 'must have exactly one of number, ids and before' }])
    if (ids !== undefined)
      return sql`select distinct calls.seq as seq from json_each(${JSON.stringify(ids)})
        cross join calls on calls.project_id = ${projectId} and calls.id = value`
    if (before !== undefined) {
      const time = readInstant(before)
      if (time === null)
        throw invalidRequest([
          {
            field: 'before',
            message: 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z',
          },
        ])
      return sql`
        select seq from calls where project_id = ${projectId} and status = 'completed' and created_at < ${time}`
    }
    const { matches, texts } = await this.#textsOf(db, projectId, number)
    return sql.join(
      texts.map(({ column, list }) => sql`select calls.seq from ${matches} where ${isIn(column, list)}`),
      sql` union `,
    )
  }

  /** What the calls of a number meet. @throws invalid_request */
  async conditionOf(db: ReadDatabase, projectId: number, number: string): Promise<Condition> {
    const { words, texts } = await this.#textsOf(db, projectId, number)
    const check = sql`(${sql.join(
      texts.map(({ column, list }) => isIn(column, list)),
      sql` or `,
    )})`
    // Other numbers end alike.
    return { check, list: { kind: 'numbers', words, isWider: true } }
  }

  /** The ids of saved views that mention the number, in a filter, in the search text or in their name, and of such queues. */
  async viewsOf(projectId: number, number: string): Promise<string[]> {
    const matcher = await this.matcher(projectId, number)
    const { read } = this.#core.store(projectId)
    const views = await read
      .select({ id: callViews.id, name: callViews.name, query: callViews.query })
      .from(callViews)
      .where(eq(callViews.projectId, projectId))
    const queues = await read
      .select({ id: callSets.id, name: sql<string>`coalesce(${callSets.name}, '')`, query: sql<string>`''` })
      .from(callSets)
      .where(eq(callSets.projectId, projectId))
    return [...views, ...queues]
      .filter(({ name, query }) => [name, ...textsIn(query)].some((text) => matcher.matches(text)))
      .map(({ id }) => id)
  }

  /** The ids of alerts that mention the number, in a filter or in their name. */
  async alertsOf(projectId: number, number: string): Promise<string[]> {
    const matcher = await this.matcher(projectId, number)
    const rows = await this.#core
      .store(projectId)
      .read.select({ id: alerts.id, rule: alerts.rule })
      .from(alerts)
      .where(eq(alerts.projectId, projectId))
    const textsOf = ({ name, filters }: Record<string, unknown>) =>
      [name, ...Object.values(Object(filters)).flat()].map(String)
    return rows.filter(({ rule }) => textsOf(rule).some((text) => matcher.matches(text))).map(({ id }) => id)
  }

  /**
   * The messages of alerts that mention the number, by row number: those in the history, and those that wait to be sent.
   * Their rules may have had the number in an earlier version.
   */
  async alertMessagesOf(
    projectId: number,
    number: string,
  ): Promise<{ changes: number[]; waiting: number[] }> {
    const matcher = await this.matcher(projectId, number)
    const { read } = this.#core.store(projectId)
    const mentioning = async (messages: SQL) => {
      const seqs: number[] = []
      for (let last = 0; ; ) {
        const rows = await read.all<{ key: number; message: string }>(sql`
          select key, message from (${messages}) where key > ${last} order by key limit ${messagesPerSlice}`)
        for (const { key, message } of rows) {
          const { name, url } = JSON.parse(message)
          const texts = [name, ...new URL(url).searchParams.values()]
          if (texts.some((text) => matcher.matches(text))) seqs.push(key)
        }
        last = rows.at(-1)?.key ?? last
        if (rows.length < messagesPerSlice) return seqs
      }
    }
    return {
      changes: await mentioning(sql`
        select alert_changes.seq as key, message from ${alerts} cross join alert_changes on alert_seq = alerts.seq
        where project_id = ${projectId}`),
      waiting: await mentioning(sql`
        select webhook_queue.id as key, alert as message from webhooks cross join webhook_queue on webhook_id = webhooks.id
        where project_id = ${projectId} and webhook_queue.kind = 'alert' and alert is not null`),
    }
  }

  /** @throws invalid_request for what is no whole number */
  async matcher(projectId: number, number: string | undefined): Promise<NumberMatcher> {
    const { country } = await this.#core.settingsOf(projectId)
    // Loaded only when needed: the library takes 15 MB.
    const { numberMatcher } = await import('./phone-number.ts')
    const matcher = number?.isWellFormed() ? numberMatcher(number, country) : null
    if (matcher) return matcher
    throw invalidRequest([{ field: 'number', message: 'must be a whole phone number, such as +15557294053' }])
  }

  /** How calls have a number as the caller's and as the called one. The words of numbers tell which texts end alike. */
  async #textsOf(db: ReadDatabase, projectId: number, number: string | undefined) {
    const matcher = await this.matcher(projectId, number)
    const words = [endsWithDigits(matcher.tail)]
    const wordMatches = await seekWords(db, projectId, [{ words }], { isMeant: sql`true` })
    const matches = sql`(${seqsMatching(wordMatches)}) as found cross join calls on calls.seq = found.seq`
    const texts = []
    for (const column of [calls.callerNumber, calls.calledNumber]) {
      const rows = await db
        .select({ number: sql<string | null>`number` })
        .from(sql`(select distinct ${column} as number from ${matches})`)
      const list = rows.flatMap(({ number }) => number ?? []).filter((each) => matcher.matches(each))
      texts.push({ column, list })
    }
    return { words, matches, texts }
  }
}

/** All calls that the list would show. */
async function seqsFound(db: ReadDatabase, projectId: number, query: CallQuery): Promise<SQL> {
  const { search } = await readSearchBox(db, projectId, query)
  const seqs: number[] = []
  for await (const places of new FoundPages(db, projectId, search).all())
    for (const { seq } of places) seqs.push(seq)
  return sql`select value as seq from json_each(${JSON.stringify(seqs)})`
}

function isIn(column: AnyColumn, list: readonly string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(list)}))`
}

/** The texts in a view's filters, which may have several values or phrases. */
function textsIn(query: string): string[] {
  return [...new URLSearchParams(query).values()].flatMap((value) => value.split(/["“”,\\]+/))
}
