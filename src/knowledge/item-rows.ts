import { and, desc, eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { knowledgeItems } from '../db/schema.ts'
import { inSlices, type SizedRow } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import type { ItemField } from './item-list.ts'
import { isTagged } from './item-tags.ts'
import type { Item } from './schemas.ts'

/** The list of items is read in slices of about this many characters of text. */
const sliceCharsMax = 2_097_152

/** An item without its text. */
export interface ItemHead {
  id: string
  name: string
  description: string
  createdAt: number
  tags: string[]
}

interface ItemRow extends ItemHead {
  text: string
}

export interface StoredItem extends ItemRow {
  seq: number
  /** The change number of its last change. */
  changeSeq: number
}

const headColumns = {
  id: knowledgeItems.id,
  name: knowledgeItems.name,
  description: knowledgeItems.description,
  createdAt: knowledgeItems.createdAt,
  tags: knowledgeItems.tags,
}

const storedColumns = { ...headColumns, seq: knowledgeItems.seq, changeSeq: knowledgeItems.changeSeq }
const isOfProject = eq(knowledgeItems.projectId, sql.placeholder('projectId'))
const isInFilter = isTagged(
  { projectId: sql`${knowledgeItems.projectId}`, seq: sql`${knowledgeItems.seq}` },
  sql.placeholder('filter'),
)
const isItem = and(isOfProject, eq(knowledgeItems.id, sql.placeholder('id')))
const name = sql.placeholder('name')
// `lower` changes ASCII letters only.
const isNamed = sql`${isOfProject} and ${isInFilter} and (${name} = '' or instr(lower(name), lower(${name})) > 0)`
const isAfter = sql`(created_at, id) < (${sql.placeholder('createdAt')}, ${sql.placeholder('id')})`

export const itemQueries = preparedQueries((db) => ({
  byId: db
    .select({ ...storedColumns, text: knowledgeItems.text })
    .from(knowledgeItems)
    .where(isItem)
    .prepare(),
  headById: db.select(storedColumns).from(knowledgeItems).where(isItem).prepare(),
  headWithin: db.select(headColumns).from(knowledgeItems).where(and(isItem, isInFilter)).prepare(),
  heads: db
    .select(headColumns)
    .from(knowledgeItems)
    .where(isOfProject)
    .orderBy(desc(knowledgeItems.createdAt), desc(knowledgeItems.seq))
    .prepare(),
  sizes: db
    .select({
      seq: knowledgeItems.seq,
      createdAt: knowledgeItems.createdAt,
      id: knowledgeItems.id,
      chars: sql<number>`octet_length(${knowledgeItems.text})`,
    })
    .from(knowledgeItems)
    .where(sql`${isOfProject} and ${isAfter} and ${isInFilter}`)
    .orderBy(desc(knowledgeItems.createdAt), desc(knowledgeItems.id))
    .limit(sql.placeholder('rows'))
    .prepare(),
  page: db
    .select({ ...headColumns, textBytes: sql<number>`octet_length(${knowledgeItems.text})` })
    .from(knowledgeItems)
    .where(sql`${isNamed} and ${isAfter}`)
    .orderBy(desc(knowledgeItems.createdAt), desc(knowledgeItems.id))
    .limit(sql.placeholder('rows'))
    .prepare(),
  count: db.select({ items: sql<number>`count(*)` }).from(knowledgeItems).where(isNamed).prepare(),
  bySeqs: db
    .select({
      ...headColumns,
      seq: knowledgeItems.seq,
      text: sql<string>`case when ${sql.placeholder('hasText')} then text else '' end`,
    })
    .from(knowledgeItems)
    .where(sql`${knowledgeItems.seq} in (select value from json_each(${sql.placeholder('seqs')}))`)
    .orderBy(desc(knowledgeItems.createdAt), desc(knowledgeItems.id))
    .prepare(),
}))

/** Items as JSON with some of their fields, separated by commas, in slices. */
export async function* readSlices(
  read: ReadDatabase,
  sizes: readonly SizedRow[],
  fields: readonly ItemField[],
): AsyncGenerator<string> {
  const { bySeqs } = itemQueries(read)
  const hasText = fields.includes('text') ? 1 : 0
  let comma = ''
  for (const slice of inSlices(sizes, sliceCharsMax)) {
    const items: ItemRow[] = await bySeqs.all({ seqs: JSON.stringify(slice), hasText })
    if (items.length === 0) continue
    yield comma + items.map((item) => JSON.stringify(toItem(item), [...fields])).join(',')
    comma = ','
  }
}

/** An item as the API returns it. */
export function toItem({ id, name, description, text, createdAt, tags }: ItemRow): Item {
  return { id, name, description, text, createdAt: new Date(createdAt).toISOString(), tags }
}
