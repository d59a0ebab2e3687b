import { sql } from 'drizzle-orm'
import { chunks, knowledgeItems, meta } from '../db/schema.ts'
import type { Store } from '../db/store.ts'
import {
  chunkWords,
  chunkWordsMeta,
  chunkWordsVersion,
  noteChunkWords,
  renewChunkWords,
  unfinishedChunkWords,
} from '../db/word-tables.ts'
import { toIndexedWords } from '../text/words.ts'

/** Chunks whose words go into one transaction, so that other writes get in between. */
const chunksAtOnce = 256

interface ChunkText {
  label: number
  name: string
  heading: string | null
  text: string
}

/**
 * Fills a project's keyword index anew when an earlier version cut words another way: a query would not find
 * them. Whoever breaks off goes on with what is missing the next time; what is added or deleted meanwhile stays so.
 * @returns how many chunks were filled in; null when there was no need
 */
export async function refillWords(store: Store, projectId: number): Promise<number | null> {
  const { read, write } = store
  const [row] = await read.all<{ value: string }>(
    sql`select value from ${meta} where name = ${chunkWordsMeta(projectId)}`,
  )
  if (row?.value === chunkWordsVersion) return null
  if (row?.value !== unfinishedChunkWords) {
    await write.batch([
      write.run(noteChunkWords(projectId, unfinishedChunkWords)),
      ...renewChunkWords(projectId).map((statement) => write.run(statement)),
    ])
  }
  const labels = await readMissing(store, projectId)
  for (let from = 0; from < labels.length; from += chunksAtOnce) {
    await fill(store, projectId, labels.slice(from, from + chunksAtOnce))
  }
  await write.run(noteChunkWords(projectId, chunkWordsVersion))
  return labels.length
}

/**
 * Asked of the writer, which has just made the table. FTS5 has a row in `_docsize` for each of the table:
 * https://www.sqlite.org/fts5.html#fts5_data_structures
 */
async function readMissing({ write }: Store, projectId: number): Promise<number[]> {
  const [row] = await write.all<{ labels: string }>(sql`
    select json_group_array(label) as labels from (
      select label from ${chunks} where project_id = ${projectId} and not exists (
        select 1 from ${chunkWords(projectId)}_docsize where id = chunks.label) order by label)`)
  return JSON.parse(row?.labels ?? '[]')
}

async function fill({ read, write }: Store, projectId: number, labels: number[]): Promise<void> {
  const rows = await read.all<ChunkText>(sql`
    select chunks.label, ${knowledgeItems.name} as name, ${chunks.heading} as heading, ${chunks.text} as text
    from json_each(${JSON.stringify(labels)}) wanted
      cross join ${chunks} on chunks.label = wanted.value
      cross join ${knowledgeItems} on ${knowledgeItems.seq} = ${chunks.itemSeq}`)
  const words = rows.map(({ label, name, heading, text }) => [
    label,
    `${toIndexedWords(name)} ${toIndexedWords(heading ?? '')}`,
    toIndexedWords(text),
  ])
  // What was deleted since it was read must not come back.
  await write.run(sql`
    insert into ${chunkWords(projectId)} (rowid, heading, text)
    select chunks.label, value ->> 1, value ->> 2
    from json_each(${JSON.stringify(words)}) cross join ${chunks} on chunks.label = value ->> 0`)
}
