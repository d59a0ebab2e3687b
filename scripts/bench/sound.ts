import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { soundOf } from '../../src/calls/sound/call-sound.ts'
import { figuresOf, type Span, type Speech, secondsOf } from '../../src/calls/sound/figures.ts'
import { AudioThreads } from '../../src/recordings/audio/audio-threads.ts'
import { DecodedSound } from '../../src/recordings/audio/decoded-sound.ts'
import { Peaks } from '../../src/recordings/audio/peaks.ts'
import { speechOf } from '../../src/recordings/audio/speech.ts'
import { encryptFrame, frameBytes, newKey } from '../../src/recordings/frames.ts'
import { makeDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import { repository } from '../repository.ts'
import { ask } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import { atMost, type Row, row } from './figures.ts'
import { median, percentile, runLoad } from './load.ts'
import { benchMuted, benchMuting } from './muting.ts'
import { type Options, runSuite } from './runner.ts'
import { rate, type SpokenCall, spokenCalls, toWav } from './spoken-calls.ts'

const seeds = [4, 5, 6, 7, 8, 9]
const callsPerSeed = 30
/** Of those that are measured beside others, so many are alike. */
const recordings = 200
const copies = 20
/** Refused, whatever is heard in it. */
const noisiest = 'pink5'
const encodings = {
  wav: { contentType: 'audio/wav', command: null },
  mulaw: { contentType: 'audio/wav', command: null },
  mp3: { contentType: 'audio/mpeg', command: ['lame', '--quiet', '-q', '7', '-b', '48'] },
  opus: { contentType: 'audio/ogg', command: ['opusenc', '--quiet', '--bitrate', '28'] },
} as const
type Encoding = keyof typeof encodings

await runSuite({
  command: 'bench:sound',
  title: 'Sound',
  about:
    'who speaks when, and what follows from it, in calls that are made from a seed: two voices of formants under 15 conditions, from ' +
    'clean to noise, echo and music. An energy method does well on them; no telephone call with truth made by hand was at hand. ' +
    'MP3 and Opus need `lame` and `opusenc`.',
  cases: [
    { name: 'cost', run: benchCost },
    ...Object.keys(encodings).map((name) => ({
      name,
      run: () => benchCalls(name as Encoding),
    })),
    { name: 'beside', run: benchBeside },
    { name: 'muted', run: benchMuted },
    { name: 'muting', run: benchMuting },
  ],
})

/** How much of what there is was found. */
class Score {
  hits = 0
  planned = 0
  heard = 0

  add(planned: readonly Span[], heard: readonly Span[]): void {
    this.planned += planned.length
    this.heard += heard.length
    for (const span of planned)
      if (
        heard.some(
          (each) =>
            shared(each, span) > 0 && shared(each, span) >= 0.5 * Math.min(length(each), length(span)),
        )
      )
        this.hits++
  }

  get f1(): number {
    return (2 * this.hits) / (this.planned + this.heard || 1)
  }
}

/** What is off, over the calls of one seed or of all. */
class Tally {
  refused = 0
  spans = 0
  missed = 0
  answers = 0
  answered = 0
  readonly onsets: number[] = []
  readonly ends: number[] = []
  readonly waits: number[] = []
  readonly scores = { 'talk-over': new Score(), interruptions: new Score(), 'dead air': new Score() }

  add(call: SpokenCall, speech: Speech): void {
    const isNoisy = call.conditions.name === noisiest
    this.refused += Number(isNoisy && speech === 'noisy')
    if (isNoisy) return
    // Nothing was found in what should have been heard.
    const [caller, agent] = typeof speech === 'string' ? [[], []] : speech
    this.#addSpans(call.caller, caller)
    this.#addSpans(call.agent, agent)
    const [truth, heard] = [figuresOf(call.caller, call.agent), figuresOf(caller, agent)]
    for (const { at, seconds } of call.waits) {
      this.answers++
      const found = heard.waits.find((wait) => Math.abs(wait.at - at) < 0.5)
      if (!found) continue
      this.answered++
      this.waits.push(Math.abs(found.seconds - seconds))
    }
    const spansOf = (all: readonly { from: number; to: number }[]) =>
      all.map(({ from, to }): Span => [from, to])
    this.scores['talk-over'].add(spansOf(truth.talkOver), spansOf(heard.talkOver))
    this.scores.interruptions.add(
      call.interruptions,
      spansOf(heard.talkOver.filter(({ yielded }) => yielded)),
    )
    // Music and keys fill what would be dead air without them.
    const loud = call.noises
      .filter(({ kind }) => kind === 'music' || kind === 'digits')
      .map(({ span }) => span)
    const quiet = (all: readonly Span[]) => all.filter((span) => !loud.some((each) => shared(each, span) > 0))
    this.scores['dead air'].add(quiet(truth.deadAir), quiet(heard.deadAir))
  }

  #addSpans(planned: readonly Span[], heard: readonly Span[]): void {
    for (const [index, span] of planned.entries()) {
      if (length(span) < 0.15) continue
      this.spans++
      const found = heard.filter((each) => shared(each, span) > 0)
      const [first, last] = [found[0], found.at(-1)]
      const isFound = found.reduce((sum, each) => sum + shared(each, span), 0) >= 0.2 * length(span)
      if (!first || !last || !isFound) {
        this.missed++
        continue
      }
      const [before, after] = [planned[index - 1]?.[1] ?? -9, planned[index + 1]?.[0] ?? 1e9]
      if (span[0] - before > 0.3 && first[0] > before) this.onsets.push(Math.abs(first[0] - span[0]))
      if (after - span[1] > 0.3 && last[1] < after) this.ends.push(Math.abs(last[1] - span[1]))
    }
  }
}

/** Six seeds, in one encoding, as the service reads them. */
async function benchCalls(encoding: Encoding): Promise<Row[]> {
  const [program] = encodings[encoding].command ?? []
  if (program && !Bun.which(program)) return [row(encoding, `skipped: ${program} is not installed`)]
  const threads = new AudioThreads()
  const folder = temporaryFolder()
  const [all, each] = [new Tally(), seeds.map(() => new Tally())]
  for (const [at, seed] of seeds.entries())
    for (const call of spokenCalls(seed, callsPerSeed)) {
      const { speech } = await threads.peaks(1, encrypted(folder, encode(call, encoding), encoding))
      for (const tally of [all, each[at]]) tally?.add(call, speech)
    }
  await threads.close()
  const noisy = seeds.length * (callsPerSeed / 15)
  const ms = (values: readonly number[], share: number) =>
    Math.round(
      1_000 *
        percentile(
          values.toSorted((a, b) => a - b),
          share,
        ),
    )
  const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
  const isFound = all.answered >= 0.96 * all.answers && all.missed <= 0.01 * all.spans
  const least = (name: keyof Tally['scores']) => Math.min(...each.map(({ scores }) => scores[name].f1))
  const targets = { 'talk-over': 0.85, interruptions: 0.85, 'dead air': 0.95 } as const
  const name = `${encoding}, ${seeds.length * callsPerSeed} calls`
  return [
    // Opus takes away so much of the noise that some are measured.
    encoding === 'opus'
      ? row(`${name}: at 5 dB of noise`, `${all.refused} of ${noisy} \`noisy\``)
      : row(
          `${name}: at 5 dB of noise`,
          `${all.refused} of ${noisy} \`noisy\``,
          'all',
          all.refused === noisy,
        ),
    row(
      '  answers found, spans missed',
      `${share(all.answered, all.answers)} of ${all.answers}, ${share(all.missed, all.spans)} of ${all.spans}`,
      '≥ 96 %, ≤ 1 %',
      isFound,
    ),
    ...[
      ['onset', all.onsets, 100] as const,
      ['end', all.ends, 60] as const,
      ['wait', all.waits, 350] as const,
    ].map(([what, values, most]) =>
      row(
        `  ${what}, off by`,
        `median ${ms(values, 0.5)}, p95 ${ms(values, 0.95)} ms`,
        what === 'wait' ? `≤ 20, ≤ ${most} ms` : `p95 ≤ ${most} ms`,
        ms(values, 0.95) <= most && (what !== 'wait' || ms(values, 0.5) <= 20),
      ),
    ),
    ...Object.entries(targets).map(([what, target]) => {
      const [pooled, worst] = [
        all.scores[what as keyof typeof targets].f1,
        least(what as keyof typeof targets),
      ]
      const measured = `${pooled.toFixed(3)}, worst seed ${worst.toFixed(3)}`
      return row(
        `  F1 of ${what}`,
        measured,
        `≥ ${target}, each seed ≥ 0.8`,
        pooled >= target && worst >= 0.8,
      )
    }),
  ]
}

function encode({ channels }: SpokenCall, encoding: Encoding): Buffer {
  // As a telephone has it.
  if (encoding === 'mulaw') return toWav(channels.map(halved), rate / 2, true)
  const [program, ...args] = encodings[encoding].command ?? []
  const wav = toWav(channels)
  if (!program) return wav
  // Into a file: only there can LAME write the tag that says how late the sound begins.
  const file = join(temporaryFolder(), 'encoded')
  execFileSync(program, [...args, '-', file], { input: wav })
  const encoded = readFileSync(file)
  rmSync(file)
  return encoded
}

function halved(samples: Float32Array): Float32Array {
  const half = (at: number) => ((samples[2 * at] ?? 0) + (samples[2 * at + 1] ?? 0)) / 2
  return new Float32Array(samples.length >> 1).map((_, at) => half(at))
}

function encrypted(folder: string, content: Buffer, encoding: Encoding) {
  const [key, path] = [newKey(), join(folder, 'encrypted')]
  const parts: Buffer[] = []
  for (let at = 0; at < content.length; at += frameBytes)
    parts.push(...encryptFrame(key, at / frameBytes, content.subarray(at, at + frameBytes)))
  writeFileSync(path, Buffer.concat(parts))
  return { path, key, bytes: content.length, contentType: encodings[encoding].contentType }
}

/** What it takes beside drawing the waveform, and how much memory three hours take. */
async function benchCost({ rounds }: Options): Promise<Row[]> {
  const hertz = 48_000
  const [call] = spokenCalls(4, 1)
  if (!call) throw new Error('There is no call')
  const block = call.channels.map((samples) =>
    Float32Array.from({ length: 10 * hertz }, (_, i) => samples[i / 3] ?? samples[Math.floor(i / 3)] ?? 0),
  )
  const feed = (sound: { add(samples: readonly Float32Array[]): void }, seconds: number) => {
    for (let at = 0; at < seconds; at += 10) sound.add(block)
  }
  const secondsOfWork = (work: () => unknown) => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  }
  const extra = Array.from({ length: rounds }, () => {
    const alone = secondsOfWork(() => feed(new Peaks(2, hertz), 600))
    const whole = secondsOfWork(() => {
      const sound = new DecodedSound(2, hertz)
      feed(sound, 600)
      soundOf(speechOf(sound, 2), { timeline: [], transcript: [], callerChannel: null, muted: null })
    })
    return whole - alone
  })
  const before = memoryOf(process.pid).residentMb
  const sound = new DecodedSound(2, hertz)
  feed(sound, 10_800)
  const speech = speechOf(sound, 2)
  const more = memoryOf(process.pid).residentMbMax - before
  const spoken =
    typeof speech === 'string' ? speech : `${Math.round(secondsOf(speech.flat()) / 60)} minutes of speech`
  return [
    atMost('processor beside the waveform, ten minutes', median(extra), 0.5, 's'),
    atMost('memory more, three hours at 48 kHz', more, 200, 'MB', ` (${spoken})`),
  ]
}

/** How long others wait while recordings are measured. */
async function benchBeside({ start }: Options): Promise<Row[]> {
  const { folder, key, ingestKey } = await makeDataset()
  const { url } = await start(folder)
  const put = {
    method: 'PUT',
    path: '/ingest/calls/beside-{n}',
    key: ingestKey,
    body: '{"status":"completed"}',
  }
  const load = async () => {
    const loads = [put, { path: '/v1/calls/beside-1', key }].map(({ key: own, ...request }) =>
      runLoad({ url, key: own, requests: [request], connections: 1, perSecond: 50, seconds: 15 }),
    )
    return await Promise.all(loads)
  }
  let n = 0
  for (const call of spokenCalls(4, recordings / copies))
    for (let copy = 0; copy < copies; copy++, n++) {
      const [path, body] = [`/ingest/calls/heard-${n}`, toWav(call.channels)]
      await ask(url, { method: 'PUT', path, key: ingestKey, body: { status: 'completed' } })
      const headers = { authorization: `Bearer ${ingestKey}` }
      await fetch(`${url}${path}/recording`, { method: 'PUT', headers, body: new Uint8Array(body) })
    }
  const measured = async () => {
    const path = '/v1/calls?sound=measured,unmeasured&limit=0'
    return (await ask<{ pagination: { total: number } }>(url, { path, key })).pagination.total
  }
  while ((await measured()) < recordings) await sleep(500)
  await load()
  const idle = await load()
  const command = [join(repository, 'scripts/callbook.ts'), 'recording', 'measure', '--project', 'bench']
  execFileSync(process.execPath, command, { env: { ...process.env, DATA_DIR: folder } })
  const busy = await load()
  return ['PUT', 'GET'].map((what, at) => {
    const [a, b] = [idle[at]?.p99Ms ?? 0, busy[at]?.p99Ms ?? 0]
    const measured = `${b.toFixed(1)} ms, idle ${a.toFixed(1)} ms`
    return row(
      `p99 of ${what} while recordings are measured`,
      measured,
      '≤ idle + 10, ≤ 100 ms',
      b <= a + 10 && b <= 100,
    )
  })
}

function length([from, to]: Span): number {
  return to - from
}

function shared(a: Span, b: Span): number {
  return Math.max(0, Math.min(a[1], b[1]) - Math.max(a[0], b[0]))
}
