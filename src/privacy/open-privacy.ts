import type { Core } from '../core/core.ts'
import { ErasureRequests, type ErasureRequestsParts } from './erasure-requests.ts'
import { ErasureReceipts } from './receipts.ts'

/** What erases calls by a person, a number or a time, and tells whether they are gone. */
export function openPrivacy(core: Core, parts: ErasureRequestsParts) {
  return {
    erasureRequests: new ErasureRequests(core, parts),
    erasureReceipts: new ErasureReceipts(core),
  }
}
