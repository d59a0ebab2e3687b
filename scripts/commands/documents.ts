import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { toItemName } from '../../src/knowledge/chunking/document-name.ts'

const extensions = ['.md', '.txt']

export interface Document {
  path: string
  /** The file's name without its extension. */
  name: string
  bytes: number
}

interface Found {
  documents: Document[]
  errors: { path: string; error: unknown }[]
}

/**
 * The .md and .txt files at and below these paths, sorted within each path, each once. Names in a folder that start
 * with a dot are skipped, and so are links to folders, which could form a circle.
 */
export async function findDocuments(paths: readonly string[]): Promise<Found> {
  const found: Found = { documents: [], errors: [] }
  const seen = new Set<string>()
  for (const path of paths) {
    const before = found.documents.length + found.errors.length
    await visit(path, { found, seen, isGiven: true })
    if (found.documents.length + found.errors.length > before || !(await isFolder(path))) continue
    found.errors.push({ path, error: new Error('there is no .md or .txt file in it') })
  }
  return found
}

interface Visit {
  found: Found
  seen: Set<string>
  /** Whether it is named on the command line, and so must not be skipped silently. */
  isGiven: boolean
}

async function visit(path: string, { found, seen, isGiven }: Visit): Promise<void> {
  try {
    const info = await stat(path)
    if (info.isDirectory()) {
      for (const child of await children(path)) await visit(child, { found, seen, isGiven: false })
      return
    }
    const isDocument = info.isFile() && extensions.includes(extname(path).toLowerCase())
    if (!isDocument && isGiven) throw new Error('is not a .md or .txt file')
    const real = await realpath(path)
    if (!isDocument || seen.has(real)) return
    seen.add(real)
    found.documents.push({ path, name: nameOf(path), bytes: info.size })
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
    const isUseful = entry.isDirectory() || extensions.includes(extname(entry.name).toLowerCase())
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

function nameOf(path: string): string {
  const file = basename(path)
  return toItemName(file.slice(0, file.length - extname(file).length).toWellFormed())
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
