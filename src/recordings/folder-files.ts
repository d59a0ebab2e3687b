import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError, unavailable } from '../errors.ts'
import type { Draft, OpenFile, RecordingFiles } from './files.ts'

const nameBytes = 16
const namePattern = /^[0-9a-f]{32}$/
// Numbers instead of handles: a handle that is collected while it is open ends the process.
const open = promisify(fs.open)
const close = promisify(fs.close)
const fsync = promisify(fs.fsync)
const fstat = promisify(fs.fstat)

/**
 * Files of recordings in a folder of this machine. A draft is in `incoming` until its row is committed, so that a kill
 * leaves nothing that only a search of the whole folder would find.
 */
export class FolderFiles implements RecordingFiles {
  readonly #folder: string
  readonly #incoming: string
  /** The drafts of this process, which are neither kept nor discarded. */
  readonly #drafts = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
    this.#incoming = join(folder, 'incoming')
  }

  async create(): Promise<Draft> {
    const name = newName()
    const path = join(this.#incoming, name)
    const file = await open(path, 'wx', 0o600).catch(refuseDisk)
    const closeFile = closingOnce(file)
    this.#drafts.add(name)
    return {
      name,
      path,
      write: (parts) => writeAll(file, parts).catch(refuseDisk),
      finish: async () => {
        await fsync(file).catch(refuseDisk).finally(closeFile)
        await syncFolder(this.#incoming).catch(refuseDisk)
      },
      discard: async () => {
        // What could not be written is not wanted.
        await closeFile().catch(() => undefined)
        await rm(path, { force: true })
        this.#drafts.delete(name)
      },
    }
  }

  async keep(name: string): Promise<void> {
    const path = join(this.#folder, name)
    await rename(join(this.#incoming, name), path).catch((error) => {
      // Whoever read the committed row may have kept it first.
      if (!fs.existsSync(path)) throw error
    })
    this.#drafts.delete(name)
  }

  async open(name: string): Promise<OpenFile | null> {
    // In the order in which a file moves, so that it is not missed.
    const file = (await this.#openIn(this.#incoming, name)) ?? (await this.#openIn(this.#folder, name))
    if (file === null) return null
    return {
      bytes: async () => (await fstat(file)).size,
      read: (position, length) => readFully(file, position, length),
      close: closingOnce(file),
    }
  }

  async local(name: string): Promise<{ path: string; release(): Promise<void> } | null> {
    const path = join(this.#folder, name)
    // Its row is committed, so it need not move while it is read.
    if (!fs.existsSync(path)) await orAbsent(this.keep(name))
    return fs.existsSync(path) ? { path, release: async () => undefined } : null
  }

  async remove(name: string): Promise<void> {
    for (const folder of [this.#incoming, this.#folder]) await rm(join(folder, name), { force: true })
    this.#drafts.delete(name)
  }

  async clear(isNamed: (names: string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const drafts = (await orAbsent(readdir(this.#incoming))) ?? []
    const names = drafts.filter((name) => !this.#drafts.has(name))
    const keptNames = await isNamed(names)
    for (const name of names) {
      if (keptNames.has(name)) await this.keep(name)
      else await rm(join(this.#incoming, name), { force: true })
    }
  }

  async *list(): AsyncGenerator<{ name: string; changedAt: number }> {
    for await (const { name } of (await orAbsent(opendir(this.#folder))) ?? []) {
      if (!namePattern.test(name)) continue
      const info = await orAbsent(stat(join(this.#folder, name)))
      if (info) yield { name, changedAt: info.mtimeMs }
    }
  }

  async #openIn(folder: string, name: string): Promise<number | null> {
    return await orAbsent(open(join(folder, name), 'r'))
  }
}

/** A second call must not close another file, which may have got the same number. */
function closingOnce(file: number): () => Promise<void> {
  let closing: Promise<void> | undefined
  return () => {
    closing ??= close(file)
    return closing
  }
}

function newName(): string {
  return randomBytes(nameBytes).toString('hex')
}

/** Null instead of the error that there is no such file or folder. */
async function orAbsent<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** @throws insufficient_storage for a full disk, unavailable for a read-only one and a folder that has left its path */
function refuseDisk(error: NodeJS.ErrnoException): never {
  if (error.code === 'EROFS') throw unavailable('The disk is read-only. The recording was not stored.', 60)
  // Only a start makes the folder.
  if (error.code === 'ENOENT')
    throw unavailable('The folder of recordings is not there. The recording was not stored.', 5)
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error
  throw new AppError('insufficient_storage', 'Insufficient storage', {
    detail: 'The disk is full. The recording was not stored.',
    cause: error,
  })
}

/** Writes the parts without joining them, which takes as long as hashing them. */
async function writeAll(file: number, parts: Uint8Array[]): Promise<void> {
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0)
  const count = await write(file, parts)
  if (count === bytes) return
  // As when the disk is nearly full: the next write fails.
  if (count === 0) throw Object.assign(new Error('Nothing more fits'), { code: 'ENOSPC' })
  await writeAll(file, [Buffer.concat(parts).subarray(count)])
}

function write(file: number, parts: Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.writev(file, parts, (error, count) => (error ? reject(error) : resolve(count)))
  })
}

async function readFully(file: number, position: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  while (at < length) {
    const count = await new Promise<number>((resolve, reject) => {
      fs.read(file, bytes, at, length - at, position + at, (error, read) =>
        error ? reject(error) : resolve(read),
      )
    })
    if (count === 0) break
    at += count
  }
  return bytes.subarray(0, at)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await fsync(folder).finally(() => close(folder))
}
