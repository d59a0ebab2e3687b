/** A row and how many characters reading it brings. */
export type SizedRow = readonly [seq: number, chars: number]

/**
 * Cuts a list of rows into slices of about `sliceCharsMax`, at least one row each, so that what is read at
 * once stays small whatever the rows hold.
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
