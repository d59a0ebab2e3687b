import { AppError, type FieldError, invalidRequest } from '../../src/errors.ts'

const systemErrors: Record<string, string> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links form a circle',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EIO: 'the disk cannot be read',
}

/** An error as one line for people, without stack, query or stored text. */
export function sentenceOf(error: unknown): string {
  if (error instanceof AppError) return shown(error.errors ? fieldSentences(error.errors) : error.detail)
  if (!(error instanceof Error)) return shown(String(error))
  // Drizzle's message holds people's texts, the query's values. Its cause does not.
  if ('query' in error) return `The database failed: ${sentenceOf(error.cause ?? 'it did not say why')}`
  return 'code' in error ? systemSentence(error, String(error.code)) : error.message
}

/** What is wrong with each field; `body` means the whole. */
export function fieldSentences(errors: readonly FieldError[]): string {
  return errors.map(({ field, message }) => (field === 'body' ? message : `${field}: ${message}`)).join('; ')
}

/** For `catch`: throws the same error with the command's options as field names. */
export function namingOptions(toOption: (error: FieldError) => FieldError) {
  return (error: unknown): never => {
    if (error instanceof AppError && error.errors) throw invalidRequest(error.errors.map(toOption))
    throw error
  }
}

/** For an option that can be repeated: all of its values. */
export function collect(value: string, values: string[] = []): string[] {
  return [...values, value]
}

/** A text for one line of a terminal: escapes control characters, which could move the cursor. */
export function shown(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Rows as columns of equal width. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => shown(row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => shown(cell).padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** `1 call`, `2 calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`
}

function systemSentence(error: Error, code: string): string {
  // libSQL puts its code in front, once for each layer that the error came through.
  if (code.startsWith('SQLITE'))
    return `The database failed: ${shown(error.message.replace(/^(?:SQLITE\w*: )+/, ''))}`
  const sentence = systemErrors[code]
  if (!sentence) return shown(error.message)
  return 'path' in error && typeof error.path === 'string' ? `${shown(error.path)}: ${sentence}` : sentence
}
