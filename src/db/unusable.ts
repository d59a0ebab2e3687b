import { statSync } from 'node:fs'

/** A database that cannot be used, in a sentence, and what to do about it, in another one. */
export class UnusableDatabase extends Error {
  readonly reason: string
  readonly advice: string

  constructor(reason: string, advice: string) {
    super(`${reason} ${advice}`)
    this.name = 'UnusableDatabase'
    this.reason = reason
    this.advice = advice
  }
}

/** What a command says where it finds none. @param place the file or the server */
export function noDatabase(place: string): UnusableDatabase {
  return new UnusableDatabase(
    `There is no database at ${place}.`,
    'Set DATA_DIR or DATABASE_URL as the service has it. The first start of the service makes a database: bun start',
  )
}

/** Whether neither the file nor its log has a page, or is there. */
export function isEmptyFile(file: string): boolean {
  return [file, `${file}-wal`].every((path) => !statSync(path, { throwIfNoEntry: false })?.size)
}
