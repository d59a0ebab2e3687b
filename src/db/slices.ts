/** A row, and how many characters it holds. */
export type SizedRow = readonly [seq: number, chars: number]

/**
 * Cuts a list of rows into slices of at most `sliceCharsMax`, or of one row that is longer, so that each read is small.
 */
export function* inSlices(rows: Iterable<SizedRow>, sliceCharsMax: number): Generator<number[]> {
  let seqs: number[] = []
  let sliceChars = 0
  for (const [seq, chars] of rows) {
    if (seqs.length > 0 && sliceChars + chars > sliceCharsMax) {
      yield seqs
      seqs = []
      sliceChars = 0
    }
    seqs.push(seq)
    sliceChars += chars
  }
  if (seqs.length > 0) yield seqs
}
