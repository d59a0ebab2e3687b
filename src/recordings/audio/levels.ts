import type { Samples } from './peaks.ts'

export const levelsPerSecond = 100
/** A level is a byte: half decibels above -120 dBFS. */
export const stepsPerDecibel = 2
export const decibelsMin = -120
/** What follows has no levels, since longer recordings are not measured. */
export const secondsMax = 21_600
const levelsMin = 65_536
const channelsMax = 2
/** Samples a second. With fewer, no speech can be told, and 10 ms might have none. */
const rateMin = 4_000
/** Samples beyond so many a second are left out: what is folded by that is still as loud. */
const rateEnough = 8_000
/** Hum, wind and cars are below it. */
const hertzMin = 200

interface Lane {
  levels: Uint8Array
  filter: [sample: number, once: number, twice: number]
  power: number
}

/** How loud each 10 ms of each channel are, without what is below 200 Hz. Takes samples as a decoder yields them. */
export class Levels {
  readonly #rate: number
  readonly #stride: number
  /** How much a high-pass filter keeps of what it had. */
  readonly #keep: number
  readonly #lanes: Lane[]
  #count = 0
  #samples = 0

  /** @param rate samples a second */
  constructor(channels: number, rate: number) {
    this.#rate = rate
    this.#stride = Math.max(1, Math.floor(rate / rateEnough))
    this.#keep = 1 / (1 + (2 * Math.PI * hertzMin * this.#stride) / rate)
    const lanes = rate < rateMin ? 0 : Math.min(channels, channelsMax)
    this.#lanes = Array.from({ length: lanes }, () => ({
      levels: new Uint8Array(levelsMin),
      filter: [0, 0, 0],
      power: 0,
    }))
  }

  /** Adds what follows in time. */
  add(samples: Samples): void {
    const length = this.#lanes.length > 0 ? (samples[0]?.length ?? 0) : 0
    for (let at = 0; at < length && this.#count < secondsMax * levelsPerSecond; ) {
      const end = this.#startOf(this.#count + 1)
      const to = Math.min(length, at + end - this.#samples)
      for (const [index, lane] of this.#lanes.entries()) this.#measure(lane, samples[index], at, to)
      this.#samples += to - at
      at = to
      if (this.#samples === end) this.#close(end - this.#startOf(this.#count))
    }
  }

  /** The levels of each channel, of at most two; of none if there are too few samples a second. */
  all(): Uint8Array[] {
    return this.#lanes.map(({ levels }) => levels.subarray(0, this.#count))
  }

  /** The sample at which a level begins. Those of rates such as 11,025 are not equally long. */
  #startOf(level: number): number {
    return Math.round((level * this.#rate) / levelsPerSecond)
  }

  #measure(lane: Lane, samples: Float32Array | undefined, from: number, to: number): void {
    const [keep, stride] = [this.#keep, this.#stride]
    let [sample, once, twice] = lane.filter
    let power = 0
    for (let at = from; at < to; at += stride) {
      const next = samples?.[at] ?? 0
      const filtered = keep * (once + next - sample)
      twice = keep * (twice + filtered - once)
      sample = next
      once = filtered
      power += twice * twice
    }
    // A NaN would stay in the filter.
    lane.filter = Number.isFinite(twice) ? [sample, once, twice] : [0, 0, 0]
    lane.power += power
  }

  #close(samples: number): void {
    for (const lane of this.#lanes) {
      if (this.#count === lane.levels.length) {
        const longer = new Uint8Array(2 * this.#count)
        longer.set(lane.levels)
        lane.levels = longer
      }
      const decibels = 10 * Math.log10((lane.power * this.#stride) / samples + 1e-12)
      const level = Math.round((decibels - decibelsMin) * stepsPerDecibel) || 0
      lane.levels[this.#count] = Math.max(0, Math.min(255, level))
      lane.power = 0
    }
    this.#count++
  }
}
