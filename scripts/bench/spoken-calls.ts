import type { Span } from '../../src/calls/sound/figures.ts'
import { createRandom } from '../random.ts'

// Calls whose truth is known: who speaks when, and what was planned to happen between the two. Nobody speaks words: a voice is a
// buzz through three resonators, as loud and pausing as speech, the same for the same seed everywhere.

export const rate = 16_000
/** Pauses up to this long belong to what is said around them. */
const bridgeSeconds = 0.2

type Side = 'caller' | 'agent'

interface Utterance {
  samples: Float32Array
  speech: Span[]
  seconds: number
}

type Voices = Record<Side | 'short', Utterance[]>

export interface Conditions {
  name: string
  /** Of speech, in dBFS. */
  callerLevel: number
  agentLevel: number
  /** Below the speech of that channel, in dB; null for digital silence. */
  callerNoise: number | null
  agentNoise: number | null
  noise: 'pink' | 'babble' | 'car' | 'street'
  /** The agent in the caller's channel, in dB, 120 ms later. */
  echo: number | null
  /** Ringing, beeps, clicks, breath, keys, music. */
  extras: boolean
}

/** What was planned, not what follows from it. */
interface Plan {
  /** What the agent's first word after a caller's turn waited for. */
  waits: { at: number; seconds: number }[]
  /** The caller began while the agent spoke, and the agent fell silent because of it. */
  interruptions: Span[]
  /** Sounds that nobody speaks. */
  noises: { kind: string; side: Side; span: Span }[]
}

export interface SpokenCall extends Plan {
  conditions: Conditions
  seconds: number
  caller: Span[]
  agent: Span[]
  channels: [Float32Array, Float32Array]
}

const clean: Conditions = {
  name: 'clean',
  callerLevel: -22,
  agentLevel: -20,
  callerNoise: 60,
  noise: 'pink',
  agentNoise: null,
  echo: null,
  extras: false,
}
const others: (Partial<Conditions> & { name: string })[] = [
  { name: 'silent', callerNoise: null },
  { name: 'quiet', callerLevel: -38, callerNoise: 25 },
  { name: 'pink20', callerNoise: 20 },
  { name: 'pink10', callerNoise: 10 },
  { name: 'pink5', callerNoise: 5 },
  { name: 'babble20', noise: 'babble', callerNoise: 20 },
  { name: 'babble10', noise: 'babble', callerNoise: 10 },
  { name: 'car10', noise: 'car', callerNoise: 10 },
  { name: 'street15', noise: 'street', callerNoise: 15 },
  { name: 'office', agentNoise: 22, callerNoise: 35 },
  { name: 'echo25', echo: -25, callerNoise: 45 },
  { name: 'echo25quiet', echo: -25, callerLevel: -34, callerNoise: 35 },
  { name: 'extras', extras: true, callerNoise: 45 },
  {
    name: 'all',
    extras: true,
    callerNoise: 20,
    noise: 'street',
    agentNoise: 28,
    echo: -30,
    callerLevel: -28,
  },
]
export const conditionsList: Conditions[] = [clean, ...others.map((other) => ({ ...clean, ...other }))]

type Random = ReturnType<typeof randomOf>

function randomOf(seed: number) {
  const next = createRandom(seed)
  const between = (low: number, high: number) => low + (high - low) * next()
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  // Nothing is chosen from an empty list.
  const of = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  return { next, between, normal, of, chance: (share: number) => next() < share }
}

/** Calls in turn under each of the conditions. */
export function* spokenCalls(seed: number, count: number, turns = 16): Generator<SpokenCall> {
  const voices = voicesOf(randomOf(seed))
  for (let n = 0; n < count; n++)
    yield speakCall(seed * 1_000 + n, voices, conditionsList[n % conditionsList.length] ?? clean, turns)
}

function voicesOf(random: Random): Voices {
  const several = (count: number, low: number, high: number, pitches: number[]) =>
    Array.from({ length: count }, () =>
      speak(random, Math.round(random.between(low, high)), random.of(pitches)),
    )
  const people = [110, 130, 205]
  return {
    agent: several(30, 8, 40, [190]),
    caller: several(30, 5, 24, people),
    short: several(20, 1, 2, people),
  }
}

/** Where their resonators are, in hertz. */
const vowels = ['700 1200 2500', '300 2200 2900', '400 800 2400', '550 1800 2500', '350 700 2300'].map(
  numbersIn,
)

function speak(random: Random, syllables: number, pitch: number): Utterance {
  const parts: Float32Array[] = []
  for (let n = 0; n < syllables; n++) {
    if (random.chance(0.35)) parts.push(hiss(random))
    parts.push(vowel(random, pitch, n / syllables))
    if (random.chance(0.25)) parts.push(silence(random.between(0.03, 0.09)))
    else if (n < syllables - 1 && random.chance(0.06)) parts.push(silence(random.between(0.22, 0.5)))
  }
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    samples.set(part, at)
    at += part.length
  }
  return toUtterance(samples)
}

function silence(seconds: number): Float32Array {
  return new Float32Array(Math.round(seconds * rate))
}

function hiss(random: Random): Float32Array {
  const sound = silence(random.between(0.05, 0.1))
  let last = 0
  return sound.map((_, i) => {
    const white = random.next() * 2 - 1
    const sample = 0.05 * (white - last) * Math.sin((Math.PI * (i + 0.5)) / sound.length)
    last = white
    return sample
  })
}

/** @param share how much of what is said comes before */
function vowel(random: Random, pitch: number, share: number): Float32Array {
  const length = Math.round(random.between(0.11, 0.24) * rate)
  const [from, to] = [random.of(vowels), random.of(vowels)]
  const memory = new Float64Array(6)
  let phase = 0
  const tune = random.between(0.9, 1.15)
  const sound = new Float32Array(length).map((_, i) => {
    phase += (pitch * tune * (1 - 0.15 * share) * (1 + 0.01 * random.normal())) / rate
    if (phase > 1) phase -= 1
    let value = (phase < 0.4 ? Math.sin((Math.PI * phase) / 0.4) ** 2 : 0) - 0.2
    for (let f = 0; f < 3; f++) {
      const hertz = (from[f] ?? 0) * (1 - i / length) + (to[f] ?? 0) * (i / length)
      const r = Math.exp((-Math.PI * (60 + 40 * f)) / rate)
      const b = 2 * r * Math.cos((2 * Math.PI * hertz) / rate)
      value = (1 - r) * value * 2 + b * (memory[2 * f] ?? 0) - r * r * (memory[2 * f + 1] ?? 0)
      memory[2 * f + 1] = memory[2 * f] ?? 0
      memory[2 * f] = value
    }
    return value * Math.min(1, i / 240, (length - i) / 500)
  })
  // As loud as the others, give or take 3 dB: resonators differ more than people do.
  return louder(sound, random.between(-3, 3) - 20 - 20 * Math.log10(loudness(sound, 0, length)))
}

/** To -20 dBFS while it speaks, without silence around it. */
function toUtterance(samples: Float32Array): Utterance {
  const step = 80
  const levels = Array.from({ length: Math.floor(samples.length / step) }, (_, i) =>
    loudness(samples, i * step, (i + 1) * step),
  )
  const smooth = levels.map((level, i) =>
    Math.sqrt(((levels[i - 1] ?? 0) ** 2 + level ** 2 + (levels[i + 1] ?? 0) ** 2) / 3),
  )
  const loudest = smooth.reduce((most, level) => Math.max(most, level), 0)
  const loud = smooth.filter((level) => level > loudest / 10)
  const typical = Math.sqrt(loud.reduce((sum, level) => sum + level ** 2, 0) / loud.length)
  // 34 dB below the level of loud speech, each 5 ms by itself.
  const spans = levels.flatMap((level, i): Span[] =>
    level < typical / 50 ? [] : [[i * step, (i + 1) * step]],
  )
  const speech = joined(spans, 0.05 * rate + 1).filter(([from, to]) => to - from >= 0.03 * rate)
  const [start, end] = [speech[0]?.[0] ?? 0, speech.at(-1)?.[1] ?? samples.length]
  return {
    samples: samples.slice(start, end).map((value) => (value * 0.1) / typical),
    speech: speech.map(([from, to]) => [(from - start) / rate, (to - start) / rate]),
    seconds: (end - start) / rate,
  }
}

/** Spans as one where less than a pause lies between them. */
function joined(spans: readonly Span[], pause: number): Span[] {
  const all: Span[] = []
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last && from - last[1] < pause) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

function loudness(samples: Float32Array, from: number, to: number): number {
  let sum = 0
  for (let i = from; i < to; i++) sum += (samples[i] ?? 0) ** 2
  return Math.sqrt(sum / (to - from))
}

/** Plans a conversation as it goes on; `at` is where it has come to. */
class Conversation implements Plan {
  readonly waits: Plan['waits'] = []
  readonly interruptions: Plan['interruptions'] = []
  readonly noises: Plan['noises'] = []
  readonly said: { side: Side; at: number; utterance: Utterance; until: number }[] = []
  readonly #random: Random
  readonly #voices: Voices
  readonly #long: Utterance[]
  readonly #extras: boolean
  at: number

  constructor(random: Random, voices: Voices, turns: number, { extras }: Conditions) {
    this.#random = random
    this.#voices = voices
    this.#long = voices.agent.filter(({ seconds }) => seconds > 3.5)
    this.#extras = extras
    this.at = random.between(0.3, 1.5)
    if (extras) {
      this.noises.push({ kind: 'ring', side: 'agent', span: [this.at, this.at + 1] })
      this.noises.push({ kind: 'beep', side: 'agent', span: [this.at + 1.6, this.at + 2.1] })
      this.at += 3
    }
    this.at = this.#agentTurn(false)
    for (let turn = 0; turn < turns; turn++) this.#exchange()
    this.at += random.between(0.4, 2.5)
  }

  #say(side: Side, at: number, utterance: Utterance, until = at + utterance.seconds): number {
    this.said.push({ side, at, utterance, until })
    return until
  }

  #gap(median: number, most: number): number {
    return Math.min(most, Math.max(0.25, median * Math.exp(0.5 * this.#random.normal())))
  }

  /** The caller's turn, and what the agent does about it. */
  #exchange(): void {
    const random = this.#random
    this.at += random.chance(0.08) ? random.between(2.4, 7) : this.#gap(0.6, 4)
    if (this.#extras && random.chance(0.3)) this.#makeNoise()
    const sentences = 1 + Math.floor(random.next() * 2.4)
    let last = 0
    for (let n = 0; n < sentences; n++) {
      if (n > 0) this.at += random.between(0.25, 1.1)
      const isShort = random.chance(0.25) && sentences === 1
      const utterance = random.of(isShort ? this.#voices.short : this.#voices.caller)
      last = utterance.seconds
      this.at = this.#say('caller', this.at, utterance)
    }
    if (random.chance(0.1) && last > 1.5)
      // Too early.
      this.at = Math.max(
        this.at,
        this.#say('agent', this.at - random.between(0.35, 1), random.of(this.#long)),
      )
    else this.at = this.#answer()
  }

  #answer(): number {
    const random = this.#random
    const seconds = random.chance(0.08) ? random.between(2.3, 6) : this.#gap(0.9, 5)
    this.at += seconds
    this.waits.push({ at: this.at, seconds })
    return this.#agentTurn(true)
  }

  /** @returns when the agent ends what it says now; the caller may break in */
  #agentTurn(isAnswer: boolean): number {
    const random = this.#random
    const { at } = this
    const { agent, caller, short } = this.#voices
    const kind = random.next()
    if (kind < 0.15) return this.#brokenOff()
    const utterance = random.of(kind < 0.5 ? this.#long : agent)
    const { seconds } = utterance
    const end = this.#say('agent', at, utterance)
    if (kind < 0.3) {
      const sound = random.of(short.filter((each) => each.seconds < 0.55))
      this.#say('caller', at + random.between(1, seconds - 1.6), sound)
    } else if (kind < 0.38) {
      const over = random.of(caller.filter((each) => each.seconds > 0.8 && each.seconds < seconds - 2.2))
      if (over) this.#say('caller', at + random.between(0.6, seconds - over.seconds - 1.4), over)
    } else if (kind > 0.92 && !isAnswer)
      // Falls silent and goes on.
      return this.#say('agent', end + random.between(2.3, 6), random.of(agent))
    return end
  }

  #brokenOff(): number {
    const random = this.#random
    const utterance = random.of(this.#long)
    const begins = this.at + random.between(1.2, utterance.seconds - 1.5)
    const into = begins - this.at
    // Only if the agent speaks 300 ms before and after.
    const isSpeaking = joined(utterance.speech, bridgeSeconds).some(
      ([from, to]) => from < into - 0.3 && to > into + 0.3,
    )
    const stops = begins + random.between(0.35, 1)
    this.#say('agent', this.at, utterance, Math.min(stops, this.at + utterance.seconds - 0.3))
    this.at = this.#say(
      'caller',
      begins,
      random.of(this.#voices.caller.filter(({ seconds }) => seconds > 1.2)),
    )
    if (isSpeaking) this.interruptions.push([begins, stops])
    return this.#answer()
  }

  #makeNoise(): void {
    const [kind, side, seconds] = this.#random.of<[string, Side, number]>([
      ['clicks', 'caller', 3],
      ['breath', 'caller', 0.6],
      ['digits', 'caller', 1.5],
      ['music', 'agent', this.#random.between(6, 14)],
    ])
    this.noises.push({ kind, side, span: [this.at, this.at + seconds] })
    this.at += seconds + this.#random.between(0.4, 1)
  }
}

function speakCall(seed: number, voices: Voices, conditions: Conditions, turns: number): SpokenCall {
  const random = randomOf(seed)
  const {
    said,
    at: seconds,
    waits,
    interruptions,
    noises,
  } = new Conversation(random, voices, turns, conditions)
  const length = Math.ceil(seconds * rate)
  const channels = { caller: new Float32Array(length), agent: new Float32Array(length) }
  const spans: Record<Side, Span[]> = { caller: [], agent: [] }
  for (const { side, at, utterance, until } of said) {
    const [start, end] = [Math.round(at * rate), Math.min(length, Math.round(until * rate))]
    const spoken = louder(utterance.samples.subarray(0, end - start), conditions[`${side}Level`] + 20)
    const isCut = spoken.length < utterance.samples.length
    mix(
      channels[side],
      start,
      isCut ? spoken.map((value, i) => value * Math.min(1, (spoken.length - i) / 160)) : spoken,
    )
    for (const [from, to] of utterance.speech)
      if (start + from * rate < end)
        spans[side].push([start / rate + from, Math.min(end / rate, start / rate + to)])
  }
  for (const { kind, side, span } of noises) {
    const [from, to] = [Math.round(span[0] * rate), Math.min(length, Math.round(span[1] * rate))]
    mix(channels[side], from, noiseOf(kind, random, to - from))
  }
  const { caller, agent } = channels
  const { echo, callerNoise, callerLevel, agentNoise, agentLevel, noise } = conditions
  let low = 0
  const dull = agent.map((value) => {
    low += 0.5 * (value - low)
    return low
  })
  if (echo !== null) mix(caller, Math.round(0.12 * rate), louder(dull, echo))
  if (callerNoise !== null) hum(random, caller, callerLevel - callerNoise, noise, voices)
  if (agentNoise !== null) hum(random, agent, agentLevel - agentNoise, 'street', voices)
  const truth = { caller: joined(spans.caller, bridgeSeconds), agent: joined(spans.agent, bridgeSeconds) }
  return { conditions, seconds, waits, interruptions, noises, ...truth, channels: [caller, agent] }
}

/** Adds a sound to what a channel has there. */
function mix(channel: Float32Array, at: number, sound: Float32Array): void {
  const end = Math.min(sound.length, channel.length - at)
  for (let i = Math.max(0, -at); i < end; i++) channel[at + i] = (channel[at + i] ?? 0) + (sound[i] ?? 0)
}

function louder(sound: Float32Array, decibels: number): Float32Array {
  const gain = 10 ** (decibels / 20)
  return sound.map((value) => value * gain)
}

function tone(i: number, hertz: number): number {
  return Math.sin((2 * Math.PI * hertz * i) / rate)
}

const chords = ['262 330 392', '220 262 330', '175 220 262', '196 247 294'].map(numbersIn)

function numbersIn(text: string): number[] {
  return text.split(' ').map(Number)
}

/** A sound that nobody speaks. */
function noiseOf(kind: string, random: Random, length: number): Float32Array {
  const sound = new Float32Array(length)
  let low = 0
  switch (kind) {
    case 'ring':
      return sound.map((_, i) => 0.06 * (tone(i, 440) + tone(i, 480)))
    case 'beep':
      return sound.map((_, i) => 0.15 * tone(i, 1000))
    case 'music':
      return sound.map((_, i) => {
        const chord = chords[Math.floor(i / rate / 1.6) % 4] ?? []
        const tones = chord.map(
          (hertz) => tone(i, hertz) + 0.5 * tone(i, 2 * hertz) + 0.2 * tone(i, 3 * hertz),
        )
        const beat = 0.35 + 0.65 * Math.exp(-((i / rate) % 0.4) * 5)
        return 0.035 * beat * tones.reduce((sum, each) => sum + each, 0)
      })
    case 'breath':
      return sound.map((_, i) => {
        low += 0.3 * (random.next() * 2 - 1 - low)
        return 0.02 * low * Math.sin((Math.PI * i) / length)
      })
    case 'digits':
      for (let at = 0; at < length; at += 0.2 * rate) {
        const [a, b] = [random.of([697, 770, 852, 941]), random.of([1209, 1336, 1477])]
        mix(
          sound,
          at,
          silence(0.1).map((_, i) => 0.12 * (tone(i, a) + tone(i, b))),
        )
      }
      return sound
    default:
      for (let at = 0; at < length; at += Math.round(random.between(0.09, 0.3) * rate))
        mix(
          sound,
          at,
          silence(0.0125).map((_, i) => 0.15 * Math.exp(-i / 40) * (random.next() * 2 - 1)),
        )
      return sound
  }
}

/** Adds noise over the whole channel. @param level in dBFS */
function hum(
  random: Random,
  channel: Float32Array,
  level: number,
  kind: Conditions['noise'],
  voices: Voices,
): void {
  const noise =
    kind === 'babble' ? babble(random, channel.length, voices) : rush(random, channel.length, kind)
  mix(channel, 0, louder(noise, level - 20 * Math.log10(loudness(noise, 0, noise.length))))
}

function babble(random: Random, length: number, { caller }: Voices): Float32Array {
  const noise = new Float32Array(length)
  for (let voice = 0; voice < 5; voice++)
    for (let at = -Math.round(random.between(0, 2) * rate); at < length; ) {
      const { samples } = random.of(caller)
      mix(noise, at, samples)
      at += samples.length + Math.round(random.between(0, 0.6) * rate)
    }
  return noise
}

function rush(random: Random, length: number, kind: Conditions['noise']): Float32Array {
  let [a, b, c, brown, slow] = [0, 0, 0, 0, 0]
  return new Float32Array(length).map((_, i) => {
    const white = random.next() * 2 - 1
    a = 0.99765 * a + white * 0.099046
    b = 0.963 * b + white * 0.2965164
    c = 0.57 * c + white * 1.0526913
    brown = 0.995 * brown + 0.05 * white
    const pink = a + b + c + 0.1848 * white
    if (kind === 'street' && i % 1600 === 0) slow += 0.15 * (random.normal() - 0.4 * slow)
    if (kind === 'car') return brown + 0.01 * pink
    return kind === 'street' ? pink * Math.exp(slow) : pink
  })
}

/** 16 bits, or µ-law (ITU-T G.711). */
export function toWav(channels: readonly Float32Array[], hertz = rate, isMuLaw = false): Buffer {
  const samples = new Int16Array(channels.length * (channels[0]?.length ?? 0))
  for (const [channel, own] of channels.entries())
    for (const [i, value] of own.entries())
      samples[i * channels.length + channel] = Math.round(Math.max(-1, Math.min(1, value)) * 32_767)
  const data = isMuLaw ? Buffer.from(Uint8Array.from(samples, muLaw)) : Buffer.from(samples.buffer)
  const [tag, bytes] = isMuLaw ? [7, 1] : [1, 2]
  const frame = channels.length * bytes
  const numbers = (...all: number[]) => Buffer.from(Uint32Array.from(all).buffer)
  const format = numbers(16, (channels.length << 16) | tag, hertz, hertz * frame, ((8 * bytes) << 16) | frame)
  const head = [Buffer.from('RIFF'), numbers(36 + data.length), Buffer.from('WAVEfmt '), format]
  return Buffer.concat([...head, Buffer.from('data'), numbers(data.length), data])
}

function muLaw(sample: number): number {
  const magnitude = Math.min(32_635, Math.abs(sample)) + 0x84
  const exponent = 24 - Math.clz32(magnitude)
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff
}
