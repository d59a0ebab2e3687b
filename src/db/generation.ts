import { existsSync } from 'node:fs'
import type { InStatement } from '@libsql/client'
import { openReadOnly } from './read-only.ts'

const busyTimeoutMs = 1_000

export const selectGeneration = "select value from meta where name = 'generation'"

/** The generation of the database that a file holds; null for a replica until a first sync has fetched it. */
export function generationOfFile(file: string): string | null {
  if (!existsSync(file)) return null
  const plain = openReadOnly(file, busyTimeoutMs)
  try {
    return textOf(plain.prepare(selectGeneration).pluck().all()[0])
  } catch (error) {
    if (lacksTable(error)) return null
    throw error
  } finally {
    plain.close()
  }
}

/** A statement that fails in a database of another generation. requirements.ts says why it asks for a JSON path. */
export function requireGeneration(generation: string): InStatement {
  const sql = `select case when (${selectGeneration}) is not ? then json_extract('{}', 'another database') end`
  return { sql, args: [generation] }
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function lacksTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table')
}
