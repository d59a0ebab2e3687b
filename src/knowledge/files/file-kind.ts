import { basename, extname } from 'node:path/posix'

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
