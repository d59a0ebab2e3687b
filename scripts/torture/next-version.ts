import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type Dataset, makeDataset } from '../dataset.ts'
import { repository } from '../repository.ts'

const rowsMin = 500
const textBytes = 20_000
const tag = '9999_next'

/** Rewrites a table that others reference, as drizzle-kit does. Its rows and the rows that reference them must survive. */
const rewrite = `
  -- The only trigger of another table that names this one, which could not be renamed with it.
  DROP TRIGGER chunks_update_events;
  CREATE TABLE __new_knowledge_items (
    seq integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    id text NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    text text NOT NULL,
    text_hash text NOT NULL,
    updated_at integer NOT NULL,
    updated_by text,
    change_seq integer NOT NULL,
    created_at integer NOT NULL,
    tags text DEFAULT '[]' NOT NULL,
    next integer DEFAULT 1 NOT NULL);
  INSERT INTO __new_knowledge_items SELECT *, 1 FROM knowledge_items;
  DROP TABLE knowledge_items;
  ALTER TABLE __new_knowledge_items RENAME TO knowledge_items;
  CREATE UNIQUE INDEX knowledge_items_by_id ON knowledge_items (project_id, id);
  CREATE INDEX knowledge_items_by_time ON knowledge_items (project_id, created_at, seq);
  CREATE INDEX knowledge_items_by_change ON knowledge_items (project_id, change_seq);
  CREATE INDEX knowledge_items_by_text ON knowledge_items (project_id, text_hash);`

interface Journal {
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[]
}

/** Copies this program and adds a migration. Returns the copy's folder. */
export function makeNextVersion(folder: string): string {
  const root = join(folder, 'next')
  cpSync(join(repository, 'src'), join(root, 'src'), { recursive: true })
  cpSync(join(repository, 'package.json'), join(root, 'package.json'))
  for (const name of ['node_modules', 'dist']) symlinkSync(join(repository, name), join(root, name))
  const migrations = join(root, 'src/db/migrations')
  writeFileSync(
    join(migrations, `${tag}.sql`),
    rewrite.trim().replaceAll(';\n', ';\n--> statement-breakpoint\n'),
  )
  const journalFile = join(migrations, 'meta/_journal.json')
  const journal: Journal = JSON.parse(readFileSync(journalFile, 'utf8'))
  journal.entries.push({
    idx: journal.entries.length,
    version: '6',
    when: Date.now(),
    tag,
    breakpoints: true,
  })
  writeFileSync(journalFile, JSON.stringify(journal))
  return root
}

/** The content of a database before the upgrade. */
export const oldCallId = 'old'
export const oldItem = { name: 'Refunds', text: 'A refund takes a week.' }

/** Creates a database of this version with enough rows that rewriting them takes a while. */
export async function buildOldDatabase(folder: string): Promise<Dataset> {
  return await makeDataset({
    folder,
    async fill({ ingest, knowledge, database }, projectId) {
      await ingest.put(projectId, oldCallId, { summary: 'from this version' })
      await knowledge.add(projectId, { ...oldItem, description: '' })
      await database.write.run(sql`
        with recursive n (n) as (select 1 union all select n + 1 from n where n < ${rowsMin})
        insert into knowledge_items (project_id, id, name, description, text, text_hash, updated_at, change_seq, created_at)
        select ${projectId}, 'kn_' || n, 'Item ' || n, '', hex(randomblob(${textBytes / 2})), '', 0, 0, 0 from n`)
    },
  })
}
