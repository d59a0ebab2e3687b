import { sql } from 'drizzle-orm'
import type { SettingsOf } from '../../db/project-settings.ts'
import { goldenQuestions, knowledgeItems, questionStates, questions } from '../../db/schema.ts'
import type { StoreOf } from '../../db/store.ts'
import type { TagFilter } from '../../text/tags.ts'
import { type FoundPassage, readPassagesOf } from './hits.ts'
import { dayMs } from './questions.ts'

const questionsMax = 100

/** A question that was asked during a call, and what it found then. */
export interface QuestionOfCall {
  /** The id of the wording. */
  id: string
  query: string
  tags: TagFilter
  at: string
  coverage: number | null
  mark: 'answered' | 'not_answered' | 'dismissed' | null
  isGolden: boolean
  passages: FoundPassage[]
  /** The items that the agent then read whole, those that are still there. */
  reads: { id: string; name: string }[]
}

export interface QuestionsOfCall {
  data: QuestionOfCall[]
  /** A question whose answer covers less of it is a gap. */
  gapCoverage: number
}

interface Row extends Pick<QuestionOfCall, 'id' | 'query' | 'coverage' | 'mark'> {
  tags: string
  at: number
  hits: string
  reads: string
  isGolden: 0 | 1
}

interface Options {
  store: StoreOf
  settingsOf: SettingsOf
  now: () => number
}

/** The first hundred questions asked during a call, in their order; none unless the project keeps questions. @param chunksMax see readPassagesOf */
export async function questionsOfCall(
  { store, settingsOf, now }: Options,
  projectId: number,
  callId: string,
  chunksMax?: number,
): Promise<QuestionsOfCall> {
  const { keepQuestionsDays, gapCoverage } = await settingsOf(projectId)
  if (keepQuestionsDays === null) return { data: [], gapCoverage }
  const { read } = store(projectId)
  const rows = await read.all<Row>(sql`
    select asked.wording as id, query, asked.tags, at, asked.coverage, asked.hits, mark, (
        select json_group_array(json_object('id', items.id, 'name', items.name) order by read.key)
        from json_each(asked.reads) as read
        join ${knowledgeItems} as items on items.seq = read.value and items.project_id = asked.project_id) as reads,
      exists (select 1 from ${goldenQuestions} as golden
        where golden.project_id = ${projectId} and golden.wording = asked.wording) as isGolden
    from ${questions} as asked indexed by questions_by_call
    left join ${questionStates} as known using (project_id, wording)
    where asked.project_id = ${projectId} and call_id = ${callId} and at >= ${now() - keepQuestionsDays * dayMs}
    order by asked.seq limit ${questionsMax}`)
  const passages = await readPassagesOf(
    read,
    projectId,
    rows.map(({ hits }) => hits),
    chunksMax,
  )
  const data = rows.map(({ hits: _, tags, reads, at, isGolden, ...row }, place) => ({
    ...row,
    tags: JSON.parse(tags),
    at: new Date(at).toISOString(),
    isGolden: isGolden === 1,
    passages: passages[place] ?? [],
    // The query above wrote it.
    reads: JSON.parse(reads) as QuestionOfCall['reads'],
  }))
  return { data, gapCoverage }
}
