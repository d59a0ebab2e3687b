import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Span, Speech } from '../../src/calls/sound/figures.ts'
import { redactedSpans } from '../../src/calls/sound/redacted-spans.ts'
import type { Muting } from '../../src/db/schema.ts'
import { AudioThreads } from '../../src/recordings/audio/audio-threads.ts'
import { DecodedSound } from '../../src/recordings/audio/decoded-sound.ts'
import { speechOf } from '../../src/recordings/audio/speech.ts'
import { encryptFrame, frameBytes, newKey } from '../../src/recordings/frames.ts'
import { memoryOf } from '../process-use.ts'
import { createRandom } from '../random.ts'
import { temporaryFolder } from '../temporary.ts'
import { atMost, type Row, row } from './figures.ts'
import { rate, type SpokenCall, spokenCalls, toWav } from './spoken-calls.ts'

const seeds = [4, 5, 6]
const callsPerSeed = 30
const hours = 3
const sampleMs = 20

/** How platforms tell when a turn begins. */
const clocks: Record<string, (from: number, to: number, random: () => number) => number> = {
  exact: (from) => from,
  'off by 0.3 s': (from, _, random) => Math.max(0, from + 0.6 * random() - 0.3),
  'whole seconds': (from) => Math.floor(from),
  ends: (_, to) => to,
  random: (_, __, random) => 120 * random(),
}
const sharesMin: Record<string, number> = { exact: 0.999, 'off by 0.3 s': 0.995, 'whole seconds': 0.99 }

/** Which of the callers' turns are wholly silent if something in them is redacted, by how exact their times are. */
export async function benchMuted(): Promise<Row[]> {
  const random = createRandom(1)
  const tallies = Object.keys(clocks).map((name) => ({
    name,
    turns: 0,
    silent: 0,
    refused: 0,
    unheard: 0,
    calls: 0,
    own: 0,
    other: 0,
  }))
  for (const seed of seeds)
    for (const call of spokenCalls(seed, callsPerSeed)) {
      const sound = new DecodedSound(2, rate)
      sound.add(call.channels)
      const speech = speechOf(sound, 2)
      // Nothing is muted in what is not measured.
      if (typeof speech === 'string') continue
      for (const tally of tallies) add(tally, call, speech, clocks[tally.name] ?? ((from) => from), random)
    }
  return tallies.map(({ name, turns, silent, refused, unheard, calls, own, other }) => {
    const min = sharesMin[name]
    const refusals = `${refused} of ${calls} calls refused`
    if (min === undefined) return row(`times that are ${name}`, refusals, 'all', refused === calls)
    const share = silent / turns
    const lost = other / own
    const measured = `${(100 * share).toFixed(2)} % of ${turns} wholly silent, ${lost.toFixed(2)} s of other speech a second, ${unheard} turns not heard, ${refusals}`
    return row(`times that are ${name}`, measured, `≥ ${100 * min} %, ≤ 0.4 s`, share >= min && lost <= 0.4)
  })
}

interface Tally {
  turns: number
  silent: number
  refused: number
  unheard: number
  calls: number
  /** Seconds that were muted of what was redacted, and of anything else that was said. */
  own: number
  other: number
}

function add(
  tally: Tally,
  { caller, agent }: SpokenCall,
  speech: Speech,
  clock: (from: number, to: number, random: () => number) => number,
  random: () => number,
): void {
  const turns = turnsOf({ caller, agent })
  const timeline = turns.map(({ from, to }, turn) => ({
    kind: 'turn' as const,
    turn,
    atSeconds: clock(from, to, random),
  }))
  const texts = turns.map(({ from, to }) => 'x'.repeat(Math.ceil(15 * (to - from) * (0.75 + 0.5 * random()))))
  tally.calls++
  let alignment: Muting['alignment'] = null
  for (const [turn, { role, from, to }] of turns.entries()) {
    if (role === 'assistant') continue
    const transcript = turns.map((each, at) => ({
      role: each.role,
      content: at === turn ? `[card] ${texts[at]}` : (texts[at] ?? ''),
    }))
    const redacted = redactedSpans(speech, { timeline, transcript }, { spans: [], turns: [], alignment })
    if (typeof redacted === 'string') {
      // Without an alignment, none of its turns can be silenced; else this one is not heard, and nothing would be kept.
      if (alignment === null) tally.refused++
      else tally.unheard++
      if (alignment === null) return
      continue
    }
    // One text more or less is no other alignment.
    alignment = redacted.alignment
    tally.turns++
    tally.silent += Number(redacted.spans.some(([start, end]) => start <= from && to <= end))
    const said = caller.filter(([start, end]) => start >= from && end <= to)
    const silenced = overlap(redacted.spans, said)
    tally.own += silenced
    tally.other += overlap(redacted.spans, [...caller, ...agent]) - silenced
  }
}

/** All that one says until the other one speaks. */
function turnsOf({ caller, agent }: Pick<SpokenCall, 'caller' | 'agent'>) {
  const turns: { role: 'user' | 'assistant'; from: number; to: number }[] = []
  const spans = [
    ...caller.map(([from, to]) => ({ role: 'user' as const, from, to })),
    ...agent.map(([from, to]) => ({ role: 'assistant' as const, from, to })),
  ].sort((a, b) => a.from - b.from)
  for (const span of spans) {
    const last = turns.at(-1)
    if (last?.role === span.role) last.to = span.to
    else turns.push({ ...span })
  }
  return turns
}

/** Seconds that both have. */
function overlap(spans: readonly Span[], others: readonly Span[]): number {
  return spans.reduce(
    (sum, [a, b]) =>
      sum + others.reduce((inner, [c, d]) => inner + Math.max(0, Math.min(b, d) - Math.max(a, c)), 0),
    0,
  )
}

/** What three hours of MP3 take. */
export async function benchMuting(): Promise<Row[]> {
  const [call] = spokenCalls(4, 1)
  if (!call) throw new Error('There is no call')
  const input = Buffer.from(toWav(call.channels))
  const once = execFileSync('lame', ['--quiet', '-t', '-b', '48', '-', '-'], {
    input,
    maxBuffer: input.length,
  })
  const times = Math.ceil((hours * 3_600) / call.seconds)
  const folder = temporaryFolder()
  const threads = new AudioThreads()
  const mute = async (of: number) => {
    const content = Buffer.concat(Array.from({ length: of }, () => once))
    const [path, key] = [join(folder, `${of}`), newKey()]
    const frames: Buffer[] = []
    for (let at = 0; at < content.length; at += frameBytes)
      frames.push(...encryptFrame(key, at / frameBytes, content.subarray(at, at + frameBytes)))
    writeFileSync(path, Buffer.concat(frames))
    const copy = { path: `${path}-copy`, key: newKey() }
    writeFileSync(copy.path, '')
    const spans = Array.from(
      { length: of },
      (_, at): Span => [at * call.seconds + 10, at * call.seconds + 15],
    )
    const audio = { path, key, bytes: content.length, contentType: 'audio/mpeg' }
    const [before, used] = [memoryOf(process.pid).residentMb, process.cpuUsage()]
    let most = before
    const sampling = setInterval(() => {
      most = Math.max(most, memoryOf(process.pid).residentMb)
    }, sampleMs)
    const bytes = await threads.mute(1, audio, spans, copy).finally(() => clearInterval(sampling))
    if (bytes !== content.length) throw new Error('It was not muted')
    const { user, system } = process.cpuUsage(used)
    return { seconds: (user + system) / 1e6, more: most - before }
  }
  // The thread itself costs as much for a few minutes.
  await mute(1)
  const { seconds, more } = await mute(times)
  await threads.close()
  return [
    atMost(`processor for ${hours} hours of MP3`, seconds, 10, 's', `, ${times} spans`),
    atMost('memory more', more, 40, 'MB'),
  ]
}
