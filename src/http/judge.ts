import { Elysia } from 'elysia'
import { AppError } from '../errors.ts'
import type { FactsByRequest } from './facts.ts'
import { isUnder } from './protocol.ts'

interface FreshnessOptions {
  facts: FactsByRequest
  /** Why what is here is too old to be served, in a sentence; null when it is not. */
  staleBecause: () => string | null
}

const dataPaths = ['/v1', '/ingest', '/integrations', '/mcp', '/console/api']

/** Refuses requests for data that a replica has not been able to bring up to date for too long. */
export function freshness({ facts, staleBecause }: FreshnessOptions) {
  return new Elysia({ name: 'freshness' }).onRequest(({ request }) => {
    const reason = staleBecause()
    if (reason === null) return
    const { path } = facts.of(request)
    if (!dataPaths.some((prefix) => isUnder(path, prefix))) return
    throw new AppError('unavailable', 'Service unavailable', { detail: reason, retryAfterSeconds: 5 })
  })
}
