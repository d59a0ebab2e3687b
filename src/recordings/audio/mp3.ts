import { MPEGDecoder } from 'mpg123-decoder'
import { release } from '../release.ts'
import { DecodedSound } from './decoded-sound.ts'
import type { AudioReader } from './encrypted-audio.ts'

const sliceBytes = 8_192

/** @throws Error if nothing in the file can be decoded */
export async function mp3Sound(reader: AudioReader): Promise<DecodedSound> {
  const decoder = new MPEGDecoder()
  await decoder.ready
  let sound: DecodedSound | null = null
  for (let at = 0; at < reader.bytes; at += sliceBytes) {
    const { channelData, sampleRate } = decoder.decode(await reader.read(at, at + sliceBytes))
    if (sampleRate === 0) continue
    // The decoder makes two channels of one; `Peaks` makes one of two that are equal.
    sound ??= new DecodedSound(2, sampleRate)
    sound.add(channelData)
    channelData.forEach(release)
  }
  decoder.free()
  if (sound === null) throw new Error('There is no sound')
  return sound
}
