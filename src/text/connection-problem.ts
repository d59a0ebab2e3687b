const charsMax = 200
const sentences: Record<string, string> = {
  EAI_AGAIN: 'Name server does not answer',
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset',
  EHOSTUNREACH: 'Host unreachable',
  ENOTFOUND: 'Host not found',
  ETIMEDOUT: 'Connection timed out',
}

/** Why a connection failed, as a sentence without a full stop. */
export function connectionProblem(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  const sentence = sentences[code]
  if (sentence) return `${sentence} (${code})`
  const text = code === 'EREFUSEDADDRESS' || !code ? error.message : `${code}: ${error.message}`
  return text.slice(0, charsMax)
}

/** A code such as `ECONNREFUSED`, wherever the runtime keeps it; null if there is none. */
export function networkCode(error: unknown): string | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Za-z_]{1,60}$/.test(at.code)) return at.code
  }
  return null
}
