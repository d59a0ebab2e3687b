import { describe, expect, test } from 'bun:test'
import { type SpokenCall, spokenCalls } from '../../../scripts/bench/spoken-calls.ts'
import { type Span, type Speech, secondsOf } from '../../../src/calls/sound/figures.ts'
import { readSpeechBytes, toSpeechBytes } from '../../../src/calls/sound/speech-bytes.ts'
import { DecodedSound } from '../../../src/recordings/audio/decoded-sound.ts'
import { speechOf } from '../../../src/recordings/audio/speech.ts'

// What is heard in calls whose truth is known, whatever is done to their sound. `bun run bench:sound` measures how well.

const rate = 16_000
const all = [...spokenCalls(4, 15, 4)]
const clean = callIn('clean')

function callIn(condition: string): SpokenCall {
  const call = all.find(({ conditions }) => conditions.name === condition)
  if (!call) throw new Error(`There is no call that is ${condition}`)
  return call
}

/** @param sliceSamples how much a decoder yields at a time */
function heard(channels: readonly Float32Array[], hertz = rate, sliceSamples = 10_000): Speech {
  const sound = new DecodedSound(channels.length, hertz)
  for (let at = 0; at < (channels[0]?.length ?? 0); at += sliceSamples)
    sound.add(channels.map((samples) => samples.subarray(at, at + sliceSamples)))
  return speechOf(sound, null)
}

/** The share of the time of which it is wrong whether somebody speaks, beside the edges of what is said. */
function wrongShare(
  speech: Speech,
  { caller, agent, seconds }: Pick<SpokenCall, 'caller' | 'agent' | 'seconds'>,
): number {
  if (typeof speech === 'string') return 1
  const isIn = (spans: readonly Span[], at: number) => spans.some(([from, to]) => at >= from && at < to)
  let wrong = 0
  for (let at = 0; at < seconds; at += 0.01)
    for (const [truth, found] of [
      [caller, speech[0]],
      [agent, speech[1]],
    ] as const)
      if (isIn(truth, at) !== isIn(found, at)) wrong++
  return wrong / (200 * seconds)
}

/** A made call after something has been done to each of its samples. */
function changed(of: (sample: number, channel: number, at: number) => number): Speech {
  return heard(clean.channels.map((samples, channel) => samples.map((sample, at) => of(sample, channel, at))))
}

describe('who speaks when', () => {
  test.each(
    all.filter(({ conditions }) => conditions.name !== 'pink5').map((call) => [call.conditions.name, call]),
  )('is heard in a call that is %s', (name, call) => {
    // Other voices are heard as voices.
    const most = String(name).startsWith('babble') ? 0.15 : 0.06
    expect(wrongShare(heard((call as SpokenCall).channels), call as SpokenCall)).toBeLessThan(most)
  })

  test('is the same however a decoder cuts the sound', () => {
    expect(heard(clean.channels, rate, 1_600)).toEqual(heard(clean.channels, rate, 16_000))
  })

  test.each([4_000, 8_000, 11_025, 22_050, 44_100, 48_000])('is heard in %d samples a second', (hertz) => {
    const length = Math.floor((clean.channels[0].length * hertz) / rate)
    const channels = clean.channels.map((samples) =>
      new Float32Array(length).map((_, at) => samples[Math.floor((at * rate) / hertz)] ?? 0),
    )
    expect(wrongShare(heard(channels, hertz), clean)).toBeLessThan(0.06)
  })

  test.each<[string, (sample: number, channel: number, at: number) => number]>([
    ['clipped by 18 dB', (sample) => Math.max(-1, Math.min(1, sample * 64)) / 8],
    ['30 dB too quiet', (sample) => sample / 32],
    ['off by a constant', (sample) => sample + 0.3],
    ['no number at a place', (sample, _, at) => (at === 50_000 ? Number.NaN : sample)],
  ])('is heard in sound that is %s', (_, of) => {
    expect(wrongShare(changed(of), clean)).toBeLessThan(0.06)
  })

  test('is heard where each channel has a tenth of the other', () => {
    const [a, b] = clean.channels
    const panned = [
      a.map((value, at) => 0.9 * value + 0.1 * (b[at] ?? 0)),
      b.map((value, at) => 0.9 * value + 0.1 * (a[at] ?? 0)),
    ]
    expect(wrongShare(heard(panned), clean)).toBeLessThan(0.08)
  })

  test('is not heard in what a codec lets through from one channel to the other now and then', () => {
    const [own, other] = callIn('silent').channels
    const leaking = own.map((value, at) => value + (at % 8_000 < 4_000 ? 0.018 * (other[at] ?? 0) : 0))
    const heardOf = (channels: readonly Float32Array[]) => heard(channels)[0]
    expect(heardOf([leaking, other])).toEqual(heardOf([own, other]))
  })

  test('is heard of an agent alone, and nobody is heard in silence', () => {
    const speech = changed((sample, channel) => (channel === 0 ? 0 : sample))
    expect(wrongShare(speech, { ...clean, caller: [] })).toBeLessThan(0.06)
    expect(changed(() => 0)).toEqual([[], []])
  })

  test('is heard if the caller says one word', () => {
    const word = clean.caller[0] ?? [0, 0]
    const [from, to] = [word[0] * rate, (word[0] + 0.35) * rate]
    const speech = changed((sample, channel, at) => (channel === 0 && (at < from || at > to) ? 0 : sample))
    expect(typeof speech === 'string' ? 0 : secondsOf(speech[0])).toBeCloseTo(0.35, 1)
  })

  test('of ten thousand clicks, nobody speaks', () => {
    const clicks = new Float32Array(rate * 600)
    for (let at = 0; at < 10_000; at++) clicks.fill(0.5, at * 960, at * 960 + 80)
    expect(heard([clicks, clicks.map((value, at) => (at % 2 ? value : -value))])).toEqual([[], []])
  })
})

describe('it cannot be told', () => {
  test.each<[Speech, string, () => Speech]>([
    ['noisy', 'where noise is nearly as loud as speech', () => heard(callIn('pink5').channels)],
    ['mixed', 'where both channels have both', () => heard([0, 1].map(() => clean.channels[0]))],
    ['mono', 'of one channel', () => heard([clean.channels[0]])],
    [
      'short',
      'in less than 3 seconds',
      () => heard(clean.channels.map((samples) => samples.subarray(0, rate))),
    ],
    ['short', 'in nothing', () => heard([new Float32Array(), new Float32Array()])],
    ['format', 'of fewer than 4,000 samples a second', () => heard(clean.channels, 3_999)],
    ['format', 'of fewer than 50', () => heard(clean.channels, 40)],
  ])('%s: %s', (reason, _, hear) => {
    expect(hear()).toBe(reason)
  })

  test('long: beyond six hours', () => {
    const sound = new DecodedSound(2, 4_000)
    const minute = [new Float32Array(240_000), new Float32Array(240_000)]
    for (let at = 0; at <= 360; at++) sound.add(minute)
    expect(speechOf(sound, 2)).toBe('long')
    expect(sound.levels.all()[0]?.length).toBe(6 * 3_600 * 100)
  })

  test('mono and channels: by what the file says of itself', () => {
    const sound = new DecodedSound(2, rate)
    sound.add(clean.channels)
    expect([speechOf(sound, 1), speechOf(sound, 64)]).toEqual(['mono', 'channels'])
    expect(speechOf(sound, 2)).toEqual(heard(clean.channels))
  })
})

test('what is stored of it is read again', () => {
  const speech = heard(clean.channels)
  for (const each of [speech, 'mono', 'long', [[], []]] as const)
    expect(readSpeechBytes(toSpeechBytes(each))).toEqual(each)
  if (typeof speech !== 'string') expect(toSpeechBytes(speech).length).toBe(8 + 8 * speech.flat().length)
})
