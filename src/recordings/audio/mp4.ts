import { limits } from '../../limits.ts'
import type { AudioLength, AudioReader } from './encrypted-audio.ts'

// ISO/IEC 14496-12, §8. Libraries hold each atom: some 400,000 of a call in fragments, each of those made to cost memory.

const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf'])
const windowBytes = 65_536
const windowsMax = limits.audioWindows.most
/** The most bytes of all runs of samples together. */
const runBytesMax = limits.audioBytes.most
/** Only this many bytes of an atom that is no run are read. */
const atomBytes = 64

/** The first track with sound: what its header says, or all its fragments together. @throws Error beyond a limit */
export async function mp4Length(
  reader: Pick<AudioReader, 'bytes' | 'read'>,
  msMax: number,
): Promise<AudioLength> {
  const movie = new Movie()
  const deadline = performance.now() + msMax
  let window: Buffer = Buffer.alloc(0)
  let [start, windows, runBytes] = [0, 0, 0]
  // What a container has follows its header, so that however deep they are nested takes no memory.
  for (let at = 0; at + 8 <= reader.bytes; ) {
    if (at + atomBytes > start + window.length && start + window.length < reader.bytes) {
      if (++windows > windowsMax || performance.now() > deadline) throw beyondLimits()
      window = await reader.read(at, at + windowBytes)
      start = at
    }
    const atom = window.subarray(at - start)
    const size = atom.readUInt32BE(0)
    const name = atom.toString('latin1', 4, 8)
    const head = size === 1 ? 16 : 8
    const length = size === 1 ? Number(atom.readBigUInt64BE(8)) : size || reader.bytes - at
    if (length < head) throw new Error('An atom is shorter than its header')
    if (name === 'trun') {
      runBytes += length
      if (runBytes > runBytesMax) throw beyondLimits()
      if (length > atom.length) window = Buffer.alloc(0)
      movie.addRun(
        length > atom.length ? await reader.read(at + head, at + length) : atom.subarray(head, length),
      )
    } else movie.take(name, atom.subarray(head, length))
    at += containers.has(name) ? head : length
  }
  return movie.length
}

/** Its length is in units of time, of which a second has `scale`. */
const noTrack = { id: 0, units: 0, scale: 0, isSound: false, channels: 0 }

class Movie {
  #track = { ...noTrack }
  #sound: typeof noTrack | null = null
  #fragment = { isSound: false, unitsPerSample: 0 }
  #fragmentUnits = 0

  get length(): AudioLength {
    if (!this.#sound) return { durationSeconds: null, channels: null }
    const { units, scale, channels } = this.#sound
    return { durationSeconds: Math.max(units, this.#fragmentUnits) / scale, channels }
  }

  take(name: string, atom: Buffer): void {
    const isLong = atom[0] === 1
    const flags = atom[3] ?? 0
    switch (name) {
      case 'tkhd':
        this.#track = { ...noTrack, id: atom.readUInt32BE(isLong ? 20 : 12) }
        return
      case 'mdhd':
        this.#track.scale = atom.readUInt32BE(isLong ? 20 : 12)
        // All bits say that it is unknown.
        this.#track.units = isLong ? Number(atom.readBigInt64BE(24)) : atom.readInt32BE(16)
        return
      case 'hdlr':
        this.#track.isSound ||= atom.toString('latin1', 8, 12) === 'soun'
        return
      case 'stsd':
        if (this.#track.isSound) this.#sound ??= { ...this.#track, channels: atom.readUInt16BE(32) }
        return
      case 'tfhd': {
        const at = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0)
        const isSound = atom.readUInt32BE(4) === this.#sound?.id
        this.#fragment = { isSound, unitsPerSample: flags & 8 ? atom.readUInt32BE(at) : 0 }
      }
    }
  }

  addRun(atom: Buffer): void {
    if (!this.#fragment.isSound) return
    const flags = atom.readUInt32BE(0)
    const count = atom.readUInt32BE(4)
    const from = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0)
    const sampleBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((field) => flags & field).length
    if (!(flags & 0x100)) this.#fragmentUnits += count * this.#fragment.unitsPerSample
    else
      for (let at = from; at < from + count * sampleBytes && at + 4 <= atom.length; at += sampleBytes)
        this.#fragmentUnits += atom.readUInt32BE(at)
  }
}

function beyondLimits(): Error {
  return new Error('The recording takes more than is spent on its length')
}
