import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { type Dataset, makeDataset } from '../dataset.ts'
import { commonWord, rareWord } from './made-calls.ts'

const firstAt = Date.UTC(2025, 0, 1)
const yearMs = 365 * 24 * 3_600_000
/** Of word-segments.ts. */
const perSegment = 8_192
const sentencesCount = 4_096
const wordsEach = 8

const syllables = [
  'ba',
  'co',
  'di',
  'fu',
  'ga',
  'he',
  'li',
  'mo',
  'nu',
  'pe',
  'ra',
  'so',
  'ti',
  'vu',
  'wa',
  'ze',
]

/** A number of a call from 0 to `most`, by its index: SQLite's own random numbers have no seed. */
const hash = (salt: number, most: number) =>
  `(((n * ${2_654_435_761 + salt * 40_503} + ${salt * 7_919}) >> ${5 + (salt % 7)}) % ${most})`

/**
 * A project with many calls, a year of them, written by SQL alone: some 15 us a call. Their values are spread as those
 * of a call centre: a few reasons, agents and numbers have most of them.
 */
export async function fillWithCalls(folder: string, count: number): Promise<Dataset> {
  const dataset = await makeDataset({ folder })
  const { databaseFile, projectId } = dataset
  const db = new Database(databaseFile)
  db.exec(
    'PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY',
  )
  const triggers = db
    .prepare(`select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'calls'`)
    .all() as { name: string; sql: string }[]
  for (const { name } of triggers) db.exec(`drop trigger ${name}`)
  db.exec('create temp table sentences (at integer primary key, text text, own text)')
  const insertSentence = db.prepare('insert into sentences values (?, ?, ?)')
  db.exec('begin')
  for (let at = 0; at < sentencesCount; at++) {
    const words = Array.from({ length: wordsEach }, (_, n) =>
      wordOf(Math.imul(at * wordsEach + n, 0x9e3779b1) >>> 7),
    )
    insertSentence.run(at, words.join(' '), words.map((word) => `${projectId}x${word} `).join(''))
  }
  db.exec('commit')
  for (let from = 0; from < count; from += perSegment - (from === 0 ? 1 : 0)) {
    // The first segment has one number less, since numbers begin with 1.
    const until = Math.min(count, from + perSegment - (from === 0 ? 1 : 0))
    db.exec('begin')
    db.exec(insertsOf({ projectId, from, until, count }))
    db.exec('commit')
  }
  db.exec(`update projects set change_seq = ${count}, calls = ${count} where id = ${projectId}`)
  for (const { sql } of triggers) db.exec(sql)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return dataset
}

function wordOf(seed: number): string {
  const at = (shift: number) => syllables[(seed >> shift) & 15] ?? ''
  return at(0) + at(4) + (seed & 256 ? at(9) : '')
}

/** `n` is the index of a call, whose row number is one more. */
function insertsOf({
  projectId,
  from,
  until,
  count,
}: {
  projectId: number
  from: number
  until: number
  count: number
}): string {
  const segment = Math.floor((from + 1) / perSegment)
  const numbers = `with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n + 1 < ${until})`
  const agent = `'agent-' || (case when ${hash(1, 10)} < 6 then ${hash(2, 5)} else ${hash(3, 60)} end)`
  const verdict = (salt: number) =>
    `case ${hash(salt, 20)} when 0 then 'unknown' when 1 then 'fail' when 2 then 'fail' when 3 then 'fail' else 'pass' end`
  const sentences = Array.from({ length: 6 }, (_, turn) => hash(20 + turn, sentencesCount))
  const extra = `case when n % 2 = 0 then '${commonWord} ' else '' end || case when n % 1000 = 0 then '${rareWord} ' else '' end`
  const own = `case when n % 2 = 0 then '${projectId}x${commonWord} ' else '' end || case when n % 1000 = 0 then '${projectId}x${rareWord} ' else '' end`
  const iso = (at: string) =>
    `strftime('%Y-%m-%dT%H:%M:%S', ${at} / 1000, 'unixepoch') || printf('.%03dZ', ${at} % 1000)`
  const digits = (column: string) => `replace(${column}, '+', '')`
  const reverse = (column: string) =>
    `(${Array.from({ length: 11 }, (_, n) => `substr(${digits(column)}, ${11 - n}, 1)`).join(' || ')})`
  const word = (column: string) =>
    `'${projectId}x→' || ${digits(column)} || ' ${projectId}x←' || ${reverse(column)} || ' '`
  return `
    create temp table if not exists made (n integer primary key, id, created_at integer, ended_at integer, status, evaluation, engaged integer,
      duration real, caller, called, reason, source, agent, cost real, latency real, labels, intent, score, greeting, verified, tone,
      recording, other, t0, t1, t2, t3, t4, t5);
    delete from made;
    insert into made ${numbers}, some as (
      select n, ${firstAt} + n * ${yearMs} / ${count} as created_at,
        case when ${hash(4, 50)} = 0 then 0.0 else round((1 + ${hash(5, 999)}) * (1 + ${hash(6, 997)}) / 1660.0, 2) end as duration,
        n >= ${count - 40} as is_live from numbers)
      select n, 'call-' || printf('%08x', (n * 2654435761) & 4294967295) || '-' || n, created_at,
        case when is_live then null else created_at + cast(duration * 1000 as integer) end,
        case when is_live then 'live' else 'completed' end,
        case when is_live or ${hash(7, 20)} = 0 then null when ${hash(8, 100)} = 0 then 'B, partly' when ${hash(8, 100)} < 25 then 'fail' else 'success' end,
        ${hash(9, 5)} < 4, duration,
        '+1555' || printf('%07d', ${hash(10, 400_000)} * 19 + 1000000), '+1800555' || printf('%04d', ${hash(11, 20)} * 37 + 1000),
        case ${hash(12, 40)} when 0 then null when 1 then 'error-' || ${hash(13, 30)} when 2 then 'silence' when 3 then 'voicemail' when 4 then 'transferred'
          when 5 then 'transferred' when 6 then 'silence' else case when ${hash(13, 3)} = 0 then 'assistant-ended-call' else 'customer-ended-call' end end,
        case ${hash(14, 10)} when 0 then null when 1 then 'retell' when 2 then 'retell' when 3 then 'bland' else 'vapi' end,
        ${agent}, case when ${hash(15, 30)} = 0 then null else round(duration * 0.0021 + 0.01, 4) end,
        case when ${hash(16, 25)} = 0 then null else 420.5 + ${hash(16, 1900)} end,
        case ${hash(17, 200)} when 0 then 'billing' when 1 then 'urgent' when 2 then 'billing' else null end,
        'intent-' || (${hash(18, 13)} * ${hash(19, 3)}), ${hash(26, 11)}, ${verdict(27)}, ${verdict(28)}, ${verdict(29)},
        case when ${hash(30, 3)} = 0 then null else 'kept' end, case when ${hash(31, 33)} = 0 then 'agent-' || ${hash(32, 60)} end,
        ${sentences.join(', ')}
      from some;
    insert into calls (seq, project_id, id, created_at, updated_at, created_on_arrival, engagement_stated, status, completed_at,
        evaluation, is_engaged, duration, caller_number, called_number, ended_reason, source, agent_id, review, recording, cost_usd,
        latency_ms, document_chars, change_seq, value_list)
      select n + 1, ${projectId}, id, created_at, coalesce(ended_at, created_at) + 60000, 0, 1, status, ended_at, evaluation, engaged, duration, caller, called, reason,
        source, agent, case when labels is not null then json_object('evaluation', null, 'labels', json_array(labels), 'reviewed', json(case when n % 3 = 0 then 'true' else 'false' end),
          'criteria', json('{}'), 'noted', json('false'), 'flagged', json('false'), 'assignee', case when n % 2 = 0 then 'asg_1' end, 'by', null, 'at', '2025-12-31T00:00:00.000Z') end,
        recording, cost, latency, 900, n + 1,
        '[' || case when labels is null then '' else json_quote('["label",' || json_quote(labels) || ']') || ',' end
          || case when labels is not null and n % 2 = 0 then '"[\\"assignee\\",\\"asg_1\\"]",' else '' end
          || case when labels is not null and n % 3 = 0 then '"[\\"reviewed\\",true]",' else '' end
          || case when recording is null then '' else '"[\\"recording\\",\\"kept\\"]",' end
          || '"[\\"criterion.greeting\\",\\"' || greeting || '\\"]","[\\"criterion.verified\\",\\"' || verified || '\\"]","[\\"criterion.tone\\",\\"' || tone || '\\"]",'
          || case when other is null or other = agent then '' else '"[\\"otherAgentId\\",\\"' || other || '\\"]",' end
          || '"[\\"analysis.intent\\",\\"' || intent || '\\"]","[\\"analysis.score\\",' || score || ']"]'
      from made;
    insert into call_documents (seq, call_change_seq, has_parts, document)
      select n + 1, n + 1, 0, '{"id":"' || id || '","status":"' || status || '","duration":' || duration || ',"summary":"About ' || intent || '","evaluation":' || json_quote(evaluation)
        || ',"isEngaged":' || case engaged when 1 then 'true' else 'false' end || ',"endedReason":' || json_quote(reason) || ',"callerNumber":"' || caller || '","calledNumber":"' || called
        || '","callAnalysis":{"intent":"' || intent || '","score":' || score || '},"transcript":[{"role":"user","content":"' || ${extra} || s0.text || '"},{"role":"assistant","content":"' || s1.text
        || '"},{"role":"user","content":"' || s2.text || '"},{"role":"assistant","content":"' || s3.text || '"},{"role":"user","content":"' || s4.text || '"},{"role":"assistant","content":"' || s5.text
        || '"}],"createdAt":"' || ${iso('created_at')} || '","updatedAt":"' || ${iso('(coalesce(ended_at, created_at) + 60000)')} || '"}'
      from made cross join sentences as s0 on s0.at = t0 cross join sentences as s1 on s1.at = t1 cross join sentences as s2 on s2.at = t2
        cross join sentences as s3 on s3.at = t3 cross join sentences as s4 on s4.at = t4 cross join sentences as s5 on s5.at = t5 order by n;
    insert into call_details (seq, details, metadata)
      select n + 1, '{"source":' || json_quote(source) || ',"agent":{"id":"' || agent || '","name":"Agent ' || agent || '"},"direction":null,"recordingUrl":null,"costUsd":' || json_quote(cost)
        || ',"latencyMs":' || json_quote(latency) || ',"recording":null,"analysis":null,"timeline":[],"review":null,"redacted":null}', null from made;
    create virtual table if not exists call_words_${segment} using fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii');
    insert into call_words_${segment} (rowid, words)
      select n + 1, ${own} || s0.own || s1.own || s2.own || s3.own || s4.own || s5.own || '${projectId}xabout ${projectId}x' || replace(intent, '-', ' ${projectId}x') || ' ' || ${word('caller')} || ${word('called')}
      from made cross join sentences as s0 on s0.at = t0 cross join sentences as s1 on s1.at = t1 cross join sentences as s2 on s2.at = t2
        cross join sentences as s3 on s3.at = t3 cross join sentences as s4 on s4.at = t4 cross join sentences as s5 on s5.at = t5 order by n;
    insert into call_words_${segment} (call_words_${segment}) values ('optimize');
    insert or ignore into call_segments values (${projectId}, ${segment});`
}

if (import.meta.main) {
  const [folder = '', count = '1000000'] = process.argv.slice(2)
  const startedAt = performance.now()
  const dataset = await fillWithCalls(folder, Number(count))
  writeFileSync(join(folder, 'dataset.json'), JSON.stringify(dataset))
  console.log(`${count} calls in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
}
