import type { ReadAt } from './frames.ts'

/** A file that is open for reading. */
export interface OpenFile {
  /** The size of the file, which is encrypted. */
  bytes(): Promise<number>
  read: ReadAt
  close(): Promise<void>
}

/** A file that is being written. Whoever made it finishes or discards it. */
export interface Draft {
  readonly name: string
  /** Where it is on this machine, until it is kept. */
  readonly path: string
  write(parts: Uint8Array[]): Promise<void>
  /** Durable when it returns, but not there to be opened yet. */
  finish(): Promise<void>
  discard(): Promise<void>
}

/** Where the encrypted files of recordings are. Each has a random name, and what a name holds never changes. */
export interface RecordingFiles {
  create(): Promise<Draft>
  /** Call it once the row that names a finished draft is committed. */
  keep(name: string): Promise<void>
  /** Null if there is none. */
  open(name: string): Promise<OpenFile | null>
  /** A copy on this machine, until it is released; null if there is none. */
  local(name: string): Promise<{ path: string; release(): Promise<void> } | null>
  /** Does nothing if there is none. */
  remove(name: string): Promise<void>
  /** Keeps the drafts of earlier processes that a row names, and removes their others. */
  clear(isNamed: (names: string[]) => Promise<ReadonlySet<string>>): Promise<void>
  /** Yields all files that are kept. */
  list(): AsyncIterable<{ name: string; changedAt: number }>
}
