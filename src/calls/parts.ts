import { type SQL, sql } from 'drizzle-orm'

/** Characters of `],"createdAt":"…","updatedAt":"…"}`, with which every document ends. All are ASCII. */
export const endChars = 80
/** How many of them stand before the time of `updatedAt`. */
export const upToUpdatedAtChars = 54

const parts = sql.raw('from call_parts where call_parts.seq = call_documents.seq order by turn_count')
// As bytes: SQLite would count the characters of a text from its start.
const bytes = sql.raw('cast(call_documents.document as blob)')

/**
 * A call's document from call_documents, as it is served. A live call to which turns are appended is stored in parts,
 * so that an append costs what its own turns cost: the document as it was, then the turns in call_parts. Whatever else
 * changes the call writes its document as a whole again.
 */
export const servedDocument: SQL<string> = sql`case when not has_parts then call_documents.document else
  substr(${bytes}, 1, octet_length(call_documents.document) - ${sql.raw(`${endChars}`)})
  || (select group_concat(turns, '') from (select turns ${parts}))
  || substr(${bytes}, ${sql.raw(`-${endChars}, ${upToUpdatedAtChars}`)})
  || (select updated_at ${parts} desc limit 1) || '"}' end`

/** Bytes of that document. SQLite knows those of a stored text without reading it. */
export const servedBytes: SQL<number> = sql`octet_length(call_documents.document) + case when not has_parts then 0 else
  (select sum(octet_length(turns)) ${parts}) end`

/** For queries that join many: with the expression inside `group_concat`, SQLite would copy the joined text once more. */
export const servedDocuments: SQL = sql`(select seq, ${servedDocument} as document from call_documents) as documents`
