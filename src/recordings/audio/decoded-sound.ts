import { Levels } from './levels.ts'
import { Peaks, type Samples } from './peaks.ts'

/** What is kept of a recording's samples, in one pass over them. */
export class DecodedSound {
  /** For those who look at it. */
  readonly peaks: Peaks
  /** For finding out who speaks when. */
  readonly levels: Levels

  /** @param rate samples a second */
  constructor(channels: number, rate: number) {
    this.peaks = new Peaks(channels, rate)
    this.levels = new Levels(channels, rate)
  }

  /** Adds what follows in time. */
  add(samples: Samples): void {
    this.peaks.add(samples)
    this.levels.add(samples)
  }
}
