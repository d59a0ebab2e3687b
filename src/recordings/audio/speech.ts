import type { Span, Speakers, Speech } from '../../calls/sound/figures.ts'
import type { DecodedSound } from './decoded-sound.ts'
import { decibelsMin, levelsPerSecond, secondsMax, stepsPerDecibel } from './levels.ts'

// Detects speech by the level of each channel, in the whole recording: what follows a sound counts as much as what precedes it.
// Levels are in steps of decibels, and durations in levels, of which there are a hundred in a second.

const secondsMin = 3
/** Speech has a level this far above the noise; the levels around it count from `offset` on. */
const onset = 9 * stepsPerDecibel
const offset = 6 * stepsPerDecibel
/** Nothing that is further than this below the loud levels, or below -65 dBFS, is speech. */
const range = 36 * stepsPerDecibel
const gate = (-65 - decibelsMin) * stepsPerDecibel
/** The loud level is the one that this share of all levels exceeds, or this many of them: as long as one word. */
const loudShare = 0.01
const loudLevels = 15
const quietShare = 0.1
/** The range between the loud and the quiet level: with less than the first a channel is silent, with less than the second noisy. */
const dynamicMin = 7 * stepsPerDecibel
const clearMin = 15 * stepsPerDecibel
/** People speak at once for at most this share of what they say. */
const togetherMost = 0.3
/** The noise is the level that this share of the five seconds before and after does not exceed. */
const noiseShare = 0.15
const noiseLevels = 500
/** The highest that noise can be, above the quiet level or below the loud one: speech without pauses is not taken for noise. */
const noiseAboveQuiet = 2 * stepsPerDecibel
const noiseBelowLoud = 18 * stepsPerDecibel
/** Anything shorter is a click. */
const burst = 3
/** Shorter pauses are part of what is said: about the gap in which people take turns. */
const pause = 20
const shortest = 12
/** Nobody speaks so long without a pause; music does. */
const longest = 2_000
/** Speech varies by more; tones and rooms do not. */
const variationMin = 1.5 * stepsPerDecibel
/** An echo is where the other channel is this much louder, and correlates this much at a delay of at most so many levels. */
const echoBelow = 6 * stepsPerDecibel
const echoLikeness = 0.5
const echoLagMax = 50
/** Above the echo by this much, it is the channel's own speaker. */
const echoMargin = 8 * stepsPerDecibel
/** What is this far below the other channel is the other's: codecs of stereo such as Opus let some of it through. */
const crosstalkBelow = 30 * stepsPerDecibel
/** Channels that correlate this much both have both speakers. */
const mixedLikeness = 0.9

type Levels = Uint8Array

/**
 * Who speaks when in a recording, or the first reason why that cannot be told.
 * @param channels as the file says, if it does: decoders make two of one
 */
export function speechOf(sound: DecodedSound | 'damaged' | 'format', channels: number | null): Speech {
  if (typeof sound === 'string') return sound
  const [first, second] = sound.levels.all()
  if (!first) return 'format'
  if (!second || channels === 1) return 'mono'
  if (channels !== null && channels > 2) return 'channels'
  const { seconds } = sound.peaks
  if (seconds < secondsMin) return 'short'
  return seconds > secondsMax ? 'long' : speakersOf(first, second)
}

function speakersOf(first: Levels, second: Levels): Speakers | 'mixed' | 'noisy' {
  const [a, b] = [spansOf(first, second), spansOf(second, first)]
  if (!a || !b) return 'noisy'
  if (likenessOf(placesOf([...a, ...b]), first, second) >= mixedLikeness) return 'mixed'
  const speakers = [withoutEcho(first, a, second, b), withoutEcho(second, b, first, a)] as const
  if (togetherShare(...speakers, first.length) > togetherMost) return 'noisy'
  return [toSeconds(speakers[0]), toSeconds(speakers[1])]
}

/** Null if it is too noisy to tell. @param limits what is not louder is somebody else's */
function spansOf(levels: Levels, other: Levels, limits?: Levels): Span[] | null {
  const counts = countsOf(levels)
  const quiet = levelAt(counts, levels.length * quietShare)
  const loud = [levels.length * loudShare, loudLevels]
    .map((count) => levelAt(counts, levels.length - count))
    .find((level) => level - quiet >= dynamicMin)
  if (loud === undefined) return []
  if (loud - quiet < clearMin) return null
  const noises = noisesOf(levels)
  const noiseMost = Math.max(loud - noiseBelowLoud, quiet + noiseAboveQuiet)
  const least = Math.max(gate, loud - range)
  const spans: Span[] = []
  let from = -1
  let isSpeech = false
  for (let at = 0; at <= levels.length; at++) {
    const level = levels[at] ?? 0
    const noise = Math.min(noises[at] ?? 0, noiseMost)
    const limit = Math.max(least, (other[at] ?? 0) - crosstalkBelow, limits?.[at] ?? 0)
    if (level > Math.max(noise + offset, limit)) {
      if (from < 0) from = at
      isSpeech ||= level > noise + onset
      continue
    }
    const last = spans.at(-1)
    if (isSpeech && at - from >= burst) {
      if (last && from - last[1] < pause) last[1] = at
      else spans.push([from, at])
    }
    from = -1
    isSpeech = false
  }
  return spans.filter(
    ([begin, end]) =>
      end - begin >= shortest && end - begin <= longest && variationOf(levels, begin, end) >= variationMin,
  )
}

/** The noise around each level, anew ten times a second. */
function noisesOf(levels: Levels): Levels {
  const counts = countsOf(levels.subarray(0, noiseLevels))
  const noises = new Uint8Array(levels.length)
  let within = Math.min(noiseLevels, levels.length)
  for (let at = 0; at < levels.length; at++) {
    const [next, gone] = [levels[at + noiseLevels], levels[at - noiseLevels - 1]]
    if (next !== undefined) counts[next] = (counts[next] ?? 0) + 1
    if (gone !== undefined) counts[gone] = (counts[gone] ?? 0) - 1
    within += Number(next !== undefined) - Number(gone !== undefined)
    noises[at] = at % 10 === 0 ? levelAt(counts, noiseShare * within) : (noises[at - 1] ?? 0)
  }
  return noises
}

function countsOf(levels: Levels): Uint32Array {
  const counts = new Uint32Array(256)
  for (const level of levels) counts[level] = (counts[level] ?? 0) + 1
  return counts
}

/** The level that would stand at this place if all were sorted. */
function levelAt(counts: Uint32Array, place: number): number {
  let before = 0
  for (const [level, count] of counts.entries()) {
    before += count
    if (before > place) return level
  }
  return counts.length - 1
}

/** The standard deviation of the levels of each 30 ms. */
function variationOf(levels: Levels, from: number, to: number): number {
  let [count, sum, squares] = [0, 0, 0]
  for (let at = from; at + 3 <= to; at += 3) {
    const level = ((levels[at] ?? 0) + (levels[at + 1] ?? 0) + (levels[at + 2] ?? 0)) / 3
    count++
    sum += level
    squares += level * level
  }
  return Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2))
}

/** Looks again at a channel that hears the other one. */
function withoutEcho(levels: Levels, spans: Span[], other: Levels, others: readonly Span[]): Span[] {
  const echo = echoOf(levels, other, others)
  return echo ? (spansOf(levels, other, echo) ?? []) : spans
}

/** The most that a channel can have of the other's speech at each level; null if it does not follow that. */
function echoOf(levels: Levels, other: Levels, others: readonly Span[]): Levels | null {
  // Where both are as loud, each has speech of its own.
  const places = placesOf(others).filter((at) => (other[at] ?? 0) > (levels[at] ?? 0) + echoBelow)
  if (places.length < 2 * levelsPerSecond) return null
  let [likeness, lag] = [0, 0]
  for (let tried = 0; tried <= echoLagMax; tried++) {
    const found = likenessOf(places, other, levels.subarray(tried))
    if (found > likeness) [likeness, lag] = [found, tried]
  }
  if (likeness < echoLikeness) return null
  const gains = new Int16Array(places.map((at) => (levels[at + lag] ?? 0) - (other[at] ?? 0))).sort()
  const gain = (gains[gains.length >> 1] ?? 0) + echoMargin
  return levels.map((_, at) => {
    const near = other.subarray(Math.max(0, at - lag - 6), Math.max(0, at - lag + 5))
    return Math.max(0, Math.min(255, Math.max(...near, 0) + gain))
  })
}

function placesOf(spans: readonly Span[]): number[] {
  return spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, index) => from + index))
}

/** The correlation of two channels at these places, up to 1. */
function likenessOf(places: readonly number[], x: Levels, y: Levels): number {
  let [sx, sy, sxx, syy, sxy] = [0, 0, 0, 0, 0]
  for (const at of places) {
    const [u, v] = [x[at] ?? 0, y[at] ?? 0]
    sx += u
    sy += v
    sxx += u * u
    syy += v * v
    sxy += u * v
  }
  const n = places.length
  return (n * sxy - sx * sy) / Math.sqrt((n * sxx - sx * sx) * (n * syy - sy * sy) || 1)
}

/** For how much of what is said both speak. */
function togetherShare(a: readonly Span[], b: readonly Span[], length: number): number {
  const voices = new Uint8Array(length)
  for (const place of placesOf(a)) voices[place] = 1
  for (const place of placesOf(b)) voices[place] = (voices[place] ?? 0) + 1
  const [, one = 0, both = 0] = countsOf(voices)
  return both / Math.max(1, one + both)
}

function toSeconds(spans: readonly Span[]): Span[] {
  return spans.map(([from, to]) => [from / levelsPerSecond, to / levelsPerSecond])
}
