import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks, knowledgeItems } from '../../db/schema.ts'
import type { SearchAnswer } from '../schemas.ts'

/** The passages of an answer that people are shown, best first. */
const hitsShown = 5
const passageCharsMax = 1_200

/** A passage that a question found. */
export interface FoundPassage {
  /** The best has rank 1. */
  rank: number
  position: number
  /** Null once it is deleted. */
  item: { id: string; name: string } | null
  heading: string | null
  /** As it is now, at most 1,200 characters; null once the item has no passage at this position. */
  text: string | null
  /** ISO 8601, UTC: when the item was last changed. */
  changedAt: string | null
}

/** Returns each passage of an answer as the id of its item and its position. */
export function pairsOf({ data }: Pick<SearchAnswer, 'data'>): [itemId: string, position: number][] {
  return data.map(({ itemId, position }) => [itemId, position])
}

/** SQL: such pairs as they are stored. An item that is gone keeps its place, so that the others keep their ranks. */
export function storedHits(projectId: SQL | number, pairs: SQL): SQL {
  return sql`(
    select json_group_array(json_array(items.seq, hit.value ->> 1) order by hit.key) from json_each(${pairs}) as hit
    left join ${knowledgeItems} as items on items.project_id = ${projectId} and items.id = hit.value ->> 0)`
}

/** SQL: the item of the first of stored hits. */
export function firstItem(hits: SQL): SQL {
  return sql`(${hits} ->> '$[0][0]')`
}

interface PassageRow extends Omit<FoundPassage, 'item' | 'changedAt'> {
  place: number
  itemId: string | null
  itemName: string | null
  changedAt: number | null
}

/**
 * The passages of several questions: for each of the stored hits given, those that people are shown.
 * @param chunksMax how many chunks under one heading are read from there, 1,200 characters each: a search may have
 * answered with more than one
 */
export async function readPassagesOf(
  read: ReadDatabase,
  projectId: number,
  hits: readonly string[],
  chunksMax = 1,
): Promise<FoundPassage[][]> {
  const rows = await read.all<PassageRow>(sql`
    select asked.key as place, hit.key + 1 as rank, hit.value ->> 1 as position, items.id as itemId,
      items.name as itemName, items.updated_at as changedAt, chunk.heading as heading,
      (select group_concat(substr(part.text, 1, ${passageCharsMax}), char(10) order by part.position) from ${chunks} as part
        where part.item_seq = chunk.item_seq and part.heading is chunk.heading
          and part.position >= chunk.position and part.position < chunk.position + ${chunksMax}) as text
    from json_each(${JSON.stringify(hits)}) as asked
    join json_each(asked.value) as hit on hit.key < ${hitsShown}
    left join ${knowledgeItems} as items on items.seq = hit.value ->> 0 and items.project_id = ${projectId}
    left join ${chunks} as chunk on chunk.item_seq = items.seq and chunk.position = hit.value ->> 1
    order by asked.key, hit.key`)
  const passages: FoundPassage[][] = hits.map(() => [])
  for (const { place, itemId, itemName, changedAt, ...passage } of rows) {
    const item = itemId === null || itemName === null ? null : { id: itemId, name: itemName }
    const at = changedAt === null ? null : new Date(changedAt).toISOString()
    passages[place]?.push({ ...passage, item, changedAt: at })
  }
  return passages
}
