import type { Span, Speech } from '../../calls/sound/figures.ts'
import { limits } from '../../limits.ts'
import { lowerPriority } from '../../threads/priority.ts'
import { serve } from '../../threads/serve.ts'
import { frameBytes } from '../frames.ts'
import type { DecodedSound } from './decoded-sound.ts'
import { type AudioLength, AudioReader, AudioWriter, type EncryptedAudio } from './encrypted-audio.ts'
import { lengthOf } from './length.ts'
import { mp3Sound } from './mp3.ts'
import { mutings } from './muting.ts'
import { opusSound } from './opus.ts'
import { speechOf } from './speech.ts'
import { wavSound } from './wav.ts'

const decodingErrorsMax = 1_000
/** How long a length may take while an upload waits for it, and later. */
const hurriedMs = limits.audioTime.most
const unhurriedMs = 5_000

const decoders: Record<string, (reader: AudioReader) => Promise<DecodedSound | null>> = {
  'audio/wav': wavSound,
  'audio/mpeg': mp3Sound,
  'audio/ogg': opusSound,
}

/** What is known once all of a recording was read. */
export interface AudioPeaks {
  /** What `Peaks.toBytes` returns; empty if the file cannot be decoded. */
  peaks: Uint8Array
  speech: Speech
  length: AudioLength
}

/** Both are null for a file that is not what it seems, or that takes too long. */
async function probe(audio: EncryptedAudio, msMax: number = hurriedMs): Promise<AudioLength> {
  const reader = new AudioReader(audio, frameBytes)
  const length = await readingAudio(reader, () => lengthOf(reader, audio.contentType, msMax))
  return length ?? { durationSeconds: null, channels: null }
}

async function peaks(audio: EncryptedAudio): Promise<AudioPeaks> {
  lowerPriority(10)
  countDecodingErrors()
  const reader = new AudioReader(audio)
  const decode = async () => (await decoders[audio.contentType]?.(reader)) ?? 'format'
  const sound = (await readingAudio(reader, decode)) ?? 'damaged'
  const waveform = typeof sound === 'string' ? null : sound.peaks
  const { durationSeconds, channels } = await probe(audio, unhurriedMs)
  return {
    peaks: waveform?.toBytes() ?? new Uint8Array(),
    speech: speechOf(sound, channels),
    length: { durationSeconds: durationSeconds ?? waveform?.seconds ?? null, channels },
  }
}

/**
 * Writes a copy of the recording that is silent within the spans to an empty file.
 * @returns the length of the copy; null if the recording cannot be muted
 */
async function mute(
  audio: EncryptedAudio,
  spans: readonly Span[],
  copy: Pick<EncryptedAudio, 'path' | 'key'>,
): Promise<number | null> {
  lowerPriority(10)
  const muting = mutings[audio.contentType]
  if (!muting) return null
  const reader = new AudioReader(audio)
  const writer = new AudioWriter(copy)
  try {
    const bytes = await readingAudio(reader, () => writer.write(muting(reader, spans)))
    if (writer.failure !== null) throw writer.failure
    return bytes
  } finally {
    writer.close()
  }
}

/** Null if what the file contains cannot be understood. @throws Error if the file cannot be read */
async function readingAudio<Value>(reader: AudioReader, read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read()
  } catch (error) {
    if (reader.failure !== null) throw error
    // The parsers and decoders throw for files that are damaged, on purpose or not.
    return null
  } finally {
    reader.close()
  }
}

/** The decoders write each error to the console, of this thread alone, and may go on for ever. */
function countDecodingErrors(): void {
  let errors = 0
  console.error = () => {
    if (++errors > decodingErrorsMax) throw new Error('The recording is damaged')
  }
}

const api = { probe, peaks, mute }

export type AudioApi = typeof api

serve(api)
