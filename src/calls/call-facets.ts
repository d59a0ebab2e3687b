import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'

const valuesMax = 50

/** What filters can choose from, the most frequent first. */
export interface CallFacets {
  evaluations: { value: string; calls: number }[]
  endedReasons: { value: string; calls: number }[]
}

/** What calls can be filtered by: the values that there are, each counted in an index that has them in order. */
export async function readFacets(db: ReadDatabase, projectId: number): Promise<CallFacets> {
  const read = async (column: 'evaluation' | 'ended_reason') => {
    const value = sql.raw(column)
    return await db
      .select({ value: sql<string>`${value}`, calls: sql<number>`count(*) as calls` })
      .from(sql`calls`)
      .where(sql`project_id = ${projectId} and ${value} is not null`)
      .groupBy(value)
      .orderBy(sql`calls desc`, value)
      .limit(valuesMax)
  }
  return { evaluations: await read('evaluation'), endedReasons: await read('ended_reason') }
}
