import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import type { Chance } from './chance.ts'
import type { Model } from './model.ts'
import { countMigrations, oldRecords, writeOldDatabase } from './old-database.ts'
import { startVictim, untilReady } from './victim.ts'

/** Kills the service while it brings a database of an older version, or none at all, to its own; returns the kills. */
export async function killMigrations(folder: string, chance: Chance, model: Model): Promise<number> {
  const migrations = countMigrations()
  const applied = chance.between(0, migrations - 1)
  const dataDir = join(folder, 'migrating')
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (applied > 0) writeOldDatabase(join(dataDir, 'callbook.db'), applied)
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
    const answer = await fetch(`${url}/v1/calls/old`, {
      headers: { authorization: `Bearer ${oldRecords.key}` },
    })
    const body = await answer.text()
    if (answer.status !== 200 || body !== oldRecords.call)
      model.violated(`after migration the old call answers ${body}`)
  }
  await victim.kill()
  const database = new Database(join(dataDir, 'callbook.db'))
  const done = Number(database.prepare('select count(*) from __drizzle_migrations').pluck().all()[0])
  if (done !== migrations) model.violated(`${done} migrations are noted of ${migrations}`)
  database.close()
  return kills + 1
}
