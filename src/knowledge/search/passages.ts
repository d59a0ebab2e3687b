import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { preparedQueries } from '../../db/store.ts'

/** A chunk with what a search needs of its item. */
export interface Passage {
  label: number
  itemId: string
  itemSeq: number
  name: string
  heading: string | null
  text: string
  position: number
  /** How many leading characters of `text` repeat the end of the previous chunk. */
  overlapChars: number
}

const queries = preparedQueries((db) => ({
  byLabels: db
    .select({
      label: sql<number>`chunks.label`,
      itemId: sql<string>`knowledge_items.id`,
      itemSeq: sql<number>`knowledge_items.seq`,
      name: sql<string>`knowledge_items.name`,
      heading: sql<string | null>`chunks.heading`,
      text: sql<string>`chunks.text`,
      position: sql<number>`chunks.position`,
      overlapChars: sql<number>`chunks.overlap_chars`,
    })
    .from(sql`json_each(${sql.placeholder('labels')}) wanted
      cross join chunks on chunks.label = wanted.value and chunks.project_id = ${sql.placeholder('projectId')}
      cross join knowledge_items on knowledge_items.seq = chunks.item_seq`)
    .prepare(),
  labelsOfItems: db
    .select({ label: sql<number>`chunks.label` })
    .from(sql`json_each(${sql.placeholder('itemIds')}) wanted
      cross join knowledge_items on knowledge_items.project_id = ${sql.placeholder('projectId')}
        and knowledge_items.id = wanted.value
      cross join chunks on chunks.item_seq = knowledge_items.seq`)
    .prepare(),
}))

/** The passages with these labels, in the order of the labels. Labels of other projects are left out. */
export async function readPassages(
  read: ReadDatabase,
  projectId: number,
  labels: readonly number[],
): Promise<Passage[]> {
  if (labels.length === 0) return []
  const rows = await queries(read).byLabels.all({ projectId, labels: JSON.stringify(labels) })
  const byLabel = new Map(rows.map((row) => [row.label, row]))
  return labels.flatMap((label) => byLabel.get(label) ?? [])
}

/** The labels of all chunks of these items. Items of other projects are left out. */
export async function labelsOfItems(
  read: ReadDatabase,
  projectId: number,
  itemIds: readonly string[],
): Promise<number[]> {
  const rows = await queries(read).labelsOfItems.all({ projectId, itemIds: JSON.stringify(itemIds) })
  return rows.map(({ label }) => label)
}
