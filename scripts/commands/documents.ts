import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { minimatch } from 'minimatch'
import { invalidRequest } from '../../src/errors.ts'
import type { FileText } from '../../src/knowledge/files/file-text.ts'
import { fileKind, readableFiles } from '../../src/knowledge/files/file-text.ts'
import { limits } from '../../src/limits.ts'
import type { Services } from '../../src/services/services.ts'
import { tagsMax, tagsProblem, toTags } from '../../src/text/tags.ts'

export interface Document {
  path: string
  bytes: number
}

/** A file or folder that was passed over, and why. */
export interface Skipped {
  path: string
  reason: string
}

interface Found {
  documents: Document[]
  skipped: Skipped[]
  errors: { path: string; error: unknown }[]
}

/** The reason of a file that a pattern leaves out, though it is there. */
export const leftOut = 'left out by --include or --exclude'

/** Which files of a folder to read, by patterns such as `guides/**`, `*.md` or `drafts`. */
export interface Choice {
  /** All by default. */
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
}

interface Visit {
  found: Found
  /** By the real path. */
  seen: Map<string, { document: Document; isLink: boolean }>
  /** The folder that is searched; null for a path on the command line, which must not be skipped silently. */
  root: string | null
  choice: Choice
}

/**
 * The files that can be read at and below these paths, sorted within each path, each once. Names in a folder that start
 * with a dot are skipped, and so are links to folders, which could form a circle, and links that lead out of the folder.
 * A file goes before links to it.
 */
export async function findDocuments(paths: readonly string[]): Promise<Found> {
  const found: Found = { documents: [], skipped: [], errors: [] }
  const seen: Visit['seen'] = new Map()
  for (const path of paths) {
    const before = found.documents.length + found.errors.length
    await visit(path, { found, seen, root: null, choice: {} })
    if (found.documents.length + found.errors.length > before || !(await isFolder(path))) continue
    found.errors.push({ path, error: new Error(`there are no ${readableFiles} in it`) })
  }
  return found
}

/** The same for one folder, which may be empty. @throws when it cannot be listed */
export async function findInFolder(folder: string, choice: Choice = {}): Promise<Found> {
  const found: Found = { documents: [], skipped: [], errors: [] }
  await visitAll(folder, { found, seen: new Map(), root: folder, choice })
  return found
}

/** Reads a file as an item. @throws if it cannot be read */
export async function readItem(
  { files }: Pick<Services, 'files'>,
  { path, bytes }: Document,
): Promise<FileText> {
  if (bytes > limits.file.most)
    throw new Error(`has ${bytes} bytes; at most ${limits.file.most} are accepted`)
  return await files.read({ name: path, bytes: await readFile(path) })
}

/** The tags of a file and those of `--tag`, at most twenty; undefined if neither names any. */
export function withTags(
  { tags, warnings }: FileText,
  added: readonly string[],
): Pick<FileText, 'tags' | 'warnings'> {
  if (!tags && added.length === 0) return { warnings }
  const all = [...new Set([...added, ...(tags ?? [])])]
  const beyond = all.splice(tagsMax)
  const left = beyond.map((tag) => `${tag} is beyond the ${tagsMax} tags that an item has, and was left out`)
  return { tags: toTags(all), warnings: [...warnings, ...left] }
}

/** @throws invalid_request for a value of `--tag` that is no tag */
export function checkTags(tags: readonly string[]): void {
  const message = tagsProblem(tags)
  if (message) throw invalidRequest([{ field: '--tag', message }])
}

async function visitAll(folder: string, { root, ...visiting }: Visit): Promise<void> {
  for (const path of await children(folder)) await visit(path, { ...visiting, root: root ?? folder })
}

async function visit(path: string, visiting: Visit): Promise<void> {
  const { found, seen, root } = visiting
  try {
    const reason = root === null ? null : await reasonToSkip(path, root, visiting.choice)
    if (reason !== null) return void found.skipped.push({ path, reason })
    const info = await stat(path)
    if (info.isDirectory()) return await visitAll(path, visiting)
    if (!info.isFile() || fileKind(path) === null)
      throw new Error(`cannot be read; only ${readableFiles} can be`)
    const real = await realpath(path)
    const isLink = (await lstat(path)).isSymbolicLink()
    const earlier = seen.get(real)
    if (earlier && (isLink || !earlier.isLink)) return
    if (earlier) found.documents.splice(found.documents.indexOf(earlier.document), 1)
    const document = { path, bytes: info.size }
    seen.set(real, { document, isLink })
    found.documents.push(document)
  } catch (error) {
    found.errors.push({ path, error })
  }
}

/** Why a path below a folder is passed over; null if it is to be read. */
async function reasonToSkip(path: string, root: string, choice: Choice): Promise<string | null> {
  const info = await lstat(path)
  if (basename(path).startsWith('.')) return 'its name starts with a dot'
  if (info.isDirectory()) return null
  const isLink = info.isSymbolicLink()
  if (isLink && (await isFolder(path))) return 'it is a link to a folder'
  if (!isChosen(pathIn(root, path), choice)) return leftOut
  if (fileKind(path) === null)
    return isLink && !existsSync(path)
      ? 'it is a link that leads nowhere'
      : `only ${readableFiles} can be read`
  if (!isLink) return info.isFile() ? null : 'it is not a file'
  // Throws for a link that leads nowhere, which is an error, like a file that cannot be read.
  const target = pathIn(await realpath(root), await realpath(path))
  const isHidden = target.split('/').some((part) => part.startsWith('.'))
  return isHidden ? 'it is a link out of the folder or to a hidden file' : null
}

/** A folder that is chosen includes all that is in it. */
function isChosen(path: string, { include, exclude = [] }: Choice): boolean {
  const parts = path.split('/')
  const above = parts.map((_, at) => parts.slice(0, at + 1).join('/'))
  const isIn = (patterns: readonly string[]) =>
    patterns.some((pattern) => above.some((part) => matches(part, pattern)))
  return !isIn(exclude) && (include === undefined || isIn(include))
}

/** A pattern without a slash is compared with the name alone, wherever it is. */
function matches(path: string, pattern: string): boolean {
  const plain = pattern.replace(/^\.\//, '').replace(/\/+$/, '')
  return minimatch(path, plain, { dot: true, matchBase: true, nocomment: true, nonegate: true })
}

/** The path of a file in a folder, with slashes on every system. */
export function pathIn(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/')
}

async function children(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort(byCodePoint).map((name) => join(folder, name))
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
