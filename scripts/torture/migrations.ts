import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { repository } from '../bench/options.ts'
import type { Chance } from './chance.ts'
import type { Model } from './model.ts'
import { startVictim, untilReady } from './victim.ts'

const key = `ck_live_${'0123456789ab'.repeat(5)}`
const call = '{"id":"old","summary":"from an older version"}'

interface Journal {
  entries: { tag: string; when: number }[]
}

function readJournal(): Journal {
  return JSON.parse(readFileSync(join(repository, 'src/db/migrations/meta/_journal.json'), 'utf8'))
}

/** Kills the service while it brings a database of an older version, or none at all, to its own; returns the kills. */
export async function killMigrations(folder: string, chance: Chance, model: Model): Promise<number> {
  const { entries } = readJournal()
  const applied = chance.between(0, entries.length - 1)
  const dataDir = join(folder, 'migrating')
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (applied > 0) writeOldDatabase(join(dataDir, 'callbook.db'), entries.slice(0, applied))
  const kills = chance.between(1, 3)
  for (let kill = 0; kill < kills; kill++) {
    const victim = startVictim(dataDir)
    await sleep(chance.between(50, 450))
    await victim.kill()
  }
  const victim = startVictim(dataDir)
  const url = await victim.address
  if (!url || !(await untilReady(url, victim))) {
    model.violated(`a database of ${applied} migrations did not start after ${kills} kills`)
    cpSync(dataDir, `${dataDir}-failed`, { recursive: true })
  } else if (applied > 0) {
    const answer = await fetch(`${url}/v1/calls/old`, { headers: { authorization: `Bearer ${key}` } })
    const body = await answer.text()
    if (answer.status !== 200 || body !== call) model.violated(`after migration the old call answers ${body}`)
  }
  await victim.kill()
  const database = new Database(join(dataDir, 'callbook.db'))
  const done = Number(database.prepare('select count(*) from __drizzle_migrations').pluck().all()[0])
  if (done !== entries.length) model.violated(`${done} migrations are noted of ${entries.length}`)
  database.close()
  return kills + 1
}

function writeOldDatabase(file: string, entries: Journal['entries']): void {
  writeFileSync(file, '', { mode: 0o600 })
  const database = new Database(file)
  database.exec('pragma journal_mode = wal')
  database.exec(
    'create table __drizzle_migrations (id serial primary key, hash text not null, created_at numeric)',
  )
  for (const { tag, when } of entries) {
    const sql = readFileSync(join(repository, 'src/db/migrations', `${tag}.sql`), 'utf8')
    for (const statement of sql.split('--> statement-breakpoint')) database.exec(statement)
    const hash = createHash('sha256').update(sql).digest('hex')
    database.prepare('insert into __drizzle_migrations (hash, created_at) values (?, ?)').run(hash, when)
  }
  database.exec(`
    insert into projects (id, public_id, name, created_at) values (1, 'prj_old', 'old', 1);
    insert into keys (id, project_id, kind, name, hash, hint, allowed_ips, created_at)
      values ('key_old', 1, 'live', 'old', '${createHash('sha256').update(key).digest('hex')}', '89ab', '[]', 1);
    insert into calls (project_id, id, created_at, updated_at, status, is_engaged, duration, document_chars, change_seq)
      values (1, 'old', 1, 1, 'live', 0, 0, ${call.length}, 1);
    insert into call_documents (seq, document) values (1, '${call}');
    create virtual table chunk_words_1 using fts5(heading, text, content='', contentless_delete=1);
    create virtual table call_words_1 using fts5(words, content='', contentless_delete=1);`)
  database.close()
}
