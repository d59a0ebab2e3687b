const waitMsMax = 86_400_000

/** Milliseconds by `Retry-After`, seconds or an HTTP date (RFC 9110, section 10.2.3), at most a day. */
export function retryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  if (header === null || header === undefined) return undefined
  return boundedWaitMs(
    /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs,
  )
}

/** How long to wait, at most a day; undefined if this is no number. */
export function boundedWaitMs(ms: number): number | undefined {
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), waitMsMax) : undefined
}
