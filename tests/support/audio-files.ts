/** An atom of an MP4 file. */
export function atom(name: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([big(body.length + 8), Buffer.from(name, 'latin1'), body])
}

/** Numbers of 32 bits, as MP4 has them. */
export function big(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length)
  for (const [at, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * at)
  return bytes
}

/** A number of 32 bits, as WAV and Ogg have it. */
export function little(number: number): Buffer {
  return big(number).reverse()
}

export const mp4Start = atom('ftyp', Buffer.from('M4A \0\0\0\0'))

/** The description of one track with two channels, in units of 1/8000 s. */
export function movie({ units = 0, tables = [] }: { units?: number; tables?: Buffer[] } = {}): Buffer {
  const entry = Buffer.alloc(28)
  entry.writeUInt16BE(2, 16)
  const kind = Buffer.concat([big(0, 0), Buffer.from('soun'), big(0, 0, 0), Buffer.alloc(1)])
  const description = atom('stsd', big(0, 1), atom('mp4a', entry))
  const media = atom(
    'mdia',
    atom('mdhd', big(0, 0, 0, 8_000, units, 0)),
    atom('hdlr', kind),
    atom('minf', atom('smhd', big(0, 0)), atom('stbl', description, ...tables)),
  )
  return atom(
    'moov',
    atom('mvhd', Buffer.alloc(100)),
    atom('trak', atom('tkhd', big(0, 0, 0, 1), Buffer.alloc(68)), media),
  )
}

/** Seven atoms with samples of 181 units, each with its length and size. */
export function fragment(samples: number, bytes: number): Buffer {
  const entries = Array.from({ length: samples }, () => big(181, bytes / samples))
  const run = atom('trun', big(0x301, samples, 0), ...entries)
  const track = atom('traf', atom('tfhd', big(0x020000, 1)), atom('tfdt', big(0, 0)), run)
  return Buffer.concat([atom('moof', atom('mfhd', big(0, 1)), track), atom('mdat', Buffer.alloc(bytes))])
}

/** A page of an Ogg file, with one packet. */
export function oggPage(number: number, position: number, packet: Uint8Array): Buffer {
  const header = Buffer.alloc(28)
  header.write('OggS')
  header[5] = number === 0 ? 2 : 0
  header.writeBigInt64LE(BigInt(position), 6)
  header.writeUInt32LE(7, 14)
  header.writeUInt32LE(number, 18)
  header[26] = 1
  header[27] = packet.length
  return Buffer.concat([header, packet])
}

/** The first packet of Opus, with two channels. */
export function opusHead(): Buffer {
  const head = Buffer.alloc(19)
  head.write('OpusHead\x01\x02')
  head.writeUInt16LE(312, 10)
  return head
}
