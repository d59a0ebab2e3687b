import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { preparedQueries } from '../../db/store.ts'
import { servedDocument } from '../document.ts'
import { otherAgentsIn } from '../finding/agent-names.ts'
import type { Call, CallDetails, Turn } from '../schemas.ts'
import { readAnalysis } from '../writing/fills.ts'

/** A call as an analysis needs it. */
export interface AnalyzedCall extends Pick<Call, 'id' | 'status' | 'duration' | 'endedReason'> {
  seq: number
  /** Null if the call is longer than asked for. */
  transcript: Turn[] | null
  source: string | null
  /** All agents that took part. */
  agentIds: string[]
  /** What its tools answered, as far as it is kept. */
  toolResults: { name: string; text: string }[]
  /** What the last analysis came to, if there was one. */
  analysis: ReturnType<typeof readAnalysis>
}

const queries = preparedQueries((db) => ({
  bySeq: db
    .select({
      id: sql<string>`calls.id`,
      status: sql<Call['status']>`status`,
      duration: sql<number>`duration`,
      endedReason: sql<string | null>`ended_reason`,
      source: sql<string | null>`source`,
      agentId: sql<string | null>`agent_id`,
      document: sql<
        string | null
      >`case when document_chars <= ${sql.placeholder('charsMax')} then ${servedDocument} end`,
      details: sql<string | null>`details`,
      analysis: sql<string | null>`analysis`,
    })
    .from(sql`calls join call_documents on call_documents.seq = calls.seq
      left join call_details on call_details.seq = calls.seq`)
    .where(sql`calls.project_id = ${sql.placeholder('projectId')} and calls.seq = ${sql.placeholder('seq')}`)
    .prepare(),
  analysisById: db
    .select({ seq: sql<number>`calls.seq`, analysis: sql<string | null>`analysis` })
    .from(sql`calls left join call_details on call_details.seq = calls.seq`)
    .where(sql`calls.project_id = ${sql.placeholder('projectId')} and calls.id = ${sql.placeholder('id')}`)
    .prepare(),
}))

/** A call by its row number; null if it was deleted. @param charsMax a longer document is not read */
export async function readForAnalysis(
  db: ReadDatabase,
  projectId: number,
  seq: number,
  charsMax: number,
): Promise<AnalyzedCall | null> {
  const row = await queries(db).bySeq.get({ projectId, seq, charsMax })
  if (!row) return null
  const { agentId, document, details, ...call } = row
  const agentIds = [...(agentId === null ? [] : [agentId]), ...otherAgentsIn(details, agentId)]
  const transcript = document === null ? null : (JSON.parse(document) as Call).transcript
  const toolResults = toolResultsIn(details)
  return { ...call, seq, transcript, agentIds, toolResults, analysis: readAnalysis(row.analysis) }
}

function toolResultsIn(details: string | null): AnalyzedCall['toolResults'] {
  // Parsing it takes long.
  if (!details?.includes('"kind":"tool_result"')) return []
  const { timeline } = JSON.parse(details) as Pick<CallDetails, 'timeline'>
  return (timeline ?? []).flatMap(({ kind, name, text }) =>
    kind === 'tool_result' && text ? [{ name: name ?? 'tool', text }] : [],
  )
}

/** What the last analysis of a call came to; null for an unknown call. */
export async function readLastAnalysis(
  db: ReadDatabase,
  projectId: number,
  id: string,
): Promise<Pick<AnalyzedCall, 'seq' | 'analysis'> | null> {
  const row = await queries(db).analysisById.get({ projectId, id })
  return row ? { seq: row.seq, analysis: readAnalysis(row.analysis) } : null
}
