/** A mono recording has one channel, a call's usually two: the caller's and the agent's. */
const channelsMax = 2
const columnsMax = 2_000
const headerBytes = 8
const version = 1

/** Samples of one moment's length in each channel, from -1 to 1. */
export type Samples = readonly Float32Array[]

/**
 * The loudest sample of each column of time, for a recording of unknown length: whenever there are too many columns,
 * each two become one.
 */
export class Peaks {
  readonly #rate: number
  readonly #columns: Float32Array[]
  /** How many samples a column has. */
  #width = 1
  #samples = 0

  /** @param rate samples a second */
  constructor(channels: number, rate: number) {
    this.#rate = rate
    this.#columns = Array.from(
      { length: Math.min(channels, channelsMax) },
      () => new Float32Array(columnsMax),
    )
  }

  /** How long all that was added is. */
  get seconds(): number {
    return this.#samples / this.#rate
  }

  /** Adds what follows in time. */
  add(samples: Samples): void {
    const length = samples[0]?.length ?? 0
    for (let at = 0; at < length; ) {
      if (this.#samples === this.#width * columnsMax) this.#halve()
      const column = Math.floor(this.#samples / this.#width)
      const step = Math.min(length - at, (column + 1) * this.#width - this.#samples)
      for (const [channel, columns] of this.#columns.entries())
        columns[column] = Math.max(columns[column] ?? 0, loudest(samples[channel], at, at + step))
      this.#samples += step
      at += step
    }
  }

  /**
   * As bytes: the version, the number of channels, the number of columns (16 bits), the seconds of all columns together
   * (32-bit float), each little-endian; then a byte for each column of the first channel, 255 for full scale, and the
   * same for the second. Equal channels are one. Empty if nothing was added.
   */
  toBytes(): Uint8Array {
    if (this.#samples === 0) return new Uint8Array()
    const count = Math.ceil(this.#samples / this.#width)
    const lanes = this.#columns.map((columns) =>
      Uint8Array.from(columns.subarray(0, count), (level) => Math.round(Math.min(1, level) * 255)),
    )
    const [first, second] = lanes
    const channels = first && second && Buffer.compare(first, second) === 0 ? [first] : lanes
    const header = Buffer.alloc(headerBytes)
    header.writeUInt8(version, 0)
    header.writeUInt8(channels.length, 1)
    header.writeUInt16LE(count, 2)
    header.writeFloatLE((count * this.#width) / this.#rate, 4)
    return new Uint8Array(Buffer.concat([header, ...channels]))
  }

  #halve(): void {
    for (const columns of this.#columns) {
      for (let at = 0; at < columnsMax; at += 2)
        columns[at / 2] = Math.max(columns[at] ?? 0, columns[at + 1] ?? 0)
      columns.fill(0, columnsMax / 2)
    }
    this.#width *= 2
  }
}

function loudest(samples: Float32Array | undefined, from: number, to: number): number {
  let most = 0
  for (let at = from; at < to; at++) {
    const level = Math.abs(samples?.[at] ?? 0)
    // False also for what is no number.
    if (level > most) most = level
  }
  return most
}
