import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { documentName, toItemName } from '../../src/knowledge/chunking/document-name.ts'
import type { NewItem } from '../../src/knowledge/schemas.ts'

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

/**
 * What an item of the file says. Each kind of file that can be read is read here.
 * @throws when an item cannot hold the file's text
 */
export async function readItem(document: Document, bytesMax: number): Promise<NewItem> {
  const text = await readText(document, bytesMax)
  return { name: documentName(text) ?? document.name, text }
}

async function readText({ path, bytes }: Document, bytesMax: number): Promise<string> {
  if (bytes > bytesMax) throw new Error(`has ${bytes} bytes; at most ${bytesMax} are accepted`)
  const content = await readFile(path)
  const text = decode(content)
  if (text === null) throw new Error('is not valid UTF-8')
  if (text.includes('\0')) throw new Error('holds U+0000, so it is not a text')
  if (text.trim() === '' || !/\S/.test(text)) throw new Error('is blank')
  return text
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Not UTF-8.
    return null
  }
}

/** The same for one folder, which may be empty. @throws when it cannot be listed */
export async function findInFolder(folder: string): Promise<Found> {
  const found: Found = { documents: [], errors: [] }
  const seen = new Set<string>()
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
