import type Database from 'libsql'
import { restoreRules, type TableName } from './restore-rules.ts'

/** What a restore left out of a backup, because a later one shows that it was erased since. */
export interface LeftOut {
  projects: number
  calls: number
  knowledgeItems: number
  recordings: number
}

/** A call's review in the backup and in a later state. Texts but `ownEvaluation` are JSON. */
export interface DifferingReview {
  review: string
  later: string
  /** `calls.value_list` */
  valueList: string
  /** `call_details.analysis` */
  analysis: string | null
  /** What the platform says. */
  ownEvaluation: string | null
}

/** What a restored call has of its review, and what its head says of it. Texts but `evaluation` are JSON. */
export interface KeptReview {
  review: string
  marks: string | null
  evaluation: string | null
  valueList: string
}

export type KeepReview = (reviewPair: DifferingReview) => KeptReview

/** A row of `pragma foreign_key_list`. */
interface ForeignKey {
  from: string
  to: string
  table: string
  on_delete: string
}

const tables = Object.entries<(typeof restoreRules)[TableName]>(restoreRules)

/** Columns of a project that count what the restored database has. */
const ownColumns = ['calls', 'knowledge_version', 'replaced_seq']

/**
 * Leaves out of a restored database what was erased after its backup was made. Row numbers are never used twice, so a
 * record that a later state of the same database lacks was deleted.
 * @param connection the restored database
 * @param newer the file of the later state
 * @param keepReview see src/calls/review/kept-review.ts
 * @throws Error if that is not a later state of the same database, in this version's form
 */
export function leaveOutErased(
  connection: Database.Database,
  newer: string,
  keepReview: KeepReview,
): LeftOut {
  connection.prepare('attach database ? as newer').run(newer)
  try {
    refuseOthers(connection)
    connection.exec('pragma foreign_keys = on; begin')
    const leftOut = deleteErased(connection)
    shrinkReviews(connection, keepReview)
    connection.exec('commit; pragma foreign_keys = off; begin')
    takeLater(connection)
    endWork(connection)
    dropOrphans(connection)
    connection.exec('commit')
    return leftOut
  } finally {
    if (connection.inTransaction) connection.exec('rollback')
    connection.exec('detach database newer')
  }
}

function refuseOthers(connection: Database.Database): void {
  const valuesIn = (schema: string, sql: string) => column(connection, sql.replaceAll('$', schema))
  const key = "select value from $.meta where name = 'id_hash_key'"
  if (valuesIn('main', key)[0] !== valuesIn('newer', key)[0])
    throw new Error('The later backup is of another service. Nothing was restored.')
  const migrationHashes = 'select hash from $.__drizzle_migrations order by created_at'
  if (valuesIn('main', migrationHashes).join() !== valuesIn('newer', migrationHashes).join())
    throw new Error('The two backups were made by different versions of Callbook. Nothing was restored.')
}

/** Triggers note the words and the files of what goes, and the start of the service erases them. */
function deleteErased(connection: Database.Database): LeftOut {
  const run = (sql: string) => connection.prepare(sql).run().changes
  // The next start erases what is deleted here from every file.
  run('delete from main.project_erasures')
  run(`
    insert into main.project_erasures (project_id, id_hash, requested_at, done_at)
    select project_id, id_hash, requested_at, iif(project_id in (select id from main.projects), null, done_at)
    from newer.project_erasures`)
  const projects = run(`
    delete from main.projects where id not in (select id from newer.projects where deleted_at is null)`)
  const calls = run('delete from main.calls where seq not in (select seq from newer.calls)')
  // Also items that were changed: the old words are erased, and the new ones are not brought.
  const knowledgeItems = run(`
    delete from main.knowledge_items where not exists (
      select 1 from newer.knowledge_items as later where later.seq = knowledge_items.seq
        and (later.text_hash, later.name, later.description)
          = (knowledge_items.text_hash, knowledge_items.name, knowledge_items.description))`)
  // Tags that were taken away stay away, and the item stays: tags alone are not its words.
  run(`
    update main.knowledge_items set tags = later.tags from newer.knowledge_items as later
    where later.seq = knowledge_items.seq and later.tags <> knowledge_items.tags`)
  run(`
    update main.idempotent_creates set item_id = null where not exists (
      select 1 from main.knowledge_items as item where item.project_id = idempotent_creates.project_id and id = item_id)`)
  const recordings = deleteRecordings(connection)
  for (const [table, rule] of tables)
    if (typeof rule === 'object')
      run(`
        delete from main.${table} where (${rule.shrunkBy}) not in (select ${rule.shrunkBy} from newer.${table})`)
  return { projects, calls, knowledgeItems, recordings }
}

/** Returns how many were deleted since. */
function deleteRecordings(connection: Database.Database): number {
  const { changes } = connection
    .prepare('delete from main.recordings where file not in (select file from newer.recordings)')
    .run()
  // What waited to be fetched, and was fetched and erased since, is not fetched again.
  connection.exec(`
    delete from main.recording_fetches where seq in (
      select seq from newer.call_details where details ->> '$.recording.state' in ('none', 'expired'));
    update main.call_details set details = json_set(details, '$.recording', json(coalesce(
      (select later.details -> '$.recording' from newer.call_details as later where later.seq = call_details.seq
        and later.details ->> '$.recording.state' in ('none', 'expired')), json_object('state', 'none',
      'reason', null, 'contentType', null, 'bytes', null, 'durationSeconds', null, 'channels', null, 'keptAt', null))))
    where details ->> '$.recording.state' in ('kept', 'waiting', 'failed')
      and seq not in (select seq from main.recordings union all select seq from main.recording_fetches);
    update main.calls set recording = state, value_list = (
      select nullif(json_group_array(value), '[]') from (
        select value from json_each(value_list) where value not like '["recording",%'
        union all select '["recording",' || json_quote(state) || ']' where state is not null))
    from (select seq as changed, nullif(details ->> '$.recording.state', 'none') as state from main.call_details)
    where seq = changed and recording is not state;
    update main.call_details set details = json_remove(details, '$.sound')
    where details ->> '$.sound.state' = 'waiting' and seq not in (select seq from main.recordings);
    update main.calls set sound = null, value_list = (
      select nullif(json_group_array(value), '[]') from json_each(value_list) where value not like '["sound",%')
    where sound ->> '$.state' = 'waiting' and seq not in (select seq from main.recordings)`)
  return changes
}

/** Removes what people have removed from reviews since. */
function shrinkReviews(connection: Database.Database, keepReview: KeepReview): void {
  const reviewPairs = connection.prepare(`
    select json_object('seq', seq, 'review', here.details ->> '$.review',
      'later', coalesce(later.details ->> '$.review', 'null'), 'valueList', coalesce(value_list, '[]'),
      'analysis', here.analysis, 'ownEvaluation', document ->> '$.evaluation')
    from main.call_details as here join newer.call_details as later using (seq)
      join main.calls using (seq) join main.call_documents using (seq)
    where here.details ->> '$.review' is not null and here.details -> '$.review' is not later.details -> '$.review'`)
  const inDetails = connection.prepare(`
    update main.call_details set details = json_set(details, '$.review', json(?)) where seq = ?`)
  const inHead = connection.prepare(`
    update main.calls set review = ?, evaluation = ?, value_list = nullif(?, '[]') where seq = ?`)
  for (const row of reviewPairs.pluck().all()) {
    const { seq, ...differs }: DifferingReview & { seq: number } = JSON.parse(String(row))
    const { review, marks, evaluation, valueList } = keepReview(differs)
    inDetails.run(review, seq)
    inHead.run(marks, evaluation, valueList, seq)
  }
}

function takeLater(connection: Database.Database): void {
  for (const [table, rule] of tables) {
    if (rule !== 'taken' && rule !== 'emptied') continue
    connection.exec(`delete from main.${table}`)
    if (rule === 'emptied') continue
    const columns = namesOf(connection, table)
    connection.exec(`insert into main.${table} (${columns}) select ${columns} from newer.${table}`)
  }
  const settings = namesOf(connection, 'projects')
    .split(', ')
    .filter((name) => name !== 'id' && !ownColumns.includes(name))
  connection.exec(`
    update main.projects set ${settings.map((name) => `${name} = later.${name}`).join(', ')}
      from newer.projects as later where later.id = projects.id`)
  // The start of the service erases them from every file, before it is ready.
  connection.exec('update main.erasures set done_at = null')
  // Row numbers are not used twice either: what is taken names records that are not brought by them.
  connection.exec(`
    delete from main.sqlite_sequence;
    insert into main.sqlite_sequence select * from newer.sqlite_sequence`)
}

/** What somebody has stopped does not go on. */
function endWork(connection: Database.Database): void {
  const stopped = 'select id from main.analysis_runs where stopped_at is not null'
  connection.exec(`
    update main.analysis_runs set stopped_at = later.stopped_at
      from newer.analysis_runs as later where later.id = analysis_runs.id;
    delete from main.analysis_slices where run_id in (${stopped});
    delete from main.analysis_queue where run_id in (${stopped})`)
}

/** Does what foreign keys say where rows that were taken refer to nothing, or are referred to no more. */
function dropOrphans(connection: Database.Database): void {
  const takenTables = new Set<string>(tables.flatMap(([table, rule]) => (rule === 'taken' ? [table] : [])))
  for (const [table] of tables) {
    const keys = connection.prepare(`select * from pragma_foreign_key_list('${table}')`).all() as ForeignKey[]
    for (const { from, to, table: parent, on_delete: onDelete } of keys) {
      if (!takenTables.has(table) && !takenTables.has(parent)) continue
      const fate =
        onDelete === 'SET NULL' ? `update main.${table} set ${from} = null` : `delete from main.${table}`
      connection.exec(`${fate} where ${from} not in (select ${to} from main.${parent})`)
    }
  }
}

function namesOf(connection: Database.Database, table: string): string {
  return column(connection, `select name from pragma_table_info('${table}')`).join(', ')
}

function column(connection: Database.Database, sql: string): unknown[] {
  return connection.prepare(sql).pluck().all()
}
