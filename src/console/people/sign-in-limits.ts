import { createHash } from 'node:crypto'
import { eq, lt, sql } from 'drizzle-orm'
import { signInLimits } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/writer.ts'
import { AppError } from '../../errors.ts'

/** At most `max` attempts in `window` seconds, in the form of better-auth's rules. */
export interface LimitRule {
  window: number
  max: number
}

/** From one address, whomever it tries to be. */
export const attemptsOfAddress: LimitRule = { window: 60, max: 5 }

/** For one e-mail address, from wherever; a success forgets them. Many addresses guess no faster than one. */
const attemptsForEmail: LimitRule = { window: 900, max: 10 }

/** Of somebody signed in, at the password that signs them in. */
const attemptsAtOwnPassword: LimitRule = { window: 900, max: 10 }

const keptMs = 3_600_000

interface SignInLimitsOptions {
  write: WriteDatabase
  now: () => number
}

/**
 * Counts attempts in the database, so that all processes count together and a restart forgets nothing. One statement
 * counts and decides: attempts at the same time cannot all pass.
 */
export class SignInLimits {
  readonly #write: WriteDatabase
  readonly #now: () => number

  constructor({ write, now }: SignInLimitsOptions) {
    this.#write = write
    this.#now = now
  }

  /** Counts one attempt under a key. better-auth calls this for addresses. `retryAfter` is in seconds. */
  async consume(key: string, rule: LimitRule): Promise<{ allowed: boolean; retryAfter: number | null }> {
    const now = this.#now()
    // Also when it began in the future, by a clock that was set right since; clocks of two nodes differ by less.
    const isOver = sql`abs(${now} - ${signInLimits.lastRequest}) >= ${rule.window * 1_000}`
    const [, [row]] = await this.#write.batch([
      this.#write.delete(signInLimits).where(lt(signInLimits.lastRequest, now - keptMs)),
      this.#write
        .insert(signInLimits)
        .values({ id: key, key, count: 1, lastRequest: now })
        .onConflictDoUpdate({
          target: signInLimits.key,
          set: {
            count: sql`case when ${isOver} then 1 else ${signInLimits.count} + 1 end`,
            lastRequest: sql`case when ${isOver} then ${now} else ${signInLimits.lastRequest} end`,
          },
        })
        .returning({ count: signInLimits.count, since: signInLimits.lastRequest }),
    ])
    if (!row || row.count <= rule.max) return { allowed: true, retryAfter: null }
    return { allowed: false, retryAfter: Math.max(1, Math.ceil((row.since - now) / 1_000 + rule.window)) }
  }

  /** @throws rate_limited */
  async countForEmail(email: string): Promise<void> {
    const { allowed, retryAfter } = await this.consume(keyOfEmail(email), attemptsForEmail)
    if (!allowed) throw tooManyAttempts(retryAfter)
  }

  /** The statement that forgets the attempts for an e-mail address. */
  forgetting(email: string) {
    return this.#write.delete(signInLimits).where(eq(signInLimits.key, keyOfEmail(email)))
  }

  /** @throws rate_limited */
  async countOwnPassword(personId: string): Promise<void> {
    const { allowed, retryAfter } = await this.consume(`password:${personId}`, attemptsAtOwnPassword)
    if (!allowed) throw tooManyAttempts(retryAfter)
  }
}

export function tooManyAttempts(retryAfterSeconds: number | null): AppError {
  return new AppError('rate_limited', 'Too many requests', {
    detail: 'There were too many attempts; wait a moment and try again.',
    retryAfterSeconds: retryAfterSeconds ?? attemptsOfAddress.window,
  })
}

/** People may type anything into the field, so it is not kept as it is. */
function keyOfEmail(email: string): string {
  return `email:${createHash('sha256').update(email).digest('hex')}`
}
