import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// Looks for words in every byte of every file of a folder. A program of its own: a process that reads a database's file
// by itself loses SQLite's locks on it. https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_

/** The keyword index stores a word without what it shares with the one before. */
const tailChars = 12

export interface ByteSearch {
  folder: string
  words: string[]
}

export interface ByteSearchResult {
  bytes: number
  found: { file: string; word: string }[]
}

const { folder, words }: ByteSearch = JSON.parse(readFileSync(0, 'utf8'))
const tails = new Map(words.map((word) => [word.slice(-tailChars), word]))
const result: ByteSearchResult = { bytes: 0, found: [] }
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const text = readIfThere(join(entry.parentPath, entry.name)).toLowerCase()
  result.bytes += text.length
  for (const [run] of text.matchAll(/[bcdfghjklmnpqrtvwxz]{12,}/g)) {
    for (let at = 0; at + tailChars <= run.length; at++) {
      const word = tails.get(run.slice(at, at + tailChars))
      if (word !== undefined) result.found.push({ file: entry.name, word })
    }
  }
}
process.stdout.write(JSON.stringify(result))

/** An index file that is being saved may get its final name meanwhile. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
