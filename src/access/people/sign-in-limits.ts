import { eq, lt, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { signInLimits } from '../../db/schema.ts'
import { AppError } from '../../errors.ts'
import { hashToken } from './token.ts'

/** Allows `attemptsMax` in `windowMs`. */
interface LimitRule {
  windowMs: number
  attemptsMax: number
}

/** Limits attempts from one network, at any account. */
const perAddress: LimitRule = { windowMs: 60_000, attemptsMax: 5 }

/** For one account, from anywhere, so that many networks guess no faster than one. A sign-in resets it. */
const perEmail: LimitRule = { windowMs: 900_000, attemptsMax: 10 }

/** Codes of a second factor, from one network. better-auth also limits them for each person. */
const perCodeAddress: LimitRule = { windowMs: 60_000, attemptsMax: 5 }

/** One code of an app: longer than any is good for, as https://www.rfc-editor.org/rfc/rfc6238#section-5.2 asks. */
const perAppCode: LimitRule = { windowMs: 120_000, attemptsMax: 1 }

/** Sign-ins at a provider, two for each, from one network: they make this service ask the provider. */
const perProviderAddress: LimitRule = { windowMs: 60_000, attemptsMax: 60 }

/** Limits attempts of a signed-in person at their own password. */
const perOwnPassword: LimitRule = { windowMs: 900_000, attemptsMax: 10 }

/** For one link: the answers of its form reveal whether an email address is in use. */
const perLink: LimitRule = { windowMs: 3_600_000, attemptsMax: 10 }

/** At least as long as every window. */
const keptMs = 3_600_000

interface SignInLimitsParts {
  /** Groups addresses that one client may hold: an IPv6 client can use any address of its network. */
  networkOf: (address: string | null) => string
}

interface Attempt {
  key: string
  rule: LimitRule
}

/**
 * Counts attempts in the database, so that processes share the counts and a restart keeps them. An attempt over a
 * limit is refused before anything is written. Each `count` method throws rate_limited.
 */
export class SignInLimits {
  readonly #parts: Core & SignInLimitsParts

  constructor(core: Core, parts: SignInLimitsParts) {
    this.#parts = { ...core, ...parts }
  }

  async countSignIn(email: string, address: string | null): Promise<void> {
    await this.#count([
      { key: `address:${this.#parts.networkOf(address)}`, rule: perAddress },
      { key: keyOfEmail(email), rule: perEmail },
    ])
  }

  async countCode(address: string | null): Promise<void> {
    await this.#count([{ key: `code:${this.#parts.networkOf(address)}`, rule: perCodeAddress }])
  }

  /** Whoever has seen a code of the app being entered cannot enter it again. */
  async countAppCode(personId: string, code: string): Promise<void> {
    await this.#count([{ key: `app-code:${hashToken(`${personId} ${code}`)}`, rule: perAppCode }])
  }

  async countProvider(address: string | null): Promise<void> {
    await this.#count([{ key: `provider:${this.#parts.networkOf(address)}`, rule: perProviderAddress }])
  }

  async countOwnPassword(personId: string): Promise<void> {
    await this.#count([{ key: `password:${personId}`, rule: perOwnPassword }])
  }

  async countLink(tokenHash: string): Promise<void> {
    await this.#count([{ key: `link:${tokenHash}`, rule: perLink }])
  }

  /** The statement that resets the attempts for an email address. */
  resetting(email: string) {
    return this.#parts.write.delete(signInLimits).where(eq(signInLimits.key, keyOfEmail(email)))
  }

  /** In one statement, so that attempts at the same time, even in several processes, are all counted. */
  async #count(attempts: Attempt[]): Promise<void> {
    const { read, write, now: readClock } = this.#parts
    const now = readClock()
    // The attempts with this one, and when their window began. A window may begin in the future: the clock was set back.
    const attemptCounts = sql`(
      select value ->> 'key' as key, value ->> 'attemptsMax' as most, value ->> 'windowMs' as windowMs,
        coalesce(known.count, 0) + 1 as count, coalesce(known.last_request, ${now}) as began
      from json_each(${JSON.stringify(attempts.map(({ key, rule }) => ({ key, ...rule })))})
      left join ${signInLimits} as known on known.key = value ->> 'key'
        and abs(${now} - known.last_request) < value ->> 'windowMs')`
    const refuseFull = async () => {
      const full = await read.all<{ endsAt: number }>(
        sql`select began + windowMs as endsAt from ${attemptCounts} where count > most order by endsAt desc`,
      )
      if (full[0]) throw tooManyAttempts(full[0].endsAt - now)
    }
    // Most of those over a limit are refused here, so that a flood of them takes none of the writer's time.
    await refuseFull()
    const { attempt } = await write.batch({
      old: write.delete(signInLimits).where(lt(signInLimits.lastRequest, now - keptMs)),
      attempt: sql`
        insert into ${signInLimits} (id, key, count, last_request)
        select key, key, count, began from ${attemptCounts} where not exists (select 1 from ${attemptCounts} where count > most)
        on conflict (key) do update set count = excluded.count, last_request = excluded.last_request`,
    })
    if (attempt.rowsAffected > 0) return
    await refuseFull()
    throw tooManyAttempts(0)
  }
}

function tooManyAttempts(waitMs: number): AppError {
  return new AppError('rate_limited', 'Too many requests', {
    detail: 'Too many attempts. Wait a moment, then try again.',
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
}

/** Hashed, since people may type anything into the field, even a password. */
function keyOfEmail(email: string): string {
  return `email:${hashToken(email)}`
}
