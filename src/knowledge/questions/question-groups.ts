import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { SettingsOf } from '../../db/project-settings.ts'
import { knowledgeItems, questions } from '../../db/schema.ts'
import type { StoreOf } from '../../db/store.ts'
import { dayMs, type Outcome } from './questions.ts'

const itemsMax = 200
const questionsMax = 200

/** How often agents have asked, by what was found. */
export interface QuestionCounts {
  /** For how many days questions are kept; null when they are not. */
  keepDays: 7 | 30 | null
  found: number
  weak: number
  none: number
  /** The items that were found, the most often found first; at most 200. */
  items: { id: string; name: string; count: number }[]
}

/** Questions that are equal but for the case of A to Z and surrounding spaces. */
export interface AskedQuestion {
  /** The latest wording. */
  query: string
  count: number
  /** ISO 8601, UTC. */
  lastAt: string
  /** The call in which it was last asked, if known. */
  callId: string | null
  /** The item of the first passage; null if nothing was found or the item has been deleted. */
  item: { id: string; name: string } | null
}

interface QuestionGroupsOptions {
  store: StoreOf
  settingsOf: SettingsOf
  now: () => number
}

/** Reads the questions that a project keeps, grouped by wording. */
export class QuestionGroups {
  readonly #options: QuestionGroupsOptions

  constructor(options: QuestionGroupsOptions) {
    this.#options = options
  }

  async counts(projectId: number): Promise<QuestionCounts> {
    const { store, settingsOf } = this.#options
    const { readForConsole } = store(projectId)
    const { keepQuestionsDays: keepDays } = await settingsOf(projectId)
    const areKept = await this.#areKept(projectId)
    const counted = await readForConsole
      .select({ outcome: questions.outcome, count: sql<number>`count(*)` })
      .from(questions)
      .where(areKept)
      .groupBy(questions.outcome)
    const items = await readForConsole
      .select({ id: knowledgeItems.id, name: knowledgeItems.name, count: sql<number>`count(*)` })
      .from(questions)
      .innerJoin(knowledgeItems, eq(knowledgeItems.seq, questions.itemSeq))
      .where(and(areKept, eq(questions.outcome, 'found')))
      .groupBy(knowledgeItems.seq)
      .orderBy(sql`count(*) desc, ${knowledgeItems.seq} desc`)
      .limit(itemsMax)
    const countOf = (outcome: Outcome) => counted.find((row) => row.outcome === outcome)?.count ?? 0
    return { keepDays, found: countOf('found'), weak: countOf('weak'), none: countOf('none'), items }
  }

  /** The most asked questions first, at most 200. @param itemId only questions whose first passage is of this item */
  async list(
    projectId: number,
    { outcome, itemId }: { outcome: Outcome; itemId?: string | undefined },
  ): Promise<AskedQuestion[]> {
    const { readForConsole } = this.#options.store(projectId)
    const ofItem = itemId === undefined ? undefined : eq(knowledgeItems.id, itemId)
    const rows = await readForConsole
      // SQLite takes the other columns from the row of the maximum: https://www.sqlite.org/lang_select.html#bareagg
      .select({
        lastAt: sql<number>`max(${questions.at})`,
        query: questions.query,
        count: sql<number>`count(*)`,
        callId: questions.callId,
        itemId: knowledgeItems.id,
        itemName: knowledgeItems.name,
      })
      .from(questions)
      .leftJoin(knowledgeItems, eq(knowledgeItems.seq, questions.itemSeq))
      .where(and(await this.#areKept(projectId), eq(questions.outcome, outcome), ofItem))
      .groupBy(sql`lower(trim(${questions.query}))`)
      .orderBy(sql`count(*) desc, max(${questions.at}) desc`)
      .limit(questionsMax)
    return rows.map(({ itemId: id, itemName: name, lastAt, ...row }) => ({
      ...row,
      lastAt: new Date(lastAt).toISOString(),
      item: id === null || name === null ? null : { id, name },
    }))
  }

  /** The condition that a question has not expired. Expired ones are hidden at once and deleted within an hour. */
  async #areKept(projectId: number): Promise<SQL> {
    const { settingsOf, now } = this.#options
    const { keepQuestionsDays } = await settingsOf(projectId)
    if (keepQuestionsDays === null) return sql`false`
    return sql`${questions.projectId} = ${projectId} and ${questions.at} >= ${now() - keepQuestionsDays * dayMs}`
  }
}
