import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Database from 'libsql'
import { openReadOnly } from '../../src/db/read-only.ts'

const pollMs = 50

/** Reads the database of a folder through a connection of its own, which leaves the write-ahead log as it is. */
export async function reading<Result>(
  dataDir: string,
  use: (database: Database.Database) => Result | Promise<Result>,
): Promise<Result> {
  const database = openReadOnly(join(dataDir, 'callbook.db'), 10_000)
  try {
    return await use(database)
  } finally {
    database.close()
  }
}

export function count(database: Database.Database, from: string): number {
  return Number(database.prepare(`select count(*) from ${from}`).pluck().all()[0])
}

/** Waits until there are none; returns how many there are. */
export async function untilNone(dataDir: string, from: string, withinMs: number): Promise<number> {
  const deadline = performance.now() + withinMs
  return await reading(dataDir, async (database) => {
    for (;;) {
      const left = count(database, from)
      if (left === 0 || performance.now() > deadline) return left
      await sleep(pollMs)
    }
  })
}
