/** What every answer bears, unless it is a page with policies of its own. */
const everyAnswer: Record<string, string> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
}

/**
 * The headers of a JSON answer, to be copied and never changed: a Response copies them at once, which is
 * a third of what setting them one by one costs.
 */
export const jsonHeaders = new Headers({ 'Content-Type': 'application/json', ...everyAnswer })

/** Sets what is missing. What a page has set itself stays. */
export function completeHeaders(headers: Headers): void {
  if (headers.has('X-Content-Type-Options')) return
  for (const name in everyAnswer) {
    if (!headers.has(name)) headers.set(name, everyAnswer[name] ?? '')
  }
}
