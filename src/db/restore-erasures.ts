import type Database from 'libsql'

/** What a restore left out of a backup, because a later one shows that it was erased since. */
export interface LeftOut {
  projects: number
  calls: number
  knowledgeItems: number
  recordings: number
}

/** Tables that are taken from the later backup as they are: who may do what, where things go, and what was used. */
const replacedTables = [
  'keys',
  'people',
  'accounts',
  'two_factors',
  'members',
  'sources',
  'webhooks',
  'alerts',
  'holds',
  'rubrics',
  'analysis_usage',
]
/** Tables of which rows that the later backup no longer has were erased. */
const shrunkTables = {
  questions: 'seq',
  golden_questions: 'seq',
  source_failures: 'seq',
  audit_events: 'seq',
  alert_changes: 'seq',
  call_views: 'id',
}
/** Columns of a project that count what the restored database has. */
const ownColumns = ['calls', 'knowledge_version', 'replaced_seq']

/**
 * Leaves out of a restored database what was erased after its backup was made. Row numbers are never used twice, so a
 * record that a later state of the same database lacks was deleted.
 * @param connection the restored database
 * @param newer the file of the later state
 * @throws Error if that is not a later state of the same database, in this version's form
 */
export function leaveOutErased(connection: Database.Database, newer: string): LeftOut {
  connection.prepare('attach database ? as newer').run(newer)
  try {
    refuseOthers(connection)
    connection.exec('pragma foreign_keys = on; begin')
    const leftOut = deleteErased(connection)
    removeLabels(connection)
    connection.exec('commit; pragma foreign_keys = off; begin')
    replaceSettings(connection)
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
  const applied = 'select hash from $.__drizzle_migrations order by created_at'
  if (valuesIn('main', applied).join() !== valuesIn('newer', applied).join())
    throw new Error('The two backups were made by different versions of Callbook. Nothing was restored.')
}

/** Triggers note the words and the files of what goes, and the start of the service erases them. */
function deleteErased(connection: Database.Database): LeftOut {
  const run = (sql: string) => connection.prepare(sql).run().changes
  const projects = run(`
    delete from main.projects where id not in (select id from newer.projects where deleted_at is null)`)
  const calls = run('delete from main.calls where seq not in (select seq from newer.calls)')
  // Also items of which the text was replaced: the old one is erased, and the new one is not brought.
  const knowledgeItems = run(`
    delete from main.knowledge_items where not exists (
      select 1 from newer.knowledge_items as later where later.seq = knowledge_items.seq
        and later.text_hash = knowledge_items.text_hash)`)
  const recordings = run(`
    delete from main.recordings where file not in (select file from newer.recordings)`)
  // What waited to be fetched, and was fetched and erased since, is not fetched again.
  run(`
    delete from main.recording_fetches where seq in (
      select seq from newer.call_details where details ->> '$.recording.state' in ('none', 'expired'))`)
  run(`
    update main.call_details set details = json_set(details, '$.recording', json(coalesce(
      (select later.details -> '$.recording' from newer.call_details as later where later.seq = call_details.seq
        and later.details ->> '$.recording.state' in ('none', 'expired')), json_object('state', 'none',
      'reason', null, 'contentType', null, 'bytes', null, 'durationSeconds', null, 'channels', null, 'keptAt', null))))
    where details ->> '$.recording.state' in ('kept', 'waiting', 'failed')
      and seq not in (select seq from main.recordings union all select seq from main.recording_fetches)`)
  run(`
    update main.calls set recording = state, value_list = (
      select nullif(json_group_array(value), '[]') from (
        select value from json_each(value_list) where value not like '["recording",%'
        union all select '["recording",' || json_quote(state) || ']' where state is not null))
    from (select seq as changed, nullif(details ->> '$.recording.state', 'none') as state from main.call_details)
    where seq = changed and recording is not state`)
  for (const [table, key] of Object.entries(shrunkTables))
    run(`delete from main.${table} where ${key} not in (select ${key} from newer.${table})`)
  run(`
    insert or replace into main.erasures (${namesOf(connection, 'erasures')})
    select ${namesOf(connection, 'erasures')} from newer.erasures where project_id in (select id from main.projects)`)
  // The start of the service erases them from every file, before it is ready.
  run("update main.erasures set done_at = null where kind in ('call', 'item', 'text', 'recording')")
  run('insert or replace into main.project_erasures select * from newer.project_erasures')
  return { projects, calls, knowledgeItems, recordings }
}

/** Labels that a call has lost since. */
function removeLabels(connection: Database.Database): void {
  const changed = `
    select calls.seq as changed, json_group_array(label.value) filter (where label.value in (
      select value from json_each(later.review, '$.labels'))) as labels
    from main.calls join newer.calls as later using (seq), json_each(calls.review, '$.labels') as label
    where calls.review ->> '$.labels' is not later.review ->> '$.labels' group by calls.seq`
  connection.exec(`
    create temp table kept_labels as ${changed};
    update main.call_details set details = json_set(details, '$.review.labels', json(labels))
      from kept_labels where seq = changed and details -> '$.review' is not null;
    update main.calls set review = json_set(review, '$.labels', json(labels)), value_list = (
      select nullif(json_group_array(value), '[]') from json_each(value_list)
      where value not like '["label",%' or json_extract(value, '$[1]') in (select value from json_each(labels)))
      from kept_labels where seq = changed;
    drop table kept_labels`)
}

function replaceSettings(connection: Database.Database): void {
  for (const table of replacedTables) {
    const names = namesOf(connection, table)
    const isOfProject = names.includes('project_id')
    connection.exec(`
      delete from main.${table};
      insert into main.${table} (${names}) select ${names} from newer.${table}
      ${isOfProject ? 'where project_id in (select id from main.projects)' : ''}`)
  }
  const kept = namesOf(connection, 'projects')
    .split(', ')
    .filter((name) => name !== 'id' && !ownColumns.includes(name))
  connection.exec(`
    update main.projects set ${kept.map((name) => `${name} = later.${name}`).join(', ')}
      from newer.projects as later where later.id = projects.id;
    delete from main.call_views where person_id not in (select id from main.people);
    update main.question_states set marked_by = null where marked_by not in (select id from main.people);
    update main.question_states set assignee_id = null where assignee_id not in (select id from main.people);
    update main.golden_questions set created_by = null where created_by not in (select id from main.people);
    delete from main.meta where name = 'console_owner';
    insert into main.meta select * from newer.meta where name = 'console_owner';
    delete from main.call_sessions;
    update main.analysis_runs set stopped_at = later.stopped_at
      from newer.analysis_runs as later where later.id = analysis_runs.id;
    delete from main.analysis_slices where run_id in (select id from main.analysis_runs where stopped_at is not null);
    delete from main.analysis_queue where run_id in (select id from main.analysis_runs where stopped_at is not null);
    delete from main.webhook_queue;
    delete from main.webhook_attempts`)
}

function namesOf(connection: Database.Database, table: string): string {
  return column(connection, `select name from pragma_table_info('${table}')`).join(', ')
}

function column(connection: Database.Database, sql: string): unknown[] {
  return connection.prepare(sql).pluck().all()
}
