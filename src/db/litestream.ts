import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const reason =
  'Litestream copies this database: its copies keep what is deleted, and it keeps the log from being emptied, so deleted bytes are not erased.'

/** Why erasure does not hold for a database file, if Litestream's folder is beside it. https://litestream.io/how-it-works */
export function litestreamProblem(file: string): string | null {
  return existsSync(join(dirname(file), `.${basename(file)}-litestream`)) ? reason : null
}
