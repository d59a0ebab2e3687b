import type { Span } from '../../calls/sound/figures.ts'
import type { AudioReader } from './encrypted-audio.ts'
import { mutedMp3 } from './mute-mp3.ts'
import { mutedOpus } from './mute-opus.ts'
import { mutedWav } from './mute-wav.ts'

/** Yields a recording in parts, silent within the spans. All other sound stays as it is, byte for byte. */
export type Muting = (reader: AudioReader, spans: readonly Span[]) => AsyncGenerator<Uint8Array>

/** Muting without encoding anew, by media type. What is none of these is not muted. */
export const mutings: Readonly<Record<string, Muting>> = {
  'audio/wav': mutedWav,
  'audio/mpeg': mutedMp3,
  'audio/ogg': mutedOpus,
}
