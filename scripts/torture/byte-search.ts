import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inIndex, vectorBytes } from './vectors.ts'

// Searches every byte of every file in a folder for what was deleted. This is a separate program because a process
// that reads a database's file itself loses SQLite's locks on it. https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_

/** The keyword index stores a word without the prefix that it shares with the previous word, so search for parts. */
const windowChars = 10
/** A part of a vector: eight numbers, or sixteen of an index, which no other vector shares by chance. */
const pieceBytes = 32
/** Pieces with fewer distinct bytes, mostly zeros, occur in other vectors as well. */
const distinctBytesMin = 16

export interface ByteSearch {
  folder: string
  /** Of consonants or digits. Any ten characters of a word in a row count as found, whatever their case. */
  words: string[]
  /** A file of concatenated vectors, as the database has them, outside the folder. */
  vectorFile: string
}

export interface ByteSearchResult {
  bytes: number
  found: { file: string; what: string }[]
}

const { folder, words, vectorFile }: ByteSearch = JSON.parse(readFileSync(0, 'utf8'))
const windows = windowsOf(words)
const { pieces, isFirst } = piecesOf(readFileSync(vectorFile))
const result: ByteSearchResult = { bytes: 0, found: [] }
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const bytes = readIfThere(join(entry.parentPath, entry.name))
  result.bytes += bytes.length
  for (const what of [...wordsIn(bytes), ...vectorsIn(bytes)]) result.found.push({ file: entry.name, what })
}
process.stdout.write(JSON.stringify(result))

function windowsOf(words: string[]): Map<string, string> {
  const windows = new Map<string, string>()
  for (const word of words)
    for (let at = 0; at + windowChars <= word.length; at++)
      windows.set(word.slice(at, at + windowChars), word)
  return windows
}

function wordsIn(bytes: Buffer): Set<string> {
  const found = new Set<string>()
  for (const [run] of bytes
    .toString('latin1')
    .toLowerCase()
    .matchAll(/[bcdfghjklmnpqrtvwxz]{10,}|\d{10,}/g)) {
    for (let at = 0; at + windowChars <= run.length; at++) {
      const word = windows.get(run.slice(at, at + windowChars))
      if (word !== undefined) found.add(word)
    }
  }
  return found
}

/** Pieces of both forms by their first four bytes, and a flag for each of these, which makes the check of every byte cheap. */
function piecesOf(vectors: Buffer) {
  const pieces = new Map<number, { bytes: Buffer; vector: number }[]>()
  const isFirst = new Uint8Array(1 << 21)
  for (const form of [vectors, inIndex(vectors)]) {
    const bytesEach = (vectorBytes * form.length) / vectors.length
    for (let at = 0; at + pieceBytes <= form.length; at += pieceBytes) {
      const bytes = form.subarray(at, at + pieceBytes)
      const first = bytes.readUInt32LE(0)
      if (first === 0 || new Set(bytes).size < distinctBytesMin) continue
      const piece = { bytes, vector: Math.floor(at / bytesEach) }
      const others = pieces.get(first)
      if (others) others.push(piece)
      else pieces.set(first, [piece])
      isFirst[bitOf(first)] = 1
    }
  }
  return { pieces, isFirst }
}

/** Drops the exponent, which varies least. */
function bitOf(first: number): number {
  return first & 0x1fffff
}

function vectorsIn(bytes: Buffer): Set<string> {
  const found = new Set<string>()
  let first = 0
  for (let end = 0; end < bytes.length; end++) {
    first = (first >>> 8) | ((bytes[end] ?? 0) << 24)
    if (isFirst[bitOf(first)] !== 1) continue
    for (const piece of pieces.get(first >>> 0) ?? []) {
      const isThere = bytes.subarray(end - 3, end - 3 + pieceBytes).equals(piece.bytes)
      if (isThere) found.add(`vector ${piece.vector}`)
    }
  }
  return found
}

/** A temporary index file may be renamed in the meantime. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
