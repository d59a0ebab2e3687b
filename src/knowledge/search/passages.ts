import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { preparedQueries } from '../../db/store.ts'
import type { TagFilter } from '../../text/tags.ts'
import { isTagged } from '../item-tags.ts'

/** A chunk with the fields of its item that a search needs. */
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
      replacedSeq: sql<number>`replaced_seq`,
      label: sql<number | null>`label`,
      itemId: sql<string>`item_id`,
      itemSeq: sql<number>`item_seq`,
      name: sql<string>`item_name`,
      heading: sql<string | null>`heading`,
      text: sql<string>`text`,
      position: sql<number>`position`,
      overlapChars: sql<number>`overlap_chars`,
    })
    .from(sql`(select replaced_seq from projects where id = ${sql.placeholder('projectId')}) as project left join (
      select label, knowledge_items.id as item_id, item_seq, name as item_name, heading, chunks.text as text, position,
        overlap_chars
      from json_each(${sql.placeholder('labels')}) wanted
      cross join chunks on chunks.label = wanted.value and chunks.project_id = ${sql.placeholder('projectId')}
      cross join knowledge_items on knowledge_items.seq = chunks.item_seq) as passages on true`)
    .prepare(),
  labelsOfItems: db
    // As one JSON value, since making an object of each of thousands of rows takes longer.
    .select({ labels: sql<string>`json_group_array(chunks.label)` })
    .from(sql`json_each(${sql.placeholder('itemIds')}) wanted
      cross join knowledge_items on knowledge_items.project_id = ${sql.placeholder('projectId')}
        and knowledge_items.id = wanted.value
      cross join chunks on chunks.item_seq = knowledge_items.seq`)
    .where(
      isTagged(
        { projectId: sql`knowledge_items.project_id`, seq: sql`knowledge_items.seq` },
        sql.placeholder('filter'),
      ),
    )
    .prepare(),
}))

/** Passages as they are stored at one moment. */
interface StoredPassages {
  /** The passages in the order of the labels, without labels of other projects. */
  passages: Passage[]
  /** The last change of the project that replaced chunks of an item by others. */
  replacedSeq: number
}

/** The passages with these labels, all read at the same moment. */
export async function readPassages(
  read: ReadDatabase,
  projectId: number,
  labels: readonly number[],
): Promise<StoredPassages> {
  const rows = await queries(read).byLabels.all({ projectId, labels: JSON.stringify(labels) })
  const byLabel = new Map(
    rows.flatMap(({ replacedSeq: _, label, ...row }) =>
      label === null ? [] : [[label, { label, ...row }] as const],
    ),
  )
  const passages = labels.flatMap((label) => byLabel.get(label) ?? [])
  return { passages, replacedSeq: rows[0]?.replacedSeq ?? 0 }
}

/** The labels of all chunks of these items. Items of other projects, and those that do not meet the filter, are left out. */
export async function labelsOfItems(
  read: ReadDatabase,
  projectId: number,
  itemIds: readonly string[],
  filter: TagFilter = [],
): Promise<number[]> {
  const row = await queries(read).labelsOfItems.get({
    projectId,
    itemIds: JSON.stringify(itemIds),
    filter: JSON.stringify(filter),
  })
  return JSON.parse(row?.labels ?? '[]')
}
