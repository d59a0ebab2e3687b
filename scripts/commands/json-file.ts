import { readFileSync } from 'node:fs'
import { jsonOf } from '../../src/validation.ts'
import { shown } from './sentences.ts'

/** The JSON value in a file, or for `-` in standard input. @throws if it is not JSON */
export function readJson(file: string): unknown {
  const value = jsonOf(readFileSync(file === '-' ? 0 : file, 'utf8'))
  if (value === undefined) throw new Error(`${shown(file)} is not JSON.`)
  return value
}
