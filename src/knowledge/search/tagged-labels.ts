import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { preparedQueries, type StoreOf } from '../../db/store.ts'
import type { TagFilter } from '../../text/tags.ts'
import { isTagged } from '../item-tags.ts'

/** Labels in memory, of all projects together: 16 MB. */
const labelsMax = 2_000_000

const projectId = sql.placeholder('projectId')

const queries = preparedQueries((db) => ({
  newest: db
    .select({ changeSeq: sql<number | null>`max(change_seq)` })
    .from(sql`knowledge_items`)
    .where(sql`project_id = ${projectId}`)
    .prepare(),
  labels: db
    // As one JSON value, since making an object of each of thousands of rows takes longer.
    .select({ labels: sql<string>`json_group_array(chunks.label)` })
    .from(sql`(
      select distinct item_seq from json_each(${sql.placeholder('first')}) as one cross join item_tags
        on item_tags.project_id = ${projectId} and item_tags.tag = one.value) as tagged
      cross join chunks on chunks.item_seq = tagged.item_seq`)
    .where(isTagged({ projectId: sql`${projectId}`, seq: sql`tagged.item_seq` }, sql.placeholder('filter')))
    .prepare(),
}))

/** The chunks of items with certain tags. */
export class TaggedLabels {
  readonly #store: StoreOf
  /** By the project, its newest change of an item, and the filter: a change that any process makes gives another key. */
  readonly #labels = new LRUCache<string, readonly number[]>({
    maxSize: labelsMax,
    sizeCalculation: (labels) => labels.length + 1,
  })

  constructor(store: StoreOf) {
    this.#store = store
  }

  /** The labels of all chunks whose items meet the filter; undefined for a filter that all items meet. */
  async of(projectId: number, filter: TagFilter): Promise<readonly number[] | undefined> {
    const [first] = filter
    if (!first) return undefined
    const { readForSearch: read } = this.#store(projectId)
    // A deletion may leave this number as it is. Then the labels of deleted chunks are among them, which find nothing.
    const newest = await queries(read).newest.get({ projectId })
    const key = JSON.stringify([projectId, newest?.changeSeq ?? 0, filter])
    const known = this.#labels.get(key)
    if (known) return known
    const row = await queries(read).labels.get({
      projectId,
      first: JSON.stringify(first),
      filter: JSON.stringify(filter.slice(1)),
    })
    const labels: number[] = JSON.parse(row?.labels ?? '[]')
    this.#labels.set(key, labels)
    return labels
  }
}
