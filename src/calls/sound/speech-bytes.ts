import type { Span, Speech, Unmeasurable } from './figures.ts'

const numberBytes = 4
const perSecond = 100
/** Their places are stored: new ones come last. */
const reasons: readonly Unmeasurable[] = [
  'mono',
  'channels',
  'mixed',
  'noisy',
  'format',
  'damaged',
  'short',
  'long',
]

/**
 * As 32-bit numbers, little-endian: 0, or else which of the reasons there is; the number of the first channel's spans;
 * each span's beginning and end in hundredths of a second, those of the second channel last.
 */
export function toSpeechBytes(speech: Speech): Buffer {
  const numbers =
    typeof speech === 'string'
      ? [1 + reasons.indexOf(speech)]
      : [0, speech[0].length, ...speech.flat(2).map((seconds) => Math.round(seconds * perSecond))]
  const bytes = Buffer.alloc(numbers.length * numberBytes)
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, at * numberBytes)
  return bytes
}

/** Reads what `toSpeechBytes` returns. */
export function readSpeechBytes(bytes: Buffer): Speech {
  const numberAt = (at: number) => bytes.readUInt32LE(at * numberBytes)
  const reason = reasons[numberAt(0) - 1]
  if (reason) return reason
  const spans = Array.from({ length: bytes.length / numberBytes / 2 - 1 }, (_, at): Span => {
    return [numberAt(2 + 2 * at) / perSecond, numberAt(3 + 2 * at) / perSecond]
  })
  return [spans.slice(0, numberAt(1)), spans.slice(numberAt(1))]
}
