import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { Job, Turn } from '../../core/jobs.ts'
import { goldenQuestions, questionStates, questions } from '../../db/schema.ts'
import { ProjectWasDeleted, unavailable } from '../../errors.ts'
import type { SearchAnswer } from '../schemas.ts'
import type { Search } from '../search/search.ts'
import type { GoldenQuestions } from './golden-questions.ts'
import type { GoldenRuns } from './golden-runs.ts'
import { pairsOf, storedHits } from './hits.ts'
import { type AskedQuestion, isGap, type QuestionGroups } from './question-groups.ts'
import { areOneWording, sharesHalf } from './wording.ts'

/** Changes of knowledge close together share a run. */
const delayMs = 5_000
const retryMs = 60_000
const retryMsMax = 3_600_000
const pauseFactor = 4
/** Long enough for a model that has just started. */
const timeoutMs = 10_000
/** Of one project, the last asked ones. For the others, what agents found last counts. */
const questionsMax = 200
/** An item among so many passages is found. */
const namedHitsMax = 5

/** What a question finds: how much of it is covered, null where that is unknown, and the passages, best first. */
type QuestionAnswer = [id: string, coverage: number | null, hits: ReturnType<typeof pairsOf>]

interface QuestionChecksParts {
  search: Pick<Search, 'search' | 'textCoverage' | 'rareStems'>
  groups: Pick<QuestionGroups, 'get' | 'toAsk'>
  golden: Pick<GoldenQuestions, 'list'>
  goldenRuns: Pick<GoldenRuns, 'run'>
}

/**
 * Asks gaps and golden questions again after each change of knowledge, in the background: a gap that an item answers
 * now closes, and golden questions show what the change did.
 */
export class QuestionChecks {
  readonly #parts: Core & QuestionChecksParts
  readonly #job: Job
  /** Projects whose knowledge has changed. */
  readonly #changed = new Set<number>()

  constructor(core: Core, parts: QuestionChecksParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'questions',
      run: (turn) => this.#run(turn),
      // What has changed while no process ran is not known.
      prepare: async () => {
        const rows = await core.read.all<{ projectId: number }>(sql`
          select project_id as projectId from ${goldenQuestions}
          union select project_id from ${questionStates} where since is not null`)
        for (const { projectId } of rows) this.#changed.add(projectId)
      },
      delayMs,
      retryMs,
      retryMsMax,
      failure: 'Questions were not asked',
      level: 'warn',
    })
  }

  /** Call it after each change of a project's knowledge. */
  schedule(projectId: number): void {
    if (!this.#parts.owner.isOwner) return
    this.#changed.add(projectId)
    this.#job.soon()
  }

  /** Asks what is scheduled at once. */
  finish(): Promise<void> {
    return this.#job.now()
  }

  async #run(turn: Turn): Promise<void> {
    // A fifth of a core at most.
    const pause = () => turn.rest(pauseFactor)
    for (const projectId of [...this.#changed]) {
      if (!(await turn.isMine())) return this.#changed.clear()
      // A change from here on needs another run.
      this.#changed.delete(projectId)
      try {
        await this.#askGaps(projectId, pause)
        await this.#parts.goldenRuns.run(projectId, pause)
      } catch (error) {
        if (error instanceof ProjectWasDeleted) continue
        this.#changed.add(projectId)
        throw error
      }
    }
  }

  /** Asks one question again, at once. @throws not_found; unavailable when the embedding provider does not answer */
  async check(projectId: number, id: string): Promise<void> {
    const { groups, store } = this.#parts
    const answer = await this.#ask(projectId, await groups.get(projectId, id))
    await store(projectId).write.run(await this.#asked(projectId, JSON.stringify([answer])))
  }

  async #askGaps(projectId: number, pause: () => Promise<void>): Promise<void> {
    const { groups, store } = this.#parts
    const answers: QuestionAnswer[] = []
    for (const question of await groups.toAsk(projectId, questionsMax)) {
      await pause()
      answers.push(await this.#ask(projectId, question))
    }
    if (answers.length === 0) return
    const rows = JSON.stringify(answers)
    await store(projectId).write.batch({
      asked: await this.#asked(projectId, rows),
      others: sql`
        update ${questionStates} set coverage = null, hits = null, since = null
        where project_id = ${projectId} and since is not null
          and wording not in (select value ->> 0 from json_each(${rows}))`,
    })
  }

  /**
   * What a question finds now. Its first passage alone says how much of it is covered. An item that is named after the
   * question is found by that name, so only the text of its passage counts.
   */
  async #ask(
    projectId: number,
    { id, query, tags }: Pick<AskedQuestion, 'id' | 'query' | 'tags'>,
  ): Promise<QuestionAnswer> {
    const { search } = this.#parts
    const { answer, coverages } = await search.search(projectId, { query, timeoutMs }, tags)
    if (answer.mode === 'keyword') throw unavailable('The embedding provider does not answer.')
    const [first] = answer.data
    const coverage =
      first && areOneWording(first.name, query)
        ? await search.textCoverage(projectId, query, first.itemId)
        : answer.coverage && (coverages[0] ?? 0)
    const isNamed = await this.#isNamedByFile(projectId, query, answer)
    return [id, isNamed ? null : coverage, pairsOf(answer)]
  }

  /**
   * Whether the file of an item that is among the first five says that it answers the question: by at least half of its
   * rare words. Then how much of it the passage covers does not count.
   */
  async #isNamedByFile(projectId: number, query: string, { data }: SearchAnswer): Promise<boolean> {
    const { search, golden } = this.#parts
    const first = new Set(data.slice(0, namedHitsMax).map(({ itemId }) => itemId))
    const named = (await golden.list(projectId)).filter(
      ({ file, item }) => file !== null && item !== null && first.has(item.id),
    )
    if (named.length === 0) return false
    const rare = await search.rareStems(projectId, query)
    return named.some((question) => sharesHalf(rare, question.query))
  }

  /** SQL: keeps what questions found, from JSON. */
  async #asked(projectId: number, rows: string): Promise<SQL> {
    const { settingsOf, now } = this.#parts
    const { gapCoverage } = await settingsOf(projectId)
    const before = isGap(sql`question_states.hits`, sql`question_states.coverage`, gapCoverage)
    const after = isGap(sql`excluded.hits`, sql`excluded.coverage`, gapCoverage)
    return sql`
      insert into ${questionStates} (project_id, wording, coverage, hits, since)
      select ${projectId}, asked.value ->> 0, asked.value ->> 1,
        ${storedHits(projectId, sql`asked.value -> 2`)}, ${now()}
      from json_each(${rows}) as asked
      where exists (select 1 from ${questions} where project_id = ${projectId} and wording = asked.value ->> 0)
      on conflict (project_id, wording) do update set coverage = excluded.coverage, hits = excluded.hits,
        since = iif(question_states.since is not null and ${before} = ${after}, question_states.since, excluded.since)`
  }
}
