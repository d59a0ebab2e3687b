import { type Placeholder, type SQL, sql } from 'drizzle-orm'

/** SQL: whether an item meets a filter. @param filter as JSON */
export function isTagged(item: { projectId: SQL; seq: SQL }, filter: SQL | Placeholder): SQL {
  // Of no filter, no row is asked.
  return sql`(${filter} = '[]' or not exists (
    select 1 from json_each(${filter}) as wanted where not exists (
      select 1 from json_each(wanted.value) as one cross join item_tags
        on item_tags.project_id = ${item.projectId} and item_tags.tag = one.value and item_tags.item_seq = ${item.seq})))`
}
