/** The media types of recordings, by how their files begin. */
const beginnings: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['audio/wav', /^(RIFF|RF64)....WAVE/s],
  ['audio/ogg', /^OggS/],
  ['audio/flac', /^fLaC/],
  ['audio/mp4', /^....ftyp/s],
  ['audio/webm', /^\x1a\x45\xdf\xa3/],
  ['audio/mpeg', /^ID3/],
  // A frame of MPEG-1, 2 or 2.5, layer III.
  ['audio/mpeg', /^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/],
]

/** How many bytes `mediaTypeOf` looks at. */
export const beginningBytes = 12
export const mediaTypes: readonly string[] = [...new Set(beginnings.map(([type]) => type))]

/** The media type of a recording that begins like this; null if it is none of those that are kept. */
export function mediaTypeOf(start: Uint8Array): string | null {
  const text = Buffer.from(start.subarray(0, beginningBytes)).toString('latin1')
  return beginnings.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

const extensions: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/webm': 'webm',
  'audio/mpeg': 'mp3',
}

/** The usual end of the name of such a file. */
export function extensionOf(mediaType: string): string {
  return extensions[mediaType] ?? 'bin'
}
