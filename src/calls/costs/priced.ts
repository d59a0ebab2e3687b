import type { Price } from '../../db/schema.ts'
import type { StoredCall } from '../call-head.ts'
import { readStored, type StoredDetails, toStored } from '../details.ts'
import type { Call } from '../schemas.ts'
import { costOf } from './prices.ts'

interface Pricing {
  before: Pick<StoredCall, 'call' | 'details'> | null
  call: Pick<Call, 'status' | 'createdAt'>
  /** Null where nothing is to be computed. */
  prices: readonly Price[] | null
  /** Whether what was computed before is computed again. */
  isAgain?: boolean
}
type Cost = Pick<StoredDetails, 'costUsd' | 'costSource' | 'costMissing'>

/**
 * The details with the cost of what a completed call used, unless the platform has said it. It is computed once, and
 * again when the usage changes.
 */
export function priced<Costed extends Pick<StoredCall, 'details' | 'costUsd'>>(
  costed: Costed,
  { before, call, prices, isAgain = false }: Pricing,
): Costed {
  if (call.status !== 'completed' || !costed.details?.includes('"usage":[')) return costed
  const { costMissing, ...details } = readStored(costed.details)
  const { usage, costUsd, costSource } = details
  const costOfDetails = (): Cost => {
    if (costUsd !== null && costSource !== 'computed') return { costUsd, costSource }
    const was = before?.call.status === 'completed' ? readStored(before.details) : null
    const isKnown = was?.costSource !== 'platform' && isSame(was?.usage, usage)
    if (!isAgain && was && isKnown) return was
    // What is imported stays as it was computed elsewhere.
    if (prices === null || (!isAgain && !was && costUsd !== null))
      return { costUsd, costSource, ...(costMissing && { costMissing }) }
    return computed(costOf(usage ?? [], prices, Date.parse(call.createdAt)))
  }
  const cost = costOfDetails()
  const told = { costUsd: cost.costUsd, costSource: cost.costSource }
  const missing = cost.costMissing && { costMissing: cost.costMissing }
  return { ...costed, details: toStored({ ...details, ...told, ...missing }), costUsd: cost.costUsd }
}

function computed(cost: ReturnType<typeof costOf>): Cost {
  if ('missing' in cost) return { costUsd: null, costSource: null, costMissing: cost.missing }
  return { costUsd: cost.costUsd, costSource: 'computed' }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
