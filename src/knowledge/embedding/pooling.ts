import { RequestFailure } from './failures.ts'
import type { Pooling } from './models.ts'

const dimensionsMax = 8_192
const notFinite = { detail: 'an entry is not a finite number' }

interface ExpectedVectors {
  count: number
  pooling: Pooling
  /** Null if any length will do that all vectors share. */
  dimensions: number | null
}

/** Checks everything about an answer and brings each vector to unit length. */
export function readVectors(
  answer: unknown,
  { count, pooling, dimensions }: ExpectedVectors,
): Float32Array[] {
  if (!Array.isArray(answer)) throw new RequestFailure('malformed')
  // Some servers answer a single text with its bare vector.
  const rows: unknown[] = count === 1 && typeof answer[0] === 'number' ? [answer] : answer
  if (rows.length !== count)
    throw new RequestFailure('malformed', { detail: `${rows.length} for ${count} texts` })
  if (pooling === 'mean' && mayBePadded(rows)) throw new RequestFailure('padded')
  const vectors = rows.map((row) => unitVector(pool(row, pooling)))
  const expected = dimensions ?? vectors[0]?.length ?? 0
  for (const { length } of vectors) {
    const fits = length === expected && length > 0 && length <= dimensionsMax
    if (!fits) throw new RequestFailure('dimension', { detail: `${length} instead of ${expected}` })
  }
  return vectors
}

/**
 * Some servers pad the texts of a batch to the longest, and the mean would include the padding. So if all texts have
 * equally many token vectors, each is sent again alone.
 */
function mayBePadded(rows: unknown[]): boolean {
  const counts = rows.map((row) => (Array.isArray(row) && Array.isArray(row[0]) ? row.length : 0))
  return rows.length > 1 && counts[0] !== 0 && new Set(counts).size === 1
}

function pool(row: unknown, pooling: Pooling): number[] {
  if (!Array.isArray(row) || row.length === 0) throw new RequestFailure('malformed')
  if (!Array.isArray(row[0])) return numbers(row)
  const tokens = row.map(numbers)
  const [first = []] = tokens
  if (pooling === 'cls') return first
  const sums = new Array<number>(first.length).fill(0)
  for (const token of tokens) {
    if (token.length !== first.length) throw new RequestFailure('malformed')
    for (const [index, value] of token.entries()) sums[index] = (sums[index] ?? 0) + value
  }
  return sums
}

function numbers(row: unknown): number[] {
  if (!Array.isArray(row)) throw new RequestFailure('malformed')
  if (!row.every((entry) => Number.isFinite(entry))) throw new RequestFailure('malformed', notFinite)
  return row
}

function unitVector(values: number[]): Float32Array {
  const norm = Math.sqrt(values.reduce((squares, value) => squares + value * value, 0))
  if (!Number.isFinite(norm)) throw new RequestFailure('malformed', notFinite)
  if (norm < 1e-12) throw new RequestFailure('malformed', { detail: 'a vector of zeros' })
  return Float32Array.from(values, (value) => value / norm)
}
