import type { Span } from '../../calls/sound/figures.ts'
import type { AudioReader } from './encrypted-audio.ts'
import { wavLayout } from './wav.ts'

const sliceBytes = 262_144

/** @throws Error if the samples are in a format that is not read */
export async function* mutedWav(reader: AudioReader, spans: readonly Span[]): AsyncGenerator<Uint8Array> {
  const layout = await wavLayout(reader)
  if (layout === null) throw new Error('The format of the samples is not known')
  const { start, end, rate, frameBytes, silence } = layout
  const place = (frame: number) => Math.min(end, start + frame * frameBytes)
  const places = spans.map(
    ([from, to]) => [place(Math.floor(from * rate)), place(Math.ceil(to * rate))] as const,
  )
  for (let at = 0; at < reader.bytes; at += sliceBytes) {
    const slice = Buffer.from(await reader.read(at, at + sliceBytes))
    const within = (place: number) => Math.min(Math.max(0, place - at), slice.byteLength)
    for (const [from, to] of places) slice.fill(silence, within(from), within(to))
    yield slice
  }
}
