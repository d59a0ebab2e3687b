import { MPEGDecoder } from 'mpg123-decoder'
import { release } from '../release.ts'
import type { AudioReader } from './encrypted-audio.ts'
import { Peaks } from './peaks.ts'

const sliceBytes = 8_192

/** Null if nothing in the file can be decoded. */
export async function mp3Peaks(reader: AudioReader): Promise<Peaks | null> {
  const decoder = new MPEGDecoder()
  await decoder.ready
  let peaks: Peaks | null = null
  for (let at = 0; at < reader.bytes; at += sliceBytes) {
    const { channelData, sampleRate } = decoder.decode(await reader.read(at, at + sliceBytes))
    if (sampleRate === 0) continue
    // The decoder makes two channels of one; `Peaks` makes one of two that are equal.
    peaks ??= new Peaks(2, sampleRate)
    peaks.add(channelData)
    channelData.forEach(release)
  }
  decoder.free()
  return peaks
}
