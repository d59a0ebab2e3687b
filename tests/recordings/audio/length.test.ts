import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AudioThreads } from '../../../src/recordings/audio/audio-threads.ts'
import { AudioReader, type EncryptedAudio } from '../../../src/recordings/audio/encrypted-audio.ts'
import { lengthOf } from '../../../src/recordings/audio/length.ts'
import { encryptFrame, frameBytes, newKey } from '../../../src/recordings/frames.ts'
import { mediaTypeOf } from '../../../src/recordings/media-type.ts'
import { freshFolder } from '../../support/at-end.ts'
import { atom, big, fragment, little, movie, mp4Start, oggPage, opusHead } from '../../support/audio-files.ts'

const folder = freshFolder()
const audio = new AudioThreads()
const unhurriedMs = 60_000

afterAll(async () => {
  await audio.close()
})

function recordingOf(content: Buffer): EncryptedAudio {
  const key = newKey()
  const path = join(folder, crypto.randomUUID())
  const frames: Buffer[] = []
  for (let at = 0; at < content.byteLength; at += frameBytes)
    frames.push(...encryptFrame(key, at / frameBytes, content.subarray(at, at + frameBytes)))
  writeFileSync(path, Buffer.concat(frames))
  return { path, key, bytes: content.byteLength, contentType: mediaTypeOf(content) ?? '' }
}

async function read(content: Buffer, msMax = unhurriedMs) {
  const recording = recordingOf(content)
  const reader = new AudioReader(recording, frameBytes)
  return await lengthOf(reader, recording.contentType, msMax).finally(() => reader.close())
}

function repeated(count: number, part: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => part))
}

/** Atoms of 8 bytes, each in the one before. */
function nested(levels: number): Buffer {
  const atoms = Buffer.alloc(8 * levels)
  for (let level = 0; level < levels; level++) {
    atoms.writeUInt32BE(8 * (levels - level), 8 * level)
    atoms.write('moov', 8 * level + 4)
  }
  return Buffer.concat([mp4Start, atoms])
}

/** One second, and a comment block. */
function flacOf(comments: Buffer): Buffer {
  const info = Buffer.alloc(34)
  info.writeBigUInt64BE((44_100n << 44n) | (1n << 41n) | (15n << 36n) | 44_100n, 10)
  const size = big(comments.length)
  size[0] = 0x84
  return Buffer.concat([Buffer.from('fLaC\0\0\0\x22', 'latin1'), info, size, comments])
}

function taggedMp3(tag: Buffer): Buffer {
  const digits = [21, 14, 7, 0].map((bits) => (tag.length >> bits) & 127)
  const sound = readFileSync(join(import.meta.dir, 'files/mono.mp3'))
  return Buffer.concat([
    Buffer.from('ID3\x04\0\0', 'latin1'),
    Buffer.from(digits),
    tag,
    sound.subarray(tagBytesOf(sound)),
  ])
}

function tagBytesOf(sound: Buffer): number {
  return sound.toString('latin1', 0, 3) === 'ID3' ? 10 + sound.readUInt8(9) + 128 * sound.readUInt8(8) : 0
}

const info = (count: number) =>
  repeated(count, Buffer.concat([Buffer.from('INAM'), little(2), Buffer.from('ab')]))

describe('the length of a recording', () => {
  test.skipIf(process.platform !== 'linux').each<[string, () => Buffer, number | null]>([
    ['a million atoms in each other', () => nested(1_000_000), null],
    [
      'a table of eight megabytes',
      () =>
        Buffer.concat([
          mp4Start,
          movie({ units: 80_000, tables: [atom('stts', big(0, 1_000_000), Buffer.alloc(8_000_000, 1))] }),
        ]),
      10,
    ],
    [
      'a run that counts 2³² samples',
      () =>
        Buffer.concat([
          mp4Start,
          movie(),
          atom('moof', atom('traf', atom('tfhd', big(0x020000, 1)), atom('trun', big(0, 0xffff_ffff, 0, 0)))),
        ]),
      null,
    ],
    [
      'comments that count 2³²',
      () => flacOf(Buffer.concat([little(0), little(0xffff_ffff), Buffer.alloc(8_000_000)])),
      1,
    ],
    [
      'a list of 200,000 names',
      () =>
        Buffer.concat([
          Buffer.from('RIFF'),
          little(2_000_012),
          Buffer.from('WAVELIST'),
          little(2_000_004),
          Buffer.from('INFO'),
          info(200_000),
        ]),
      null,
    ],
  ])('of %s is read without holding it', async (_, make, seconds) => {
    const recording = recordingOf(make())
    Bun.gc(true)
    const before = resetPeak()
    const { durationSeconds } = await audio.probe(1, recording)
    expect(durationSeconds).toBe(seconds)
    expect(peakMb() - before).toBeLessThan(100)
  })

  test('of two hours in pages or fragments of 20 ms is known', async () => {
    const mp4 = Buffer.concat([mp4Start, movie(), repeated(53_000, fragment(6, 600))])
    expect(await read(mp4)).toEqual({ durationSeconds: (6 * 181 * 53_000) / 8_000, channels: 2 })
    const pages = Array.from({ length: 540_000 }, (_, at) =>
      oggPage(at + 1, (at + 1) * 960, Buffer.alloc(60)),
    )
    const ogg = Buffer.concat([oggPage(0, 0, opusHead()), ...pages])
    expect(await read(ogg)).toEqual({ durationSeconds: (540_000 * 960 - 312) / 48_000, channels: 2 })
  })

  test('of an Ogg file is that of its last page in which a packet ends', async () => {
    const ogg = [
      oggPage(0, 0, opusHead()),
      oggPage(1, 48_312, Buffer.alloc(9)),
      oggPage(2, -1, Buffer.alloc(255)),
    ]
    expect((await read(Buffer.concat(ogg))).durationSeconds).toBe(1)
  })

  test('of an MP3 with pictures of a megabyte is known', async () => {
    const { durationSeconds } = await read(taggedMp3(Buffer.alloc(1_000_000)))
    expect(Math.abs((durationSeconds ?? 0) - 2)).toBeLessThan(0.1)
  })

  test('is given up beyond a time, windows and bytes', async () => {
    const mp4 = (...parts: Buffer[]) => Buffer.concat([mp4Start, movie(), ...parts])
    const part = fragment(6, 600)
    expect((await read(mp4(repeated(100, part)))).durationSeconds).toBe(13.575)
    await expect(read(mp4(part), -1)).rejects.toThrow('takes more than is spent')
    const far = Buffer.concat([part, atom('free', Buffer.alloc(65_536))])
    expect((await read(mp4(repeated(1_900, far)))).durationSeconds).toBeGreaterThan(200)
    await expect(read(mp4(repeated(2_100, far)))).rejects.toThrow('takes more than is spent')
    const run = atom('trun', Buffer.alloc(12_000_000))
    await expect(read(mp4(run, run, run))).rejects.toThrow('takes more than is spent')
  })

  test('of an MP4 is that of its track with sound, and of a long run that of all its samples', async () => {
    const samples = Array.from({ length: 20_000 }, () => big(181))
    const run = atom('trun', big(0x101, 20_000, 0), ...samples)
    const mp4 = [
      mp4Start,
      movie(),
      atom('moof', atom('traf', atom('tfhd', big(0x020000, 1)), run)),
      fragment(6, 600),
    ]
    expect((await read(Buffer.concat(mp4))).durationSeconds).toBe((20_006 * 181) / 8_000)
    const other = [mp4Start, movie(), atom('moof', atom('traf', atom('tfhd', big(0x020000, 2)), run))]
    expect(await read(Buffer.concat(other))).toEqual({ durationSeconds: null, channels: 2 })
  })
})

/** Forgets the most memory that this process has had, and tells what it has now. */
function resetPeak(): number {
  writeFileSync('/proc/self/clear_refs', '5')
  return peakMb()
}

function peakMb(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024
}
