import { parseFromTokenizer } from 'music-metadata'
import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3'
import type { AudioReader } from './encrypted-audio.ts'

/** What a recording says of itself. */
export interface AudioLength {
  /** Null where only reading all of it would tell. */
  durationSeconds: number | null
  channels: number | null
}

/** The most that a file makes the reader hold at once: an MP4 has a table of all its parts. */
const tokenBytesMax = 16_777_216

/** Reads the length from where the file's format has it. @throws Error if the file is not of its type */
export async function lengthOf(reader: AudioReader, contentType: string): Promise<AudioLength> {
  const { format } = await parseFromTokenizer(new AudioTokenizer(reader, contentType), {
    // In Ogg, the last page has it.
    duration: contentType === 'audio/ogg',
    skipCovers: true,
    skipPostHeaders: true,
  })
  return { durationSeconds: positive(format.duration), channels: positive(format.numberOfChannels) }
}

function positive(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) && value > 0 ? value : null
}

/** A recording as the parser reads it. */
class AudioTokenizer extends AbstractTokenizer {
  readonly fileInfo: { size: number; mimeType: string }
  readonly #reader: AudioReader

  constructor(reader: AudioReader, mimeType: string) {
    super({ maxBufferSize: tokenBytesMax })
    this.#reader = reader
    this.fileInfo = { size: reader.bytes, mimeType }
  }

  async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position } = this.normalizeOptions(target, options)
    const length = await this.peekBuffer(target, options)
    this.position = position + length
    return length
  }

  async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position, length, mayBeLess } = this.normalizeOptions(target, options)
    const bytes = await this.#reader.read(position, position + length)
    if (bytes.byteLength < length && !mayBeLess) throw new EndOfStreamError()
    target.set(bytes)
    return bytes.byteLength
  }

  supportsRandomAccess(): boolean {
    return true
  }

  setPosition(position: number): void {
    this.position = position
  }
}
