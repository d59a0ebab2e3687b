import { basename, extname } from 'node:path/posix'

/** A file as an item: its text in Markdown, its name and its description. */
export interface FileText {
  name: string
  description: string
  text: string
  /** Of its front matter; absent if that names none. */
  tags?: string[]
  /** The questions of its front matter, which it answers. */
  questions: string[]
  /** What of its front matter was left out, as sentences. */
  warnings: string[]
}

/** What a converter returns. Title and description are those in the file; null if it has none. */
export interface Converted {
  title: string | null
  description: string | null
  text: string
}

/** Why an upload is refused: its form is malformed, it is too large, its type is not supported, or nobody can read it. */
export type RefusalCode = 'bad_form' | 'too_large' | 'unknown_type' | 'unreadable'

/** A refused file. The message is a sentence for the person who sent it. */
export class FileRefusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.name = 'FileRefusal'
    this.code = code
  }
}

export function unreadable(message: string): FileRefusal {
  return new FileRefusal('unreadable', message)
}

/** The kind of a file, by its extension. */
export type FileKind = 'text' | 'html' | 'pdf' | 'docx' | 'csv'

const kinds: Record<string, FileKind> = {
  '.md': 'text',
  '.markdown': 'text',
  '.mdx': 'text',
  '.rst': 'text',
  '.txt': 'text',
  '.html': 'html',
  '.htm': 'html',
  '.pdf': 'pdf',
  '.docx': 'docx',
  '.csv': 'csv',
}

/** The readable files, for messages. */
export const readableFiles = '.md, .mdx, .rst, .txt, .html, .pdf, .docx and .csv files'

/** Null for an unsupported extension. */
export function fileKind(fileName: string): FileKind | null {
  return kinds[extname(fileName).toLowerCase()] ?? null
}

/** A file's name without its folder and its extension. */
export function titleOfFile(fileName: string): string {
  const file = basename(fileName.replaceAll('\\', '/'))
  return file.slice(0, file.length - extname(file).length)
}
