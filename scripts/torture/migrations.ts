import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import type { Chance } from './chance.ts'
import type { Model } from './model.ts'
import { buildOldDatabase, makeNextVersion, oldCallId } from './next-version.ts'
import { startVictim, untilReady } from './victim.ts'

/**
 * Kills the next version while it migrates this version's database, or creates a new one.
 * @param folder keeps the old database and the next version for the following calls
 * @returns how often it was killed
 */
export async function killMigrations(folder: string, chance: Chance, model: Model): Promise<number> {
  const [old, next] = [join(folder, 'old'), join(folder, 'next')]
  if (!existsSync(old)) await buildOldDatabase(old)
  if (!existsSync(next)) makeNextVersion(folder)
  const isUpgrade = chance.happens(0.7)
  const dataDir = join(folder, 'migrating')
  rmSync(dataDir, { recursive: true, force: true })
  if (isUpgrade) cpSync(old, dataDir, { recursive: true })
  else mkdirSync(dataDir, { mode: 0o700 })
  const kills = chance.between(1, 3)
  for (let kill = 0; kill < kills; kill++) {
    const victim = startVictim(dataDir, next)
    await sleep(chance.between(50, 450))
    await victim.kill()
  }
  const victim = startVictim(dataDir, next)
  const url = await victim.address
  if (!url || !(await untilReady(url, victim))) {
    model.violated(
      `a ${isUpgrade ? 'database to upgrade' : 'new database'} did not start after ${kills} kills`,
    )
    cpSync(dataDir, `${dataDir}-failed`, { recursive: true })
  }
  await victim.kill()
  if (!isUpgrade) return kills + 1
  const migrations = readdirSync(join(next, 'src/db/migrations')).filter((name) => name.endsWith('.sql'))
  const [oldFile, newFile] = [join(old, 'callbook.db'), join(dataDir, 'callbook.db')]
  compareRows({ oldFile, newFile, migrations: migrations.length, model })
  return kills + 1
}

interface Comparison {
  oldFile: string
  newFile: string
  /** How many the next version has. */
  migrations: number
  model: Model
}

/** Every row is there after the upgrade, also those that refer to the table that was rewritten. */
function compareRows({ oldFile, newFile, migrations, model }: Comparison): void {
  const read = (file: string, sql: string) => {
    const database = new Database(file)
    try {
      return JSON.stringify(database.prepare(sql).raw().all())
    } finally {
      database.close()
    }
  }
  const queries = [
    'select seq, project_id, id, name, description, text, created_at from knowledge_items order by seq',
    'select label, item_seq, position, text, hex(embedding) from chunks order by label',
    `select document from call_documents natural join calls where id = '${oldCallId}'`,
  ]
  for (const sql of queries)
    if (read(oldFile, sql) !== read(newFile, sql))
      model.violated(`the upgrade changed what this finds: ${sql}`)
  if (read(newFile, 'select count(*) from __drizzle_migrations') !== `[[${migrations}]]`)
    model.violated('the upgrade did not note each migration once')
}
