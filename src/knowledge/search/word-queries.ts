import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks } from '../../db/schema.ts'
import { chunkWords, selectStructure } from '../../db/word-tables.ts'

/** A term's rows are counted up to this number. */
export const countedRowsMax = 1_001

export type WordQueries = ReturnType<typeof prepareWordQueries>

/** Drizzle has no FTS5, and each project has a table of its own. */
export function prepareWordQueries(db: ReadDatabase, projectId: number) {
  const table = chunkWords(projectId)
  const within = sql.placeholder('within')
  // Thanks to the `or`, SQLite does not ask the keyword index for each label on its own.
  const isWithin = sql`(${within} is null or rowid in (select value from json_each(${within})))`
  return {
    /** A row with the index's version, and each term's chunks, by label, without a version. */
    ranks: db
      .select({
        version: sql<string | null>`version`,
        match: sql<string>`match`,
        label: sql<number>`label`,
        rank: sql<number>`rank`,
      })
      .from(sql`(
        select hex(block) as version, null as match, null as label, null as rank from (${selectStructure(table)})
        union all
        select null, terms.value, ${table}.rowid, ${table}.rank
        from json_each(${sql.placeholder('matches')}) as terms cross join ${table} where ${table} match terms.value)`)
      .prepare(),
    /** Chunks in no order. */
    unranked: db
      .select({ label: sql<number>`label` })
      .from(sql`(
        select rowid as label from ${table} where ${table} match ${sql.placeholder('match')} and ${isWithin}
        limit ${sql.placeholder('limit')})`)
      .prepare(),
    counts: db
      .select({
        match: sql<string>`terms.value`,
        counted: sql<string>`(select json_object('rows', count(*), 'last', max(label))
          from (select rowid as label from ${table} where ${table} match terms.value limit ${countedRowsMax}))`,
      })
      .from(sql`json_each(${sql.placeholder('matches')}) as terms`)
      .prepare(),
    span: db
      .select({
        chunks: sql<number>`count(*)`,
        first: sql<number>`coalesce(min(label), 0)`,
        last: sql<number>`coalesce(max(label), 0)`,
      })
      .from(sql`${chunks}`)
      .where(sql`project_id = ${sql.placeholder('projectId')}`)
      .prepare(),
  }
}
