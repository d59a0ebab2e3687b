import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileKind, readableFiles } from '../../src/knowledge/files/file-kind.ts'
import { fileBytesMax } from '../../src/knowledge/files/file-reader.ts'
import type { NewItem } from '../../src/knowledge/schemas.ts'
import type { Services } from '../../src/services/services.ts'

export interface Document {
  path: string
  bytes: number
}

interface Found {
  documents: Document[]
  errors: { path: string; error: unknown }[]
}

/**
 * The files that can be read at and below these paths, sorted within each path, each once. Names in a folder that start
 * with a dot are skipped, and so are links to folders, which could form a circle. A file goes before links to it.
 */
export async function findDocuments(paths: readonly string[]): Promise<Found> {
  const found: Found = { documents: [], errors: [] }
  const seen: Visit['seen'] = new Map()
  for (const path of paths) {
    const before = found.documents.length + found.errors.length
    await visit(path, { found, seen, isGiven: true })
    if (found.documents.length + found.errors.length > before || !(await isFolder(path))) continue
    found.errors.push({ path, error: new Error(`there are no ${readableFiles} in it`) })
  }
  return found
}

interface Visit {
  found: Found
  /** By the real path. */
  seen: Map<string, { document: Document; isLink: boolean }>
  /** Whether it is named on the command line, and so must not be skipped silently. */
  isGiven: boolean
}

/** Reads a file as an item. @throws if it cannot be read */
export async function readItem(
  { files }: Pick<Services, 'files'>,
  { path, bytes }: Document,
): Promise<NewItem> {
  if (bytes > fileBytesMax) throw new Error(`has ${bytes} bytes; at most ${fileBytesMax} are accepted`)
  return await files.read({ name: path, bytes: await readFile(path) })
}

/** The same for one folder, which may be empty. @throws when it cannot be listed */
export async function findInFolder(folder: string): Promise<Found> {
  const found: Found = { documents: [], errors: [] }
  const seen: Visit['seen'] = new Map()
  for (const path of await children(folder)) await visit(path, { found, seen, isGiven: false })
  return found
}

async function visit(path: string, { found, seen, isGiven }: Visit): Promise<void> {
  try {
    const info = await stat(path)
    if (info.isDirectory()) {
      for (const child of await children(path)) await visit(child, { found, seen, isGiven: false })
      return
    }
    const isDocument = info.isFile() && fileKind(path) !== null
    if (!isDocument && isGiven) throw new Error(`cannot be read; only ${readableFiles} can be`)
    const real = await realpath(path)
    const isLink = (await lstat(path)).isSymbolicLink()
    const earlier = seen.get(real)
    if (!isDocument || (earlier && (isLink || !earlier.isLink))) return
    if (earlier) found.documents.splice(found.documents.indexOf(earlier.document), 1)
    const document = { path, bytes: info.size }
    seen.set(real, { document, isLink })
    found.documents.push(document)
  } catch (error) {
    found.errors.push({ path, error })
  }
}

async function children(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const isLinkedFolder = entry.isSymbolicLink() && (await isFolder(join(folder, entry.name)))
    const isUseful = entry.isDirectory() || fileKind(entry.name) !== null
    if (isUseful && !isLinkedFolder) names.push(entry.name)
  }
  return names.sort(byCodePoint).map((name) => join(folder, name))
}

async function isFolder(path: string): Promise<boolean> {
  // Opening the path reports why it cannot be read.
  return await stat(path)
    .then((info) => info.isDirectory())
    .catch(() => false)
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
