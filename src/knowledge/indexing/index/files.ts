import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { ExpectedHeader } from './rows.ts'

// A file is exactly as hnswlib writes it, except that it holds a footer of ours. hnswlib refuses bytes before or
// after its own, and reads files by path only. But it stores the size of each vector's upper links and ignores what
// follows the last whole list, so the footer is counted as part of the last vector's upper links.
//   head    13 numbers: see hnswalg.h, saveIndex()
//   vectors count × (links of the lowest level · vector · label), `vectorBytes` each
//   links   count × (size · links of the upper levels)
//   footer  magic · format · dimensions · knowledge version · generation · space · CRC-32 of all before it
const headBytes = 96
const footerBytes = 64
const digestBytes = 4
const magic = Buffer.from('CALLBOOK')
const formatVersion = 3
/** A vector is a float and a number of 16 bits for each dimension: see scripts/short-space.h. */
const bytesOfVector = (dimensions: number) => 4 + dimensions * 2
/** Where hnswlib marks a vector as deleted: a byte of the vector's links, and the bit in it. */
const deleteMark = { offset: 2, bit: 1 }
const chunkBytesMax = 4 * 1024 * 1024
const temporarySuffix = '.tmp'
const cutShort = 'it is truncated'
/** hnswlib does not notice a full disk. */
/** What a save that found no room says. */
export const whetherFull = 'is the disk full?'
const notWritten = `it was not written to its end: ${whetherFull}`

interface IndexHeader extends ExpectedHeader {
  dimensions: number
  /** The file holds every vector that the project had at this version, perhaps more. */
  knowledgeVersion: number
}

export interface SavedIndex {
  dimensions: number
  knowledgeVersion: number
  labels: number[]
  /** Labels whose row is deleted and whose vector was overwritten. */
  deadLabels: number[]
  bytes: number
  /** Shows whether the path has been given to another file since. */
  inode: number
}

/** `saved` is null when the file is missing (`problem` is null) or must not be loaded (`problem` says why). */
export interface FileCheck {
  saved: SavedIndex | null
  problem: string | null
}

/** The folder of index files, one a project. */
export class IndexFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  path(projectId: number): string {
    return join(this.#folder, `${projectId}.hnsw`)
  }

  /** Makes the folder and deletes what an interrupted save left in it. */
  prepare(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const stale = readdirSync(this.#folder).filter((name) => name.endsWith(temporarySuffix))
    for (const name of stale) rmSync(join(this.#folder, name), { recursive: true, force: true })
  }

  /** The knowledge version of the project's file; 0 when there is none that can be read. */
  async version(projectId: number): Promise<number> {
    try {
      return await withFile(this.path(projectId), 'r', async (file) => {
        const { size } = await file.stat()
        return readFooter(await readAt(file, size - footerBytes, footerBytes)).knowledgeVersion
      })
    } catch {
      // Whoever loads the file finds out what is wrong with it.
      return 0
    }
  }

  /** Reads the whole file. Call it before hnswlib loads the file: a damaged one would crash the process. */
  async check(projectId: number, expected: ExpectedHeader): Promise<FileCheck> {
    try {
      const saved = await withFile(this.path(projectId), 'r', (file) => readSaved(file, expected))
      return { saved, problem: null }
    } catch (error) {
      // The caller reports the problem and rebuilds the index from the rows.
      if (!(error instanceof Error)) return { saved: null, problem: String(error) }
      const isMissing = 'code' in error && error.code === 'ENOENT'
      return { saved: null, problem: isMissing ? null : error.message }
    }
  }

  /**
   * Replaces the project's file atomically and durably.
   * @param options.write writes hnswlib's file to a path
   * @param options.isLive says, after `write`, whether a label is in the index; other vectors are erased in the file
   * @returns the file's size in bytes
   */
  async save(
    projectId: number,
    header: IndexHeader,
    { write, isLive }: { write(path: string): Promise<void>; isLive(label: number): boolean },
  ): Promise<number> {
    const path = this.path(projectId)
    const temporary = `${path}${temporarySuffix}`
    try {
      await write(temporary)
      await withFile(temporary, 'r+', async (file) => {
        await finish(file, header, isLive)
        await file.sync()
      })
      await rename(temporary, path)
      await this.#syncFolder()
    } catch (error) {
      await rm(temporary, { force: true })
      const isCutShort = error instanceof Error && error.message.startsWith(cutShort)
      throw isCutShort ? new Error(notWritten, { cause: error }) : error
    }
    return (await stat(path)).size
  }

  async delete(projectId: number): Promise<void> {
    const path = this.path(projectId)
    await rm(`${path}${temporarySuffix}`, { recursive: true, force: true })
    await rm(path, { recursive: true, force: true })
    await this.#syncFolder()
  }

  #syncFolder(): Promise<void> {
    return withFile(this.#folder, 'r', (folder) => folder.sync())
  }
}

async function withFile<Result>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, flags)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/** Offsets within the file (`linksOffset`) and within one vector (the others), and sizes, all in bytes. */
interface Layout {
  count: number
  vectorBytes: number
  vectorOffset: number
  labelOffset: number
  linksOffset: number
}

async function readSaved(file: FileHandle, expected: ExpectedHeader): Promise<SavedIndex> {
  const info = await file.stat()
  if (!info.isFile()) throw new Error('it is not a file')
  if (info.size < headBytes + footerBytes) throw new Error(cutShort)
  const footer = readFooter(await readAt(file, info.size - footerBytes, footerBytes))
  if (footer.generation !== nameDigest(expected.generation)) throw new Error('it is of another database')
  if (footer.space !== nameDigest(expected.space)) throw new Error('it is of another embedding space')
  if (expected.dimensions !== null && footer.dimensions !== expected.dimensions) {
    throw new Error(
      `its vectors have ${footer.dimensions} dimensions, those of the rows ${expected.dimensions}`,
    )
  }

  const head = await readAt(file, 0, headBytes)
  const layout = readLayout(head, footer.dimensions, info.size - footerBytes)
  const saved: SavedIndex = { ...footer, labels: [], deadLabels: [], bytes: info.size, inode: info.ino }
  let digest = crc32(head)
  for await (const { bytes } of vectorChunks(file, layout)) {
    digest = crc32(bytes, digest)
    for (let start = 0; start < bytes.length; start += layout.vectorBytes) {
      const isDead = (bytes.readUInt8(start + deleteMark.offset) & deleteMark.bit) !== 0
      const labels = isDead ? saved.deadLabels : saved.labels
      labels.push(bytes.readUInt32LE(start + layout.labelOffset))
    }
  }
  const links = await readAt(file, layout.linksOffset, info.size - layout.linksOffset)
  digest = crc32(links.subarray(0, -digestBytes), digest)
  if (digest !== links.readUInt32LE(links.length - digestBytes)) throw new Error('its digest does not match')
  return saved
}

/** Turns what hnswlib wrote into our file, in place. */
async function finish(
  file: FileHandle,
  header: IndexHeader,
  isLive: (label: number) => boolean,
): Promise<void> {
  const { size } = await file.stat()
  const head = await readAt(file, 0, headBytes)
  const layout = readLayout(head, header.dimensions, size)
  let digest = crc32(head)
  for await (const { bytes, position } of vectorChunks(file, layout)) {
    if (overwriteDead(bytes, layout, isLive)) await writeAt(file, bytes, position)
    digest = crc32(bytes, digest)
  }
  const links = await readAt(file, layout.linksOffset, size - layout.linksOffset)
  const last = lastSizeOffset(links, layout.count)
  links.writeUInt32LE(links.readUInt32LE(last) + footerBytes, last)
  const footer = toFooter(header)
  digest = crc32(footer.subarray(0, -digestBytes), crc32(links, digest))
  footer.writeUInt32LE(digest, footerBytes - digestBytes)
  await writeAt(file, Buffer.concat([links, footer]), layout.linksOffset)
}

/** Fills the vectors that are not live with zeros and marks them as deleted. Returns whether there were any. */
function overwriteDead(bytes: Buffer, layout: Layout, isLive: (label: number) => boolean): boolean {
  let isChanged = false
  for (let start = 0; start < bytes.length; start += layout.vectorBytes) {
    if (isLive(bytes.readUInt32LE(start + layout.labelOffset))) continue
    bytes.fill(0, start + layout.vectorOffset, start + layout.labelOffset)
    const mark = start + deleteMark.offset
    bytes.writeUInt8(bytes.readUInt8(mark) | deleteMark.bit, mark)
    isChanged = true
  }
  return isChanged
}

/** @throws when the numbers in hnswlib's head contradict each other or the file's size */
function readLayout(head: Buffer, dimensions: number, size: number): Layout {
  const number = (offset: number) => Number(head.readBigUInt64LE(offset))
  const [count, vectorBytes, labelOffset, vectorOffset] = [number(16), number(24), number(32), number(40)]
  const linksOffset = headBytes + count * vectorBytes
  const upperListBytes = number(56) * 4 + 4
  const lowestListBytes = number(64) * 4 + 4
  const isConsistent =
    number(0) === 0 &&
    count > 0 &&
    count <= number(8) &&
    vectorOffset === lowestListBytes &&
    labelOffset === lowestListBytes + bytesOfVector(dimensions) &&
    vectorBytes === labelOffset + 8 &&
    upperListBytes > footerBytes &&
    linksOffset + count * 4 <= size
  if (!isConsistent) throw new Error(`${cutShort} or not of the dimension it names`)
  return { count, vectorBytes, vectorOffset, labelOffset, linksOffset }
}

/** Where the size of the last vector's upper links is, within the links. */
function lastSizeOffset(links: Buffer, count: number): number {
  let last = 0
  let offset = 0
  for (let place = 0; place < count && offset + 4 <= links.length; place++) {
    last = offset
    offset += 4 + links.readUInt32LE(offset)
  }
  if (offset !== links.length) throw new Error(notWritten)
  return last
}

/** A chunk's bytes are valid until the next one is read into the same memory. */
async function* vectorChunks(
  file: FileHandle,
  { count, vectorBytes }: Layout,
): AsyncGenerator<{ bytes: Buffer; position: number }> {
  const perChunk = Math.max(1, Math.floor(chunkBytesMax / vectorBytes))
  const buffer = Buffer.allocUnsafe(Math.min(perChunk, count) * vectorBytes)
  for (let first = 0; first < count; first += perChunk) {
    const position = headBytes + first * vectorBytes
    const bytes = await readAt(file, position, Math.min(perChunk, count - first) * vectorBytes, buffer)
    yield { bytes, position }
  }
}

function readFooter(footer: Buffer) {
  if (!footer.subarray(0, 8).equals(magic)) throw new Error(`${cutShort} or not an index file`)
  if (footer.readUInt32LE(8) !== formatVersion) throw new Error('it is of another version of Callbook')
  return {
    dimensions: footer.readUInt32LE(12),
    knowledgeVersion: Number(footer.readBigUInt64LE(16)),
    generation: footer.toString('hex', 24, 40),
    space: footer.toString('hex', 40, 56),
  }
}

/** The footer without its digest. */
function toFooter(header: IndexHeader): Buffer {
  const footer = Buffer.alloc(footerBytes)
  magic.copy(footer, 0)
  footer.writeUInt32LE(formatVersion, 8)
  footer.writeUInt32LE(header.dimensions, 12)
  footer.writeBigUInt64LE(BigInt(header.knowledgeVersion), 16)
  footer.write(nameDigest(header.generation), 24, 'hex')
  footer.write(nameDigest(header.space), 40, 'hex')
  return footer
}

/** A name of any length in 16 bytes. Names are only compared. */
function nameDigest(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 32)
}

async function readAt(
  file: FileHandle,
  position: number,
  length: number,
  buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  const { bytesRead } = await file.read(buffer, 0, length, position)
  if (bytesRead < length) throw new Error(cutShort)
  return buffer.subarray(0, length)
}

async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  const { bytesWritten } = await file.write(bytes, 0, bytes.length, position)
  if (bytesWritten < bytes.length) throw new Error(notWritten)
}
