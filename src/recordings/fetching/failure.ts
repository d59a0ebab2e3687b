const minuteMs = 60_000
const hourMs = 60 * minuteMs
const firstDelayMs = 15_000

/** For how long a failure is tried again, counted from when the recording was first asked for. */
const patience = {
  none: { forMs: 0, delayMsMax: 0, words: '' },
  hour: { forMs: hourMs, delayMsMax: 15 * minuteMs, words: ' Tried for an hour.' },
  day: { forMs: 24 * hourMs, delayMsMax: hourMs, words: ' Tried for a day.' },
}
type Patience = keyof typeof patience

/** Why a recording was not fetched. The message is a sentence for people and quotes no address. */
export class FetchFailure extends Error {
  readonly patience: Patience
  /** How long the other side wants to be left alone. */
  readonly waitMs: number
  /** The status of the answer; null without one. */
  readonly status: number | null

  constructor(patience: Patience, message: string, waitMs = 0, status: number | null = null) {
    super(message)
    this.patience = patience
    this.waitMs = waitMs
    this.status = status
  }

  /** What a person reads after the last attempt. */
  get reason(): string {
    return this.message + patience[this.patience].words
  }
}

/** When to try again, in milliseconds since 1970; null after the last attempt. */
export function nextAttempt(
  { patience: kind, waitMs }: FetchFailure,
  { since, attempts, now }: { since: number; attempts: number; now: number },
): number | null {
  const { forMs, delayMsMax } = patience[kind]
  const deadline = since + forMs
  if (now >= deadline) return null
  const delayMs = Math.max(Math.min(firstDelayMs * 2 ** attempts, delayMsMax), waitMs)
  return Math.min(now + delayMs, deadline)
}

/**
 * The failure that a status tells. Platforms store recordings late, so that a fresh one is 403 or 404 for a while.
 * @param who answered
 */
export function failureOf(
  status: number,
  { who, hasKey, waitMs }: { who: string; hasKey: boolean; waitMs: number },
): FetchFailure {
  const fail = (patience: Patience, message: string) => new FetchFailure(patience, message, waitMs, status)
  if (status === 401)
    return fail(
      'none',
      hasKey ? `${who} refuses the API key (401).` : `${who} wants a key for this recording (401).`,
    )
  if (status === 403) return fail('hour', `${who} denies access to the recording (403).`)
  if (status === 404) return fail('hour', `${who} has no such recording (404).`)
  if (status === 429) return fail('day', `${who} gets too many requests (429).`)
  if (status >= 500) return fail('day', `${who} has an error of its own (${status}).`)
  return fail('none', `${who} answers with status ${status}.`)
}
