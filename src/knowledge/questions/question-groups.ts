import { count, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { ProjectSettings } from '../../db/project-settings.ts'
import { goldenQuestions, knowledgeItems, people, questionStates, questions } from '../../db/schema.ts'
import { notFound } from '../../errors.ts'
import { type TagFilter, tagsOf } from '../../text/tags.ts'
import type { Search } from '../search/search.ts'
import { type FoundPassage, firstItem, readPassagesOf } from './hits.ts'
import { type QuestionListRequest, readCursor, writeCursor } from './question-list.ts'
import { dayMs } from './questions.ts'
import { sharesHalf } from './wording.ts'

const questionsMax = 200
const itemsMax = 200
const askingsMax = 20
const alikeMax = 10

export type QuestionState = QuestionListRequest['state']

/** How many different questions agents asked. */
export interface QuestionCounts extends Record<QuestionState, number> {
  /** For how many days questions are kept; null when they are not. */
  keepDays: 7 | 30 | null
  /** A question whose answer covers less of it is a gap. */
  gapCoverage: number
}

export interface TimesFound {
  /** For how many days questions are kept. */
  days: number
  items: { id: string; count: number }[]
}

/** Questions of one wording. */
export interface AskedQuestion {
  /** The id of the wording. */
  id: string
  /** The question as it was last asked. */
  query: string
  /** The tags within which it was asked. */
  tags: TagFilter
  count: number
  lastAt: string
  /** The call in which it was last asked, if known. */
  callId: string | null
  state: QuestionState
  /** How much of it the best passage covers now; null where search does not tell. */
  coverage: number | null
  /** The item of the best passage; null if nothing was found or the item has been deleted. */
  item: { id: string; name: string } | null
  /** ISO 8601, UTC: since when a question that was a gap has an answer. */
  answeredSince: string | null
  /** What a person said of it. */
  mark: 'answered' | 'not_answered' | 'dismissed' | null
  markedBy: string | null
  assignee: { id: string; name: string } | null
  /** Whether it is kept as a golden question. */
  isGolden: boolean
}

interface QuestionPage extends Pick<QuestionCounts, 'keepDays' | 'gapCoverage'> {
  data: AskedQuestion[]
  pagination: { next: string | null }
}

/** What a gap looks like from near. */
export interface QuestionDetail extends AskedQuestion {
  /** What it finds now, best first. */
  passages: FoundPassage[]
  /** The last times that it was asked, the newest first. */
  askings: { at: string; callId: string | null; coverage: number | null }[]
}

/** A gap, for those who write what answers it. */
export interface Gap extends Pick<AskedQuestion, 'id' | 'query' | 'count' | 'lastAt' | 'coverage'> {
  /** The tags within which it was asked. */
  tags: string[]
  /** Where its best passage is; null if nothing was found or the item has been deleted. */
  nearest: { itemId: string; name: string; heading: string | null } | null
}

/** Gaps, the most asked first. */
export interface Gaps extends Pick<QuestionCounts, 'keepDays' | 'gapCoverage'> {
  data: Gap[]
  total: number
}

/** Columns of a wording, as `#judged` makes them. */
const columns = {
  id: sql<string>`id`,
  query: sql<string>`query`,
  /** JSON. */
  tags: sql<string>`tags`,
  count: sql<number>`asked`,
  callId: sql<string | null>`callId`,
  state: sql<QuestionState>`state`,
  coverage: sql<number | null>`coverage`,
  lastAt: sql<number>`lastAt`,
  hits: sql<string>`hits`,
  itemId: sql<string | null>`itemId`,
  itemName: sql<string | null>`itemName`,
  answeredSince: sql<number | null>`answeredSince`,
  mark: sql<AskedQuestion['mark']>`mark`,
  markedBy: sql<string | null>`(select name from ${people} as marker where marker.id = markedById)`,
  assigneeId: sql<string | null>`assigneeId`,
  assigneeName: sql<string | null>`(select name from ${people} as assignee where assignee.id = assigneeId)`,
}

type GroupRow = { [Name in keyof typeof columns]: (typeof columns)[Name]['_']['type'] } & { isGolden: 0 | 1 }

/** Reads the questions that a project keeps, grouped by wording. */
export class QuestionGroups {
  readonly #core: Core
  readonly #search: Pick<Search, 'rareStems'>

  constructor(core: Core, { search }: { search: Pick<Search, 'rareStems'> }) {
    this.#core = core
    this.#search = search
  }

  async counts(projectId: number): Promise<QuestionCounts> {
    const { readForConsole } = this.#core.store(projectId)
    const { keepQuestionsDays: keepDays, gapCoverage } = await this.#core.settingsOf(projectId)
    const rows = await readForConsole
      .select({ state: columns.state, count: count() })
      .from(await this.#judged(projectId))
      .groupBy(sql`state`)
    const countOf = (state: QuestionState) => rows.find((row) => row.state === state)?.count ?? 0
    return {
      keepDays,
      gapCoverage,
      gap: countOf('gap'),
      answered: countOf('answered'),
      dismissed: countOf('dismissed'),
    }
  }

  /** How often each item's passage was the best one, the most often found first, at most 200; null where questions are not kept. */
  async timesFound(projectId: number): Promise<TimesFound | null> {
    const { store, settingsOf } = this.#core
    const { keepQuestionsDays: days } = await settingsOf(projectId)
    if (days === null) return null
    // Through the builder: the console's own thread answers a bare statement with rows that have no names.
    const items = await store(projectId)
      .readForConsole.select({ id: sql<string>`items.id`, count: sql<number>`asked.count` })
      .from(sql`(
        select ${firstItem(sql`hits`)} as item, count(*) as count from ${questions}
        where ${await this.#areKept(projectId)} group by item
      ) as asked join ${knowledgeItems} as items on items.seq = asked.item and items.project_id = ${projectId}`)
      .orderBy(sql`asked.count desc, items.seq desc`)
      .limit(itemsMax)
    return { days, items }
  }

  /** The most asked questions first, at most 200. @param assignee the id of a person, or `none` */
  async list(
    projectId: number,
    { state, assignee }: { state: QuestionState; assignee?: string | undefined },
  ): Promise<AskedQuestion[]> {
    const isAssigned =
      assignee === undefined
        ? sql`true`
        : assignee === 'none'
          ? sql`assigneeId is null`
          : sql`assigneeId = ${assignee}`
    const rows = await this.#read(projectId, sql`state = ${state} and ${isAssigned}`)
    return rows.map(toQuestion)
  }

  /** The most asked gaps. @param limit at most 200 */
  async gaps(projectId: number, limit: number): Promise<Gaps> {
    const { keepDays, gapCoverage, gap: total } = await this.counts(projectId)
    const rows = await this.#read(projectId, sql`state = 'gap'`, limit)
    const { read } = this.#core.store(projectId)
    const hits = rows.map((row) => row.hits)
    const passages = await readPassagesOf(read, projectId, hits)
    return {
      data: rows.map((row, at) => toGap(toQuestion(row), passages[at] ?? [])),
      total,
      keepDays,
      gapCoverage,
    }
  }

  /** Other gaps that share at least half of a question's rare words, the most asked first, at most ten. */
  async alike(
    projectId: number,
    { id, query }: Pick<AskedQuestion, 'id' | 'query'>,
  ): Promise<Pick<Gap, 'id' | 'query' | 'count'>[]> {
    const rare = await this.#search.rareStems(projectId, query)
    const rows = await this.#read(projectId, sql`state = 'gap' and id <> ${id}`)
    const alike = rows.filter((other) => sharesHalf(rare, other.query))
    return alike.slice(0, alikeMax).map(({ id, query, count }) => ({ id, query, count }))
  }

  /** A page of the questions of a state, the most asked first. @throws invalid_request for a cursor that is none of ours */
  async page(projectId: number, { state, limit, cursor }: QuestionListRequest): Promise<QuestionPage> {
    const { keepQuestionsDays: keepDays, gapCoverage } = await this.#core.settingsOf(projectId)
    const place = readCursor(cursor)
    const isAfter = place
      ? sql`(asked, lastAt, id) < (${place.count}, ${place.lastAt}, ${place.id})`
      : sql`true`
    const rows = await this.#read(projectId, sql`state = ${state} and ${isAfter}`, limit + 1)
    const page = rows.slice(0, limit)
    const last = rows.length > page.length ? page.at(-1) : undefined
    const pagination = { next: last ? writeCursor(last) : null }
    return { data: page.map(toQuestion), keepDays, gapCoverage, pagination }
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<QuestionDetail> {
    const { read } = this.#core.store(projectId)
    const [row] = await this.#read(projectId, sql`id = ${id}`)
    if (!row) throw noSuchQuestion()
    const [passages = []] = await readPassagesOf(read, projectId, [row.hits])
    const askings = await read.all<{ at: number; callId: string | null; coverage: number | null }>(
      sql`select at, call_id as callId, coverage from ${questions}
        where ${await this.#areKept(projectId)} and wording = ${id} order by at desc limit ${askingsMax}`,
    )
    return {
      ...toQuestion(row),
      passages,
      askings: askings.map(({ at, ...asking }) => ({ at: new Date(at).toISOString(), ...asking })),
    }
  }

  /** The questions that the service itself asks after a change of knowledge, the last asked first. */
  async toAsk(projectId: number, max: number): Promise<Pick<AskedQuestion, 'id' | 'query' | 'tags'>[]> {
    const rows = await this.#core
      .store(projectId)
      .readInBackground.select({ id: columns.id, query: columns.query, tags: columns.tags })
      .from(await this.#judged(projectId))
      .where(sql`state = 'gap' or since is not null`)
      .orderBy(sql`lastAt desc`)
      .limit(max)
    return rows.map((row) => ({ ...row, tags: JSON.parse(row.tags) }))
  }

  async #read(projectId: number, which: SQL, rowsMax = questionsMax): Promise<GroupRow[]> {
    const isGolden = sql<0 | 1>`exists (
      select 1 from ${goldenQuestions} as golden where golden.project_id = ${projectId} and golden.wording = judged.id)`
    return await this.#core
      .store(projectId)
      .readForConsole.select({ ...columns, isGolden })
      .from(await this.#judged(projectId))
      .where(which)
      .orderBy(sql`asked desc, lastAt desc, id desc`)
      .limit(rowsMax)
  }

  /** Each wording with its state. What the service itself has found last counts. */
  async #judged(projectId: number): Promise<SQL> {
    const { gapCoverage } = await this.#core.settingsOf(projectId)
    return sql`(
      with asked as (
        select wording as id, max(seq) as last, count(*) as asked, total(coverage < ${gapCoverage}) > 0 as wasGap
        from ${questions} indexed by questions_by_wording where ${await this.#areKept(projectId)} group by wording
      ), found as (
        select id, last.at as lastAt, query, tags, asked, call_id as callId, wasGap, since, mark, marked_at as markedAt,
          marked_by as markedById, assignee_id as assigneeId,
          iif(since is null, last.coverage, known.coverage) as coverage,
          iif(since is null, last.hits, known.hits) as hits
        from asked join ${questions} as last on last.seq = asked.last
        left join ${questionStates} as known on known.project_id = ${projectId} and known.wording = id
      )
        select found.*, items.id as itemId, items.name as itemName,
          case
            when mark = 'dismissed' then 'dismissed'
            when mark = 'answered' then 'answered'
            when ${isGap(sql`hits`, sql`coverage`, gapCoverage)} then 'gap'
            when mark = 'not_answered' and coalesce(items.updated_at <= markedAt, true) then 'gap'
            else 'answered'
          end as state,
          case
            when mark = 'answered' then markedAt
            when mark = 'not_answered' then items.updated_at
            when wasGap then coalesce(since, lastAt)
          end as answeredSince
        from found left join ${knowledgeItems} as items
          on items.seq = ${firstItem(sql`hits`)} and items.project_id = ${projectId}
      ) as judged`
  }

  /** The condition that a question has not expired. Expired ones are hidden at once and deleted within an hour. */
  async #areKept(projectId: number): Promise<SQL> {
    const { settingsOf, now } = this.#core
    const { keepQuestionsDays } = await settingsOf(projectId)
    if (keepQuestionsDays === null) return sql`false`
    return sql`project_id = ${projectId} and at >= ${now() - keepQuestionsDays * dayMs}`
  }
}

/** SQL: whether what was found leaves a gap. Nothing found is one, and an answer of unknown coverage is none. */
export function isGap(hits: SQL, coverage: SQL, gapCoverage: ProjectSettings['gapCoverage']): SQL {
  return sql`(${hits} = '[]' or ifnull(${coverage} < ${gapCoverage}, false))`
}

export function noSuchQuestion() {
  return notFound(
    'The project keeps no such question. It may have expired, or gone with its call.',
    'Question not found',
  )
}

export function toGap(
  { id, query, count, lastAt, coverage, tags }: AskedQuestion,
  [first]: readonly FoundPassage[],
): Gap {
  const nearest = first?.item
    ? { itemId: first.item.id, name: first.item.name, heading: first.heading }
    : null
  return { id, query, tags: tagsOf(tags), count, lastAt, coverage, nearest }
}

function toQuestion(row: GroupRow): AskedQuestion {
  const { lastAt, hits: _, itemId, itemName, answeredSince, assigneeId, assigneeName, isGolden } = row
  const { id, query, count, callId, state, coverage, mark, markedBy } = row
  return {
    id,
    query,
    // As questions.ts stored it.
    tags: JSON.parse(row.tags),
    count,
    callId,
    state,
    coverage,
    mark,
    markedBy,
    lastAt: new Date(lastAt).toISOString(),
    item: itemId === null || itemName === null ? null : { id: itemId, name: itemName },
    answeredSince:
      state === 'answered' && answeredSince !== null ? new Date(answeredSince).toISOString() : null,
    assignee: assigneeId === null ? null : { id: assigneeId, name: assigneeName ?? '' },
    isGolden: isGolden === 1,
  }
}
