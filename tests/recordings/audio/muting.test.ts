import { afterAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MPEGDecoder } from 'mpg123-decoder'
import { OpusDecoder } from 'opus-decoder'
import type { Span } from '../../../src/calls/sound/figures.ts'
import { AudioThreads } from '../../../src/recordings/audio/audio-threads.ts'
import { AudioReader, type EncryptedAudio } from '../../../src/recordings/audio/encrypted-audio.ts'
import { pagesOf } from '../../../src/recordings/audio/ogg.ts'
import { encryptFrame, frameBytes, newKey } from '../../../src/recordings/frames.ts'
import { mediaTypeOf } from '../../../src/recordings/media-type.ts'
import { freshFolder } from '../../support/at-end.ts'

// Each file was made by ffmpeg: a tone of 400 Hz, in WAV of half a second, in others of two.

const folder = freshFolder()
const threads = new AudioThreads()
const spans: Span[] = [
  [0.1, 0.2],
  [0.3, 0.35],
]
const longSpans: Span[] = [
  [0.4, 0.8],
  [1.2, 1.4],
]

afterAll(() => threads.close())

function contentOf(name: string): Buffer {
  return readFileSync(join(import.meta.dir, 'files', name))
}

function recordingOf(content: Uint8Array): EncryptedAudio {
  const key = newKey()
  const path = join(folder, crypto.randomUUID())
  const frames: Buffer[] = []
  for (let at = 0; at < content.byteLength; at += frameBytes)
    frames.push(...encryptFrame(key, at / frameBytes, content.subarray(at, at + frameBytes)))
  writeFileSync(path, Buffer.concat(frames))
  return { path, key, bytes: content.byteLength, contentType: mediaTypeOf(content) ?? '' }
}

/** Null if it cannot be muted. */
async function muted(content: Buffer, silent: readonly Span[] = spans): Promise<Buffer | null> {
  const copy = { path: join(folder, crypto.randomUUID()), key: newKey() }
  writeFileSync(copy.path, '')
  const bytes = await threads.mute(1, recordingOf(content), silent, copy)
  if (bytes === null) return null
  const reader = new AudioReader({ ...copy, bytes, contentType: '' }, Math.max(1, bytes))
  return Buffer.from(await reader.read(0, bytes))
}

interface Decoded {
  channelData: Float32Array[]
  sampleRate: number
}

async function decodedMp3(content: Buffer): Promise<Decoded> {
  const decoder = new MPEGDecoder()
  await decoder.ready
  return decoder.decode(content)
}

async function decodedOpus(content: Buffer): Promise<Decoded> {
  const packets: Buffer[] = []
  const begun: Buffer[] = []
  for await (const { parts } of pagesOf(new AudioReader(recordingOf(content))))
    for (const { bytes, isEnd } of parts) {
      begun.push(Buffer.from(bytes))
      if (isEnd) packets.push(Buffer.concat(begun.splice(0)))
    }
  const [head = Buffer.alloc(19)] = packets
  const decoder = new OpusDecoder({ channels: head.readUInt8(9), sampleRate: 48_000 })
  await decoder.ready
  const { channelData } = decoder.decodeFrames(packets.slice(2))
  return {
    channelData: channelData.map((samples) => samples.subarray(head.readUInt16LE(10))),
    sampleRate: 48_000,
  }
}

/** The loudest sample within the span, of both channels. */
function loudest({ channelData, sampleRate }: Decoded, [from, to]: Span): number {
  const places = [Math.ceil(from * sampleRate), Math.floor(to * sampleRate)]
  return Math.max(...channelData.map((samples) => Math.max(...samples.subarray(...places).map(Math.abs))))
}

test.each([
  ['stereo.mp3', decodedMp3],
  ['no-header.mp3', decodedMp3],
  ['mono.mp3', decodedMp3],
  ['stereo-opus.ogg', decodedOpus],
  ['mono-opus.ogg', decodedOpus],
] as const)(
  '%s is silent within the spans, as long as before, and loud between them',
  async (name, decode) => {
    const content = contentOf(name)
    const copy = await muted(content, longSpans)
    if (!copy) throw new Error('It was not muted')
    const [before, after] = [await decode(content), await decode(copy)]
    expect(after.channelData.map(({ length }) => length)).toEqual(
      before.channelData.map(({ length }) => length),
    )
    for (const span of longSpans) {
      expect(loudest(before, span)).toBeGreaterThan(0.05)
      // −90 dBFS.
      expect(loudest(after, span)).toBeLessThan(10 ** (-90 / 20))
    }
    for (const span of [
      [0.05, 0.15],
      [1.0, 1.05],
      [1.75, 1.9],
    ] as Span[])
      expect(loudest(after, span)).toBeGreaterThan(0.05)
  },
)

test.each([
  ['pcm-u8.wav', 0x80],
  ['pcm-s16le.wav', 0],
  ['pcm-s24le.wav', 0],
  ['pcm-f32le.wav', 0],
  ['pcm-alaw.wav', 0xd5],
  ['pcm-mulaw.wav', 0xff],
  ['streamed.wav', 0],
  ['rf64.wav', 0],
])('%s has silence within the spans, and every other byte as it was', async (name, silence) => {
  const content = contentOf(name)
  const copy = await muted(content)
  const changed = [...content].flatMap((byte, at) => (copy?.[at] === byte ? [] : [at]))
  const rate = content.readUInt32LE(content.indexOf('fmt ') + 12)
  const bytesPerSecond = content.readUInt32LE(content.indexOf('fmt ') + 16)
  const start = content.indexOf('data') + 8
  const frame = bytesPerSecond / rate
  const silent = spans.map(([from, to]) => [start + from * rate * frame, start + to * rate * frame] as const)
  expect(copy?.byteLength).toBe(content.byteLength)
  expect(changed.length).toBeGreaterThan(100)
  for (const at of changed) expect(silent.some(([from, to]) => at >= from && at < to)).toBe(true)
  for (const [from, to] of silent)
    expect(copy?.subarray(from, to).every((byte) => byte === silence)).toBe(true)
})

test.each(['stereo.mp3', 'stereo-opus.ogg', 'pcm-s16le.wav'])(
  '%s without spans stays as it is',
  async (name) => {
    const content = contentOf(name)
    expect((await muted(content, []))?.equals(content)).toBe(true)
  },
)

test.each(['stereo.mp3', 'no-header.mp3', 'stereo-opus.ogg'])(
  'no byte of what was silenced is left in %s',
  async (name) => {
    const content = contentOf(name)
    const copy = await muted(content, [[0.6, 1.4]])
    const pieces = Array.from({ length: content.length - 8 }, (_, at) => content.subarray(at, at + 8))
    // What fills up frames is the same everywhere.
    const isOnce = (piece: Buffer) => content.indexOf(piece) === content.lastIndexOf(piece)
    const within = pieces.slice(content.length * 0.4, content.length * 0.6).filter(isOnce)
    const outside = [...pieces.slice(0, content.length * 0.1), ...pieces.slice(content.length * 0.9)].filter(
      isOnce,
    )
    expect(within.length).toBeGreaterThan(100)
    // Headers of frames and pages stay.
    expect(within.filter((piece) => copy?.includes(piece)).length).toBeLessThan(within.length / 50)
    expect(outside.length).toBeGreaterThan(50)
    expect(outside.filter((piece) => !copy?.includes(piece)).length).toBeLessThan(outside.length / 50)
  },
)

test.each([
  ['a format that is not decoded', () => contentOf('stereo.flac')],
  ['another codec in Ogg', () => contentOf('vorbis.ogg')],
  ['compressed samples', () => contentOf('adpcm.wav')],
  ['MP4', () => contentOf('aac.m4a')],
  [
    'a second stream',
    () => Buffer.concat([contentOf('stereo-opus.ogg'), withSerial(contentOf('mono-opus.ogg'), 9)]),
  ],
  ['something between frames', () => between(contentOf('no-header.mp3'))],
  ['a tag between frames', () => Buffer.concat([contentOf('stereo.mp3'), contentOf('stereo.mp3')])],
  ['only the beginning of an MP3', () => contentOf('no-header.mp3').subarray(0, 20)],
])('what cannot be muted is told: %s', async (_, content) => {
  expect(await muted(content())).toBeNull()
})

test('tags at the end are left out', async () => {
  const content = contentOf('no-header.mp3')
  const [older, newer] = [Buffer.alloc(128), Buffer.alloc(32)]
  older.write('TAG')
  newer.write('APETAGEX')
  expect((await muted(Buffer.concat([content, newer, older]), []))?.equals(content)).toBe(true)
})

test('a file that is cut is muted as far as it goes', async () => {
  for (const [name, decode] of [
    ['no-header.mp3', decodedMp3],
    ['stereo-opus.ogg', decodedOpus],
  ] as const) {
    const content = contentOf(name)
    const copy = await muted(content.subarray(0, Math.round(content.length * 0.7)), longSpans)
    if (!copy) throw new Error('It was not muted')
    expect(loudest(await decode(copy), [0.4, 0.8])).toBeLessThan(10 ** (-90 / 20))
  }
})

function withSerial(content: Buffer, serial: number): Buffer {
  for (let at = content.indexOf('OggS'); at >= 0; at = content.indexOf('OggS', at + 1))
    content.writeUInt32LE(serial, at + 14)
  return content
}

/** With text in its middle. */
function between(content: Buffer): Buffer {
  const middle = content.length / 2
  return Buffer.concat([
    content.subarray(0, middle),
    Buffer.from('x'.repeat(5_000)),
    content.subarray(middle),
  ])
}
