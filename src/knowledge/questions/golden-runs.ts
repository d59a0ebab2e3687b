import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { goldenRuns } from '../../db/schema.ts'
import { unavailable } from '../../errors.ts'
import type { Search } from '../search/search.ts'
import { askGolden, type GoldenAnswer, sharesOf } from './golden-check.ts'
import type { GoldenQuestion, GoldenQuestions } from './golden-questions.ts'

/** Older results are dropped. */
const runsMax = 50

/** What all golden questions found together. */
export interface GoldenRun {
  /** ISO 8601, UTC: when this was first found, and when last. */
  at: string
  lastAt: string
  questions: number
  /** The shares whose item is that of the first passage, or of one of the first five, from 0 to 1. */
  hit1: number
  hit5: number
}

/** What all golden questions find now. */
export interface GoldenOutcome extends Pick<GoldenRun, 'questions' | 'hit1' | 'hit5'> {
  /** The questions whose item is not among the first five passages, with the items that were found instead. */
  misses: { id: string; query: string; itemId: string | null; found: GoldenAnswer['found'] }[]
}

/** The golden questions of a project, and what they found. */
export interface GoldenHistory {
  questions: (GoldenQuestion & {
    /** Its rank in each of the runs, 1 to 5; 0 where its item was not found, null where it was not asked. */
    ranks: (number | null)[]
  })[]
  /** The oldest first, at most 50. */
  runs: GoldenRun[]
}

interface GoldenRunsParts {
  search: Pick<Search, 'search'>
  golden: Pick<GoldenQuestions, 'list'>
}

/** Asks a project's golden questions, and keeps what they found, each time that it differs from before. */
export class GoldenRuns {
  readonly #parts: Core & GoldenRunsParts

  constructor(core: Core, parts: GoldenRunsParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * @param pause waits between two questions
   * @throws unavailable when the embedding provider does not answer
   */
  async run(projectId: number, pause: () => Promise<void> = async () => undefined): Promise<GoldenOutcome> {
    const { search, golden, store, now } = this.#parts
    const ranks: Record<string, number> = {}
    const misses: GoldenOutcome['misses'] = []
    for (const { seq, id, query, tags, item } of await golden.list(projectId)) {
      await pause()
      const { rank, found, isByWordsAlone } = await askGolden(search, projectId, {
        query,
        tags,
        itemIds: item ? [item.id] : [],
      })
      if (isByWordsAlone) throw unavailable('The embedding provider does not answer.')
      ranks[seq] = rank
      if (rank === 0) misses.push({ id, query, itemId: item?.id ?? null, found })
    }
    const rankList = Object.values(ranks)
    const outcome = { questions: rankList.length, ...sharesOf(rankList), misses }
    if (rankList.length === 0) return outcome
    const [at, ranksJson] = [now(), JSON.stringify(ranks)]
    const newest = sql`select seq from ${goldenRuns} where project_id = ${projectId} order by seq desc limit 1`
    await store(projectId).write.batch({
      same: sql`update ${goldenRuns} set last_at = ${at} where seq = (${newest}) and ranks = ${ranksJson}`,
      other: sql`insert into ${goldenRuns} (project_id, at, last_at, ranks)
        select ${projectId}, ${at}, ${at}, ${ranksJson} where changes() = 0`,
      dropped: sql`delete from ${goldenRuns} where project_id = ${projectId} and seq <= (
        select seq from ${goldenRuns} where project_id = ${projectId} order by seq desc limit 1 offset ${runsMax})`,
    })
    return outcome
  }

  async history(projectId: number): Promise<GoldenHistory> {
    const { store, golden } = this.#parts
    const rows = await store(projectId)
      .read.select()
      .from(goldenRuns)
      .where(sql`project_id = ${projectId}`)
      .orderBy(goldenRuns.seq)
    const runs = rows.map(({ at, lastAt, ranks }) => {
      const rankList = Object.values(ranks)
      return {
        at: new Date(at).toISOString(),
        lastAt: new Date(lastAt).toISOString(),
        questions: rankList.length,
        ...sharesOf(rankList),
      }
    })
    const questions = (await golden.list(projectId)).map(({ seq, ...question }) => ({
      ...question,
      ranks: rows.map(({ ranks }) => ranks[seq] ?? null),
    }))
    return { questions, runs }
  }
}
