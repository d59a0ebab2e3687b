import type Database from 'libsql'

const wordsOf = (kind: string) =>
  `select name from sqlite_master where type = 'table' and name like '${kind}_words_%_docsize'`

/** Counts inconsistent rows: derived values that do not match what they derive from. */
export function countWrongRows(database: Database.Database): Record<string, number> {
  const valuesOf = (statement: string) => database.prepare(statement).pluck().all()
  const count = (from: string) => Number(valuesOf(`select count(*) from ${from}`)[0])
  const docsizes = (kind: 'call' | 'chunk') =>
    [...valuesOf(wordsOf(kind)), `(select null as id where false)`]
      .map((table) => `select id from ${table}`)
      .join(' union all ')
  return {
    'calls without a document': count('calls where seq not in (select seq from call_documents)'),
    'documents without a call': count('call_documents where seq not in (select seq from calls)'),
    'documents that do not know of their parts': count(
      'call_documents where has_parts <> (seq in (select seq from call_parts))',
    ),
    'parts of calls that are not live': count(
      "call_parts where seq not in (select seq from calls where status = 'live')",
    ),
    'details without a call': count('call_details where seq not in (select seq from calls)'),
    'projects whose calls are counted wrong': count(
      'projects where calls <> (select count(*) from calls where project_id = projects.id)',
    ),
    'calls without words': count(
      `call_documents where coalesce(document ->> '$.summary', document ->> '$.transcript[0]', document ->> '$.callerNumber',
        document ->> '$.calledNumber') is not null
        and seq not in (${docsizes('call')}) and seq not in (select seq from calls_without_words)`,
    ),
    'words without a call': count(
      `(${docsizes('call')}) where id not in (select seq from calls)
        and id not in (select record from word_removals where kind = 'call')`,
    ),
    'segments that are not known to hold a project': count(
      `(select distinct project_id, seq >> 13 as segment from (${docsizes('call')}) as words join calls on seq = words.id
        except select project_id, segment from call_segments)`,
    ),
    'change numbers of several records, or that are yet to come': count(
      `(select 1 from (select project_id, change_seq from calls
          union all select project_id, change_seq from knowledge_items
          union all select project_id, change_seq from erasures where kind in ('call', 'item')) as changed
        join projects on projects.id = project_id
        group by project_id, changed.change_seq having count(*) > 1 or changed.change_seq > max(projects.change_seq))`,
    ),
    'chunks without an item': count('chunks where item_seq not in (select seq from knowledge_items)'),
    'items without a chunk': count('knowledge_items where seq not in (select item_seq from chunks)'),
    'items with a chunk missing': count(
      '(select 1 from chunks group by item_seq having max(position) + 1 <> count(*))',
    ),
    'chunks without words': count(`chunks where label not in (${docsizes('chunk')})`),
    'words without a chunk': count(
      `(${docsizes('chunk')}) where id not in (select label from chunks)
        and id not in (select record from word_removals where kind = 'chunk')`,
    ),
    'segments whose chunks are counted wrong': count(
      `(select project_id, segment, count(*), sum(word_count) from chunks group by project_id, segment
        except select project_id, segment, chunks, words from chunk_segments)`,
    ),
    'events that nothing makes due': count(
      `webhook_queue as waiting where due_at is null and not exists (select 1 from webhook_queue as first
        where first.record = waiting.record and first.kind = waiting.kind and first.webhook_id = waiting.webhook_id
          and first.id < waiting.id and first.due_at is not null and not first.is_sent)`,
    ),
    'broken references': count('pragma_foreign_key_check'),
  }
}
