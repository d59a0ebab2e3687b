/**
 * The distinct features of one text with their weights. Counts are sublinear: the n-th occurrence of a feature
 * adds 1/n of its weight, which sums up to about 1 + log n.
 */
export class FeatureTable {
  private hashes = new Int32Array(0)
  private counts = new Uint16Array(0)
  private totals = new Float64Array(0)
  private readonly used: number[] = []

  /** Makes room for a text of this many characters, each of which begins five features at most. */
  clear(textChars: number): void {
    const slotsMin = 1 << Math.ceil(Math.log2(textChars * 8 + 256))
    if (this.counts.length < slotsMin) {
      this.hashes = new Int32Array(slotsMin)
      this.counts = new Uint16Array(slotsMin)
      this.totals = new Float64Array(slotsMin)
    } else for (const slot of this.used) this.counts[slot] = 0
    this.used.length = 0
  }

  add(hash: number, weight: number): void {
    const mask = this.counts.length - 1
    let slot = finalMix(hash) & mask
    while (this.counts[slot] !== 0 && this.hashes[slot] !== hash) slot = (slot + 1) & mask
    const count = (this.counts[slot] ?? 0) + 1
    if (count === 1) {
      this.hashes[slot] = hash
      this.totals[slot] = 0
      this.used.push(slot)
    }
    this.counts[slot] = count
    this.totals[slot] = (this.totals[slot] ?? 0) + weight / count
  }

  /**
   * Signed feature hashing (Weinberger et al. 2009, https://arxiv.org/abs/0902.2206) with two places a feature,
   * scaled to unit length. A text without features is a vector like any other, so that nothing divides by zero.
   */
  toVector(dimensions: number): Float32Array {
    const sums = new Float64Array(dimensions)
    for (const slot of this.used) {
      const total = this.totals[slot] ?? 0
      const first = finalMix(this.hashes[slot] ?? 0)
      const second = finalMix(first ^ 0x7feb352d)
      addSigned(sums, first, total)
      addSigned(sums, second, total)
    }
    let squares = 0
    for (const sum of sums) squares += sum * sum
    const vector = new Float32Array(dimensions)
    if (squares === 0) vector[0] = 1
    else
      for (let index = 0; index < dimensions; index++) vector[index] = (sums[index] ?? 0) / Math.sqrt(squares)
    return vector
  }
}

function addSigned(sums: Float64Array, hash: number, value: number): void {
  const index = (hash >>> 1) % sums.length
  sums[index] = (sums[index] ?? 0) + ((hash & 1) === 0 ? value : -value)
}

/** The finaliser of MurmurHash3. */
function finalMix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
