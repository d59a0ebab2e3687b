import { eq, inArray, lt, sql } from 'drizzle-orm'
import { KeyedMutex } from '../../db/keyed-mutex.ts'
import { signInLimits } from '../../db/schema.ts'
import { AppError } from '../../errors.ts'
import type { PeopleOptions } from './options.ts'
import { hashToken } from './token.ts'

/** At most `attemptsMax` in `windowMs`. */
interface LimitRule {
  windowMs: number
  attemptsMax: number
}

/** From one network, for any account. */
const perAddress: LimitRule = { windowMs: 60_000, attemptsMax: 5 }

/** For one account, from anywhere, so that many networks guess no faster than one. A sign-in resets it. */
const perEmail: LimitRule = { windowMs: 900_000, attemptsMax: 10 }

/** Codes of a second factor, from one network. better-auth also limits them for each person. */
const perCodeAddress: LimitRule = { windowMs: 60_000, attemptsMax: 5 }

/** One code of an app: longer than any is good for, as https://www.rfc-editor.org/rfc/rfc6238#section-5.2 asks. */
const perAppCode: LimitRule = { windowMs: 120_000, attemptsMax: 1 }

/** By a signed-in person, at their own password. */
const perOwnPassword: LimitRule = { windowMs: 900_000, attemptsMax: 10 }

/** For one link: the answers of its form reveal whether an email address is in use. */
const perLink: LimitRule = { windowMs: 3_600_000, attemptsMax: 10 }

/** At least as long as every window. */
const keptMs = 3_600_000

interface SignInLimitsOptions extends Omit<PeopleOptions, 'audit'> {
  /** Groups addresses that one client may hold: an IPv6 client can use any address of its network. */
  networkOf: (address: string | null) => string
}

interface Attempt {
  key: string
  rule: LimitRule
}

type Counted = Pick<typeof signInLimits.$inferSelect, 'count' | 'lastRequest'>

/**
 * Counts attempts in the database, so that processes share the counts and a restart keeps them. An attempt over a
 * limit is refused before anything is written. Each `count` method throws rate_limited.
 */
export class SignInLimits {
  readonly #options: SignInLimitsOptions
  readonly #mutex = new KeyedMutex()

  constructor(options: SignInLimitsOptions) {
    this.#options = options
  }

  async countSignIn(email: string, address: string | null): Promise<void> {
    await this.#count([
      { key: `address:${this.#options.networkOf(address)}`, rule: perAddress },
      { key: keyOfEmail(email), rule: perEmail },
    ])
  }

  async countCode(address: string | null): Promise<void> {
    await this.#count([{ key: `code:${this.#options.networkOf(address)}`, rule: perCodeAddress }])
  }

  /** Whoever has seen a code of the app being entered cannot enter it again. */
  async countAppCode(personId: string, code: string): Promise<void> {
    await this.#count([{ key: `app-code:${hashToken(`${personId} ${code}`)}`, rule: perAppCode }])
  }

  async countOwnPassword(personId: string): Promise<void> {
    await this.#count([{ key: `password:${personId}`, rule: perOwnPassword }])
  }

  async countLink(tokenHash: string): Promise<void> {
    await this.#count([{ key: `link:${tokenHash}`, rule: perLink }])
  }

  /** The statement that resets the attempts for an email address. */
  resetting(email: string) {
    return this.#options.write.delete(signInLimits).where(eq(signInLimits.key, keyOfEmail(email)))
  }

  /** One at a time for each key. Another process may still count between the read and the write; the write decides. */
  async #count(attempts: Attempt[]): Promise<void> {
    const keys = attempts.map(({ key }) => key)
    await this.#mutex.run(new Set(keys), async () => {
      const { read, write, now: readClock } = this.#options
      const now = readClock()
      const before = await read.select().from(signInLimits).where(inArray(signInLimits.key, keys))
      for (const { key, rule } of attempts) {
        const row = before.find((one) => one.key === key)
        if (row && !isOver(row, rule, now)) refuseAbove(rule.attemptsMax - 1, row, rule, now)
      }
      const { counted } = await write.batch({
        old: write.delete(signInLimits).where(lt(signInLimits.lastRequest, now - keptMs)),
        counted: attempts.map((attempt) => this.#counting(attempt, now)),
      })
      for (const [position, { rule }] of attempts.entries()) {
        const row = counted[position]?.[0]
        if (row) refuseAbove(rule.attemptsMax, row, rule, now)
      }
    })
  }

  #counting({ key, rule }: Attempt, now: number) {
    const isOver = sql`abs(${now} - ${signInLimits.lastRequest}) >= ${rule.windowMs}`
    return this.#options.write
      .insert(signInLimits)
      .values({ id: key, key, count: 1, lastRequest: now })
      .onConflictDoUpdate({
        target: signInLimits.key,
        set: {
          count: sql`case when ${isOver} then 1 else ${signInLimits.count} + 1 end`,
          lastRequest: sql`case when ${isOver} then ${now} else ${signInLimits.lastRequest} end`,
        },
      })
      .returning()
  }
}

/** Also true when the window began in the future, because the clock has been set back since. */
function isOver({ lastRequest }: Counted, { windowMs }: LimitRule, now: number): boolean {
  return Math.abs(now - lastRequest) >= windowMs
}

function refuseAbove(attemptsMax: number, row: Counted, { windowMs }: LimitRule, now: number): void {
  if (row.count <= attemptsMax) return
  throw new AppError('rate_limited', 'Too many requests', {
    detail: 'Too many attempts. Wait a moment, then try again.',
    retryAfterSeconds: Math.max(1, Math.ceil((row.lastRequest + windowMs - now) / 1_000)),
  })
}

/** Hashed, since people may type anything into the field, even a password. */
function keyOfEmail(email: string): string {
  return `email:${hashToken(email)}`
}
