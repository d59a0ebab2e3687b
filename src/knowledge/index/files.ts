import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

// A file is hnswlib's own, to the byte, with a footer of ours inside it: hnswlib stores the size of every
// vector's upper links and ignores what is beyond whole lists, so the last vector's are said to be longer.
// hnswlib refuses bytes before or after its own, and reads by path only: anything else needs a second copy.
//   head    13 numbers: see hnswalg.h, saveIndex()
//   vectors count × (links of the lowest level · vector · label), `vectorBytes` each
//   links   count × (size · links of the upper levels); the last size counts the footer
//   footer  magic · format · dimensions · knowledge version · generation · space · CRC-32 of all before it
const headBytes = 96
const footerBytes = 64
const digestBytes = 4
const magic = Buffer.from('CALLBOOK')
const formatVersion = 1
/** Byte of a vector's links, and the bit of it, in which hnswlib keeps the mark of a deleted vector. */
const deleteMark = { offset: 2, bit: 1 }
const chunkBytesMax = 4 * 1024 * 1024
const temporarySuffix = '.tmp'

/** What a file claims to be a view of. */
export interface IndexHeader {
  /** Of the database: see VectorRows. */
  generation: string
  space: string
  dimensions: number
  /** The file holds every vector that the project had at this version, perhaps more. */
  knowledgeVersion: number
}

export interface SavedIndex {
  dimensions: number
  knowledgeVersion: number
  labels: number[]
  /** Places whose vector was overwritten because its row is gone. */
  deadLabels: number[]
  bytes: number
  /** Tells whether the path has been given another file since. */
  inode: number
}

/** What a file must be a view of to be loaded; `dimensions` is null when the project has no vectors. */
export interface ExpectedHeader {
  generation: string
  space: string
  dimensions: number | null
}

/** `saved` is null when the file is missing (`problem` null) or must not be loaded (`problem` says why). */
export type FileCheck = { saved: SavedIndex; problem: null } | { saved: null; problem: string | null }

/** The folder of index files, one a project. */
export class IndexFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  path(projectId: number): string {
    return join(this.#folder, `${projectId}.hnsw`)
  }

  /** Makes the folder and removes what an interrupted save left in it. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const names = await readdir(this.#folder)
    const stale = names.filter((name) => name.endsWith(temporarySuffix))
    for (const name of stale) await rm(join(this.#folder, name), { recursive: true, force: true })
  }

  /** Reads the whole file once: hnswlib crashes the process on a damaged one, so nothing else may load it. */
  async check(projectId: number, expected: ExpectedHeader): Promise<FileCheck> {
    let handle: FileHandle
    try {
      handle = await open(this.path(projectId), 'r')
    } catch (error) {
      if (isMissing(error)) return { saved: null, problem: null }
      return { saved: null, problem: String(error) }
    }
    try {
      return { saved: await readSaved(handle, expected), problem: null }
    } catch (error) {
      // Whatever is wrong with it, the rows have everything: the caller reports it and builds anew.
      return { saved: null, problem: error instanceof Error ? error.message : String(error) }
    } finally {
      await handle.close()
    }
  }

  /**
   * Replaces the project's file, at once and durably. `write` writes hnswlib's file to the path it is given;
   * every vector that is not live by then is overwritten and marked deleted.
   * @returns the file's size
   */
  async save(
    projectId: number,
    header: IndexHeader,
    { write, isLive }: { write(path: string): Promise<void>; isLive(label: number): boolean },
  ): Promise<number> {
    const path = this.path(projectId)
    const temporary = `${path}${temporarySuffix}`
    try {
      await rm(temporary, { recursive: true, force: true })
      await write(temporary)
      const handle = await open(temporary, 'r+')
      try {
        await finish(handle, header, isLive)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, path)
      await this.#syncFolder()
    } catch (error) {
      await rm(temporary, { recursive: true, force: true })
      throw error
    }
    return (await stat(path)).size
  }

  async remove(projectId: number): Promise<void> {
    const path = this.path(projectId)
    await rm(`${path}${temporarySuffix}`, { recursive: true, force: true })
    await rm(path, { recursive: true, force: true })
    await this.#syncFolder()
  }

  async #syncFolder(): Promise<void> {
    const handle = await open(this.#folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

interface Layout {
  count: number
  vectorBytes: number
  vectorOffset: number
  labelOffset: number
  upperListBytes: number
}

async function readSaved(handle: FileHandle, expected: ExpectedHeader): Promise<SavedIndex> {
  const info = await handle.stat()
  if (!info.isFile()) throw new Error('it is not a file')
  if (info.size < headBytes + footerBytes) throw new Error('it is cut short')
  const footer = readFooter(await readAt(handle, info.size - footerBytes, footerBytes))
  if (footer.generation !== nameDigest(expected.generation)) throw new Error('it is of another database')
  if (footer.space !== nameDigest(expected.space)) throw new Error('it is of another embedding space')
  if (expected.dimensions !== null && footer.dimensions !== expected.dimensions) {
    throw new Error(
      `its vectors have ${footer.dimensions} dimensions, those of the rows ${expected.dimensions}`,
    )
  }

  const head = await readAt(handle, 0, headBytes)
  const layout = readLayout(head, footer.dimensions, info.size - footerBytes)
  const saved: SavedIndex = { ...footer, labels: [], deadLabels: [], bytes: info.size, inode: info.ino }
  let digest = crc32(head)
  for await (const { bytes } of vectorChunks(handle, layout)) {
    digest = crc32(bytes, digest)
    for (let start = 0; start < bytes.length; start += layout.vectorBytes) {
      const isDead = (bytes.readUInt8(start + deleteMark.offset) & deleteMark.bit) !== 0
      const labels = isDead ? saved.deadLabels : saved.labels
      labels.push(bytes.readUInt32LE(start + layout.labelOffset))
    }
  }
  const linksStart = headBytes + layout.count * layout.vectorBytes
  const links = await readAt(handle, linksStart, info.size - linksStart)
  digest = crc32(links.subarray(0, -digestBytes), digest)
  if (digest !== links.readUInt32LE(links.length - digestBytes)) throw new Error('its digest does not hold')
  return saved
}

/** Turns what hnswlib wrote into our file, in place. */
async function finish(
  handle: FileHandle,
  header: IndexHeader,
  isLive: (label: number) => boolean,
): Promise<void> {
  const { size } = await handle.stat()
  const head = await readAt(handle, 0, headBytes)
  const layout = readLayout(head, header.dimensions, size)
  let digest = crc32(head)
  for await (const { bytes, position } of vectorChunks(handle, layout)) {
    const isChanged = overwriteDead(bytes, layout, isLive)
    if (isChanged) await writeAt(handle, bytes, position)
    digest = crc32(bytes, digest)
  }
  const linksStart = headBytes + layout.count * layout.vectorBytes
  const links = await readAt(handle, linksStart, size - linksStart)
  const last = lastSizeOffset(links, layout.count)
  links.writeUInt32LE(links.readUInt32LE(last) + footerBytes, last)
  const footer = writeFooter(header)
  digest = crc32(footer.subarray(0, -digestBytes), crc32(links, digest))
  footer.writeUInt32LE(digest, footerBytes - digestBytes)
  await writeAt(handle, Buffer.concat([links, footer]), linksStart)
}

/** Vectors whose row is gone: every byte of them becomes zero, and hnswlib's own mark says so. */
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

/** The numbers of hnswlib's head, refused unless they agree with each other and with the file's size. */
function readLayout(head: Buffer, dimensions: number, size: number): Layout {
  const number = (offset: number) => Number(head.readBigUInt64LE(offset))
  const layout = {
    count: number(16),
    vectorBytes: number(24),
    labelOffset: number(32),
    vectorOffset: number(40),
    upperListBytes: number(56) * 4 + 4,
  }
  const lowestListBytes = number(64) * 4 + 4
  const isConsistent =
    number(0) === 0 &&
    layout.count > 0 &&
    layout.count <= number(8) &&
    layout.vectorOffset === lowestListBytes &&
    layout.labelOffset === lowestListBytes + dimensions * 4 &&
    layout.vectorBytes === layout.labelOffset + 8 &&
    layout.upperListBytes > footerBytes &&
    headBytes + layout.count * (layout.vectorBytes + 4) <= size
  if (!isConsistent) throw new Error('it is cut short or not of the dimension it names')
  return layout
}

/** Where the size of the last vector's upper links is, within the links. */
function lastSizeOffset(links: Buffer, count: number): number {
  let last = 0
  let offset = 0
  for (let place = 0; place < count && offset + 4 <= links.length; place++) {
    last = offset
    offset += 4 + links.readUInt32LE(offset)
  }
  // hnswlib does not notice a full disk.
  if (offset !== links.length) throw new Error('it was not written to its end: is the disk full?')
  return last
}

async function* vectorChunks(
  handle: FileHandle,
  { count, vectorBytes }: Layout,
): AsyncGenerator<{ bytes: Buffer; position: number }> {
  const perChunk = Math.max(1, Math.floor(chunkBytesMax / vectorBytes))
  for (let first = 0; first < count; first += perChunk) {
    const position = headBytes + first * vectorBytes
    const bytes = await readAt(handle, position, Math.min(perChunk, count - first) * vectorBytes)
    yield { bytes, position }
  }
}

function readFooter(footer: Buffer) {
  if (!footer.subarray(0, 8).equals(magic)) throw new Error('it is cut short or not an index file')
  if (footer.readUInt32LE(8) !== formatVersion) throw new Error('it is of another version of Callbook')
  return {
    dimensions: footer.readUInt32LE(12),
    knowledgeVersion: Number(footer.readBigUInt64LE(16)),
    generation: footer.toString('hex', 24, 40),
    space: footer.toString('hex', 40, 56),
  }
}

function writeFooter(header: IndexHeader): Buffer {
  const footer = Buffer.alloc(footerBytes)
  magic.copy(footer, 0)
  footer.writeUInt32LE(formatVersion, 8)
  footer.writeUInt32LE(header.dimensions, 12)
  footer.writeBigUInt64LE(BigInt(header.knowledgeVersion), 16)
  footer.write(nameDigest(header.generation), 24, 'hex')
  footer.write(nameDigest(header.space), 40, 'hex')
  return footer
}

/** Names of any length in 16 bytes: they are only ever compared. */
function nameDigest(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 32)
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) throw new Error('it is cut short')
    done += bytesRead
  }
  return bytes
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
