import { type SQL, sql } from 'drizzle-orm'

/** Characters of `],"createdAt":"…","updatedAt":"…"}`, with which every document ends. All are ASCII. */
export const endChars = 80
/** How many of them come before the time of `updatedAt`. */
export const upToUpdatedAtChars = 54

const parts = sql.raw('from call_parts where call_parts.seq = call_documents.seq order by turn_count')
// As bytes: SQLite would count the characters of a text from its start.
const bytes = sql.raw('cast(call_documents.document as blob)')

/**
 * A call's document from call_documents, as the API returns it. Turns appended to a live call are stored as parts in
 * call_parts, so that an append writes only its own turns. Any other change writes the whole document again.
 */
export const servedDocument: SQL<string> = sql`case when not has_parts then call_documents.document else
  substr(${bytes}, 1, octet_length(call_documents.document) - ${sql.raw(`${endChars}`)})
  || (select group_concat(turns, '') from (select turns ${parts}))
  || substr(${bytes}, ${sql.raw(`-${endChars}, ${upToUpdatedAtChars}`)})
  || (select updated_at ${parts} desc limit 1) || '"}' end`

/** The size of that document. SQLite knows the size of a stored text without reading it. */
export const servedBytes: SQL<number> = sql`octet_length(call_documents.document) + case when not has_parts then 0 else
  (select sum(octet_length(turns)) ${parts}) end`
