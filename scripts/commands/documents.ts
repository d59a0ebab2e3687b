import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { toItemName } from '../../src/knowledge/chunking/document-name.ts'

const extensions = ['.md', '.txt']

export interface Document {
  path: string
  /** From the file's name, without its extension. */
  name: string
  bytes: number
}

interface Found {
  documents: Document[]
  errors: { path: string; error: unknown }[]
}

/**
 * The .md and .txt files at these paths and below them, sorted within each path, each once. Below a folder,
 * names that start with a dot are left out, and links to folders, which could lead in a circle.
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
  /** Named on the command line, so that leaving it out would be a surprise. */
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
  // What cannot be looked at is no folder here; whoever opens it learns why.
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
