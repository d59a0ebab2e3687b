import { type SQL, sql } from 'drizzle-orm'
import type { OpenDatabase } from '../db/open.ts'
import {
  dropSegment,
  optimizeSegment,
  recordsOf,
  segmentIn,
  segmentTable,
  type WordKind,
} from '../db/word-segments.ts'
import type { WriteDatabase } from '../db/write-database.ts'
import { AppError } from '../errors.ts'

interface Segment {
  kind: WordKind
  segment: number
}

/**
 * Removes the words of deleted records from their segments, and rewrites these: until then FTS5 keeps the words of deleted
 * and of changed rows. A segment is rewritten in one write of some 40 ms.
 * @throws the reason of `signal` once that is aborted
 */
export async function eraseWords(
  { isLocal, writeWhenFull: write }: Pick<OpenDatabase, 'isLocal' | 'writeWhenFull'>,
  signal: AbortSignal,
): Promise<void> {
  await dropUnused(write)
  const segments = await write.all<Segment>(sql`select distinct kind, segment from word_removals`)
  for (const { kind, segment } of segments) {
    signal.throwIfAborted()
    const table = segmentTable(kind, segment)
    const removed = sql`kind = ${kind} and segment = ${segment}`
    await write.batch({
      words: sql`delete from ${table} where rowid in (select record from word_removals where ${removed})`,
      // On a server, the bytes are for the server to erase.
      rewritten: isLocal ? [optimizeSegment(kind, segment)] : [],
      segments: sql`
        delete from call_segments where ${kind} = 'call' and segment = ${segment} and project_id not in (
          select project_id from calls where ${recordsOf(segment, sql`seq`)})`,
      removals: sql`delete from word_removals where ${removed}`,
    })
  }
}

/** Drops the segments that an earlier run has left without records. By now, no search reads them any more. */
async function dropUnused(write: WriteDatabase): Promise<void> {
  const unused = await write.all<Segment>(sql`
    select kind, segment from (
      select substr(name, 1, instr(name, '_') - 1) as kind,
        cast(substr(name, instr(name, '_words_') + 7) as integer) as segment
      from sqlite_master where name glob '*_words_[0-9]*' and sql like 'create virtual%')
    where ${isUnused(sql`kind`, sql`segment`)}
      and segment < (select ${segmentIn(sql`seq`)} from sqlite_sequence where name = kind || 's')`)
  for (const { kind, segment } of unused) {
    const requirement = { condition: isUnused(sql`${kind}`, sql`${segment}`), otherwise: isUsedAgain }
    await write.batchIf([requirement], { dropped: dropSegment(kind, segment) })
  }
}

function isUnused(kind: SQL, segment: SQL): SQL {
  return sql`(${kind}, ${segment}) not in (
    select 'call', segment from call_segments union all select 'chunk', segment from chunk_segments
    union all select kind, segment from word_removals)`
}

function isUsedAgain(): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail: 'The segment is used again.' })
}
