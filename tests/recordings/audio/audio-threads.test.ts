import { afterAll, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AudioThreads } from '../../../src/recordings/audio/audio-threads.ts'
import type { EncryptedAudio } from '../../../src/recordings/audio/encrypted-audio.ts'
import { encryptFrame, frameBytes, newKey } from '../../../src/recordings/frames.ts'
import { mediaTypeOf } from '../../../src/recordings/media-type.ts'
import { freshFolder } from '../../support/at-end.ts'
import fc from '../../support/fast-check.ts'

// Each file was made by ffmpeg: 400 Hz, in the stereo ones on the left at 0.8 in the first half of the time, then on the
// right at 0.4.

const folder = freshFolder()
const audio = new AudioThreads()
const projectId = 1

afterAll(async () => {
  await audio.close()
})

function contentOf(name: string): Buffer {
  return readFileSync(join(import.meta.dir, 'files', name))
}

function recordingOf(content: Uint8Array, contentType = mediaTypeOf(content) ?? ''): EncryptedAudio {
  const key = newKey()
  const path = join(folder, crypto.randomUUID())
  const frames: Buffer[] = []
  for (let at = 0; at < content.byteLength; at += frameBytes)
    frames.push(...encryptFrame(key, at / frameBytes, content.subarray(at, at + frameBytes)))
  writeFileSync(path, Buffer.concat(frames))
  return { path, key, bytes: content.byteLength, contentType }
}

async function peaksOf(recording: EncryptedAudio): Promise<Uint8Array> {
  return (await audio.peaks(projectId, recording)).peaks
}

/** The levels of both halves of each lane, from 0 to 1, without what the encoder adds at the ends. */
function halvesOf(bytes: Uint8Array): { seconds: number; halves: number[][] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  expect(view.getUint8(0)).toBe(1)
  const columns = view.getUint16(2, true)
  const lanes = Array.from({ length: view.getUint8(1) }, (_, lane) =>
    bytes.subarray(8 + lane * columns, 8 + (lane + 1) * columns),
  )
  const most = (lane: Uint8Array, from: number, to: number) =>
    Math.round((Math.max(...lane.subarray(from * columns, to * columns)) / 255) * 10) / 10
  expect(bytes.byteLength).toBe(8 + lanes.length * columns)
  const halves = lanes.map((lane) => [most(lane, 0.1, 0.4), most(lane, 0.6, 0.9)])
  return { seconds: view.getFloat32(4, true), halves }
}

const stereo = [
  [0.8, 0],
  [0, 0.4],
]
const mono = [[0.1, 0.1]]

test.each([
  ['pcm-u8.wav', 0.5, stereo],
  ['pcm-s16le.wav', 0.5, stereo],
  ['pcm-s24le.wav', 0.5, stereo],
  ['pcm-s32le.wav', 0.5, stereo],
  ['pcm-f32le.wav', 0.5, stereo],
  ['pcm-alaw.wav', 0.5, stereo],
  ['pcm-mulaw.wav', 0.5, stereo],
  ['streamed.wav', 0.5, stereo],
  ['rf64.wav', 0.5, stereo],
  ['mono.wav', 0.5, mono],
  ['stereo.mp3', 2, stereo],
  ['no-header.mp3', 2, stereo],
  ['mono.mp3', 2, mono],
  ['stereo-opus.ogg', 2, stereo],
  ['mono-opus.ogg', 2, mono],
])('%s has its waveform', async (name, seconds, halves) => {
  const found = halvesOf(await peaksOf(recordingOf(contentOf(name))))
  expect(found.halves).toEqual(halves)
  expect(Math.abs(found.seconds - seconds)).toBeLessThan(0.15)
})

test.each(['adpcm.wav', 'vorbis.ogg', 'aac.m4a', 'opus.webm', 'stereo.flac'])(
  '%s has no waveform',
  async (name) => {
    expect(await peaksOf(recordingOf(contentOf(name)))).toEqual(new Uint8Array())
  },
)

test.each([
  ['pcm-s16le.wav', 0.5, 2],
  ['pcm-mulaw.wav', 0.5, 2],
  ['streamed.wav', 0.5, 2],
  ['mono.wav', 0.5, 1],
  ['stereo.mp3', 2, 2],
  ['mono.mp3', 2, 1],
  // Its frames have one size, so the file's size tells.
  ['no-header.mp3', 2, 2],
  ['stereo-opus.ogg', 2, 2],
  ['mono-opus.ogg', 2, 1],
  ['vorbis.ogg', 2, 2],
  ['aac.m4a', 2, 2],
  ['opus.webm', 2, 2],
  ['stereo.flac', 1, 2],
])('%s says how long it is, and how many channels it has', async (name, seconds, channels) => {
  const found = await audio.probe(projectId, recordingOf(contentOf(name)))
  expect(found.channels).toBe(channels)
  expect(Math.abs((found.durationSeconds ?? 0) - seconds)).toBeLessThan(0.1)
})

test('a long recording has at most 2,000 columns, each with its loudest sample', async () => {
  const samples = 8_000 * 120
  const content = Buffer.concat([contentOf('mono.wav').subarray(0, 44), Buffer.alloc(samples * 2)])
  content.writeUInt32LE(samples * 2, 40)
  content.writeInt16LE(-32_768, 44 + samples)
  const bytes = await peaksOf(recordingOf(content))
  const lane = bytes.subarray(8)
  expect(lane.length).toBeGreaterThan(1_000)
  expect(lane.length).toBeLessThanOrEqual(2_000)
  expect(lane.filter((level) => level > 0)).toEqual(new Uint8Array([255]))
  const seconds = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(4, true)
  expect(((lane.indexOf(255) + 0.5) / lane.length) * seconds).toBeCloseTo(120, 0)
})

test('a file that takes too long has neither a length nor a waveform, and the next one has', async () => {
  const hasty = new AudioThreads({ probeWithinMs: 0, peaksWithinMs: 0 })
  const recording = recordingOf(contentOf('stereo.mp3'))
  expect(await hasty.probe(projectId, recording)).toEqual({ durationSeconds: null, channels: null })
  expect((await hasty.peaks(projectId, recording)).peaks).toEqual(new Uint8Array())
  await hasty.close()
})

test('however many recordings of a project wait, another one waits for two of them', async () => {
  const recording = () => recordingOf(contentOf('mono.wav'))
  const done: number[] = []
  const probe = (of: number) => audio.probe(of, recording()).then(() => done.push(of))
  await Promise.all([...Array.from({ length: 8 }, () => probe(1)), probe(2)])
  expect(done.indexOf(2)).toBeLessThanOrEqual(2)
})

test('what is too much of a project at once has no length, and no other project is refused', async () => {
  const recording = recordingOf(contentOf('mono.wav'))
  const all = Array.from({ length: 1_010 }, (_, at) =>
    audio.probe(1, { ...recording, path: `${recording.path}-${at}` }),
  )
  expect((await audio.probe(2, recording)).durationSeconds).toBe(0.5)
  await Promise.all(all)
})

test('a length that an upload did not wait for is found with the waveform', async () => {
  const { length } = await audio.peaks(projectId, recordingOf(contentOf('pcm-s16le.wav')))
  expect(length).toEqual({ durationSeconds: 0.5, channels: 2 })
})

test('a file that cannot be read or decrypted is an error, not a recording without a waveform', async () => {
  const recording = recordingOf(contentOf('stereo.mp3'))
  await expect(audio.peaks(projectId, { ...recording, path: `${recording.path}-gone` })).rejects.toThrow(
    'ENOENT',
  )
  await expect(audio.peaks(projectId, { ...recording, key: newKey() })).rejects.toThrow()
  expect(await audio.probe(projectId, { ...recording, key: newKey() })).toEqual({
    durationSeconds: null,
    channels: null,
  })
})

test('truncated and garbled files are answered, and those after them too', async () => {
  const names = [
    'pcm-s16le.wav',
    'stereo.mp3',
    'stereo-opus.ogg',
    'vorbis.ogg',
    'aac.m4a',
    'opus.webm',
    'stereo.flac',
  ]
  const whole = names.map((name) => ({ content: contentOf(name), type: mediaTypeOf(contentOf(name)) ?? '' }))
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    byte: fc.nat(255),
  })
  const damage = fc.record({
    of: fc.constantFrom(...whole),
    kept: fc.double({ min: 0.001, max: 1, noNaN: true }),
    changes: fc.array(change, { maxLength: 40 }),
    isAtStart: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(damage, async ({ of, kept, changes, isAtStart }) => {
      const content = Buffer.from(of.content.subarray(0, Math.ceil(of.content.byteLength * kept)))
      const reach = isAtStart ? Math.min(200, content.byteLength) : content.byteLength
      for (const { at, byte } of changes) content[Math.floor(at * reach)] = byte
      const recording = recordingOf(content, of.type)
      const { durationSeconds, channels } = await audio.probe(projectId, recording)
      expect(durationSeconds === null || durationSeconds > 0).toBe(true)
      expect(channels === null || channels > 0).toBe(true)
      expect(await peaksOf(recording)).toBeInstanceOf(Uint8Array)
      rmSync(recording.path)
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
  )
  expect(halvesOf(await peaksOf(recordingOf(contentOf('stereo.mp3')))).halves).toEqual(stereo)
})
