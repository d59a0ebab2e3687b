import { or, type SQL, sql } from 'drizzle-orm'
import { metadataPrefix } from '../filters.ts'
import { meaningsOf } from './call-values.ts'

/** How many keys of a call's metadata it is found by: the first by code point of those that have a value to find. */
const keysMax = 32
const valueCharsMax = 100

/** Whether a member of metadata has a value to find. */
const isToFind = (member: string) => `(${member}.type in ('integer', 'real', 'true', 'false')
  or (${member}.type = 'text' and length(${member}.atom) between 1 and ${valueCharsMax}))`

/** Joins the members that a row of `calls` is found by. A condition follows. */
const members = `from call_details cross join json_each(call_details.metadata) as member
  where call_details.seq = calls.seq and ${isToFind('member')}
    and (select count(*) from json_each(call_details.metadata) as earlier
      where earlier.key < member.key and ${isToFind('earlier')}) < ${keysMax}`

/** The value of a metadata key that a row of `calls` is found by, as text, in SQL; null for none. */
export function metadataValue(name: string): string {
  const key = name.slice(metadataPrefix.length)
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
  // Numbers as they are written: SQLite would round them.
  return `(select case member.type when 'text' then member.atom else call_details.metadata -> member.fullkey end
    ${members} and instr(metadata, ${literal(memberStart(key))}) > 0 and member.key = ${literal(key)})`
}

/** Whether a row of `calls` has, under a metadata key, a value that one of the texts can mean. */
export function hasMetadata(name: string, texts: readonly string[]): SQL {
  const key = name.slice(metadataPrefix.length)
  const values = [...new Set(texts.flatMap(meaningsOf))]
  // Looked for as it is written, before anything is parsed.
  const written = values.map((value) => sql`instr(metadata, ${memberStart(key) + JSON.stringify(value)}) > 0`)
  return sql`exists (select 1 ${sql.raw(members)}
    and (${or(...written)}) and member.key = ${key} and (${or(...values.map(isValue))}))`
}

/** How a member of metadata begins in the text that is stored. */
function memberStart(key: string): string {
  return `${JSON.stringify(key)}:`
}

function isValue(value: string | number | boolean): SQL {
  if (typeof value === 'boolean') return sql`member.type = ${String(value)}`
  // The atom of true is 1.
  const types = sql.raw(typeof value === 'string' ? `('text')` : `('integer', 'real')`)
  return sql`(member.type in ${types} and member.atom = ${value})`
}
