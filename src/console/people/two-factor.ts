import { eq } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { people, twoFactors, verifications } from '../../db/schema.ts'
import { AppError, invalidRequest } from '../../errors.ts'
import { byPerson, personLabel, type SignedIn } from '../../identity.ts'
import type { Auth } from './auth.ts'
import { type Client, headersOf } from './client.ts'
import type { PeopleOptions } from './options.ts'
import type { Person } from './people.ts'
import type { WithCookies } from './session-answer.ts'
import type { SignInLimits } from './sign-in-limits.ts'

const lockedSeconds = 900
const late = 'is no longer needed. Reload the page'

/** What an authenticator app needs, shown this once, and the codes that work without it. */
export interface TwoFactorSetUp {
  secret: string
  /** The QR code: squares of one unit, as the path of an SVG of `size` by `size`. */
  qr: { size: number; path: string }
  backupCodes: string[]
}

interface TwoFactorOptions extends PeopleOptions {
  auth: () => Promise<Auth>
  limits: Pick<SignInLimits, 'countOwnPassword'>
}

/** A second factor at sign-in: codes of an authenticator app, and backup codes. better-auth keeps and encrypts them. */
export class TwoFactor {
  readonly #options: TwoFactorOptions

  constructor(options: TwoFactorOptions) {
    this.#options = options
  }

  async state({ personId }: SignedIn): Promise<{ isOn: boolean }> {
    return { isOn: await hasTwoFactor(this.#options.read, personId) }
  }

  /** Nothing changes at sign-in until `turnOn` is given a code. @throws invalid_request for a wrong password */
  async setUp(person: SignedIn, password: string, client: Client): Promise<TwoFactorSetUp> {
    const made = await this.#withPassword(person, async ({ api }) =>
      api.enableTwoFactor({ body: { password, method: 'totp' }, headers: headersOf(client) }),
    )
    if (made.method !== 'totp') throw new Error('A secret for an authenticator app was asked for')
    const secret = new URL(made.totpURI).searchParams.get('secret') ?? ''
    return { secret, qr: await drawQrCode(made.totpURI), backupCodes: made.backupCodes }
  }

  /** Begins a new session in place of this one. @throws invalid_request for a wrong code */
  async turnOn(person: SignedIn, code: string, client: Client): Promise<WithCookies<{ isOn: true }>> {
    const { limits, read, auth } = this.#options
    await limits.countOwnPassword(person.personId)
    if (await hasTwoFactor(read, person.personId)) throw invalidRequest([{ field: 'code', message: late }])
    const { api } = await auth()
    const { headers } = await api
      .verifyTOTP({ body: { code: withoutSpaces(code) }, headers: headersOf(client), returnHeaders: true })
      .catch((error) => {
        throw codeRefusal(error)
      })
    await this.#record(person, client, 'two_factor_enabled')
    return { answer: { isOn: true }, cookies: headers.getSetCookie() }
  }

  /** Makes new backup codes; the old ones end. @throws invalid_request for a wrong password */
  async renewBackupCodes(
    person: SignedIn,
    password: string,
    client: Client,
  ): Promise<{ backupCodes: string[] }> {
    const { backupCodes } = await this.#withPassword(person, ({ api }) =>
      api.generateBackupCodes({ body: { password }, headers: headersOf(client) }),
    )
    await this.#record(person, client, 'backup_codes_renewed')
    return { backupCodes }
  }

  /** Begins a new session in place of this one. @throws invalid_request for a wrong password */
  async turnOff(person: SignedIn, password: string, client: Client): Promise<WithCookies<{ isOn: false }>> {
    const { headers } = await this.#withPassword(person, ({ api }) =>
      api.disableTwoFactor({ body: { password }, headers: headersOf(client), returnHeaders: true }),
    )
    await this.#record(person, client, 'two_factor_disabled')
    return { answer: { isOn: false }, cookies: headers.getSetCookie() }
  }

  /** For somebody who has lost their app and their backup codes: their password is enough again. */
  async reset(person: Person): Promise<{ email: string; isOn: false }> {
    const { write, audit } = this.#options
    // The command line has no identity; as the person's own event it appears in their projects' trails.
    const by = { actor: { id: person.id, name: null }, address: null }
    await write.batch([
      write.delete(twoFactors).where(eq(twoFactors.userId, person.id)),
      write.run(
        audit.entry({ by, projectId: null, action: 'two_factor_reset', target: personLabel(person) }),
      ),
      write.update(people).set({ twoFactorEnabled: false }).where(eq(people.id, person.id)),
      write.delete(verifications).where(eq(verifications.value, person.id)),
    ])
    return { email: person.email, isOn: false }
  }

  async #withPassword<Result>(person: SignedIn, ask: (auth: Auth) => Promise<Result>): Promise<Result> {
    const { limits, auth } = this.#options
    await limits.countOwnPassword(person.personId)
    return await ask(await auth()).catch((error: unknown) => {
      if (codeOf(error) === 'INVALID_PASSWORD') {
        throw invalidRequest([{ field: 'password', message: 'is wrong' }])
      }
      const isLate = ['TOTP_ALREADY_ENABLED', 'TWO_FACTOR_NOT_ENABLED'].includes(codeOf(error) ?? '')
      throw isLate ? invalidRequest([{ field: 'password', message: late }]) : error
    })
  }

  async #record(
    person: SignedIn,
    client: Client,
    action: 'two_factor_enabled' | 'two_factor_disabled' | 'backup_codes_renewed',
  ): Promise<void> {
    const by = byPerson(person, client.address)
    await this.#options.audit.record({ by, projectId: null, action, target: null })
  }
}

export async function hasTwoFactor(read: ReadDatabase, personId: string): Promise<boolean> {
  const [row] = await read
    .select({ isOn: people.twoFactorEnabled })
    .from(people)
    .where(eq(people.id, personId))
  return row?.isOn ?? false
}

/** The answer to a code that better-auth refuses. */
export function codeRefusal(error: unknown): unknown {
  switch (codeOf(error)) {
    case 'INVALID_CODE':
    case 'INVALID_BACKUP_CODE':
      return wrongCode()
    case 'ACCOUNT_TEMPORARILY_LOCKED':
      return new AppError('rate_limited', 'Too many requests', {
        detail: 'Too many wrong codes. Wait 15 minutes, then try again.',
        retryAfterSeconds: lockedSeconds,
      })
    case undefined:
      return error
    default:
      return challengeOver()
  }
}

export function wrongCode(): AppError {
  return invalidRequest([{ field: 'code', message: 'is wrong or was already used' }])
}

/** The time for the code is over, or there were too many wrong ones. */
export function challengeOver(): AppError {
  return new AppError('not_signed_in', 'Sign in required', {
    detail: 'The code has expired, or too many wrong codes were entered. Sign in with your password again.',
    headers: { 'WWW-Authenticate': 'Cookie realm="Callbook console"' },
  })
}

/** People copy codes as apps show them, in groups. */
export function withoutSpaces(code: string): string {
  return code.replace(/\s/g, '')
}

/** The code of better-auth's error; undefined for any other. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'APIError' || !('body' in error)) return undefined
  const { body } = error
  if (typeof body !== 'object' || body === null || !('code' in body)) return 'UNKNOWN'
  return String(body.code)
}

/** Loaded only when it is used. */
async function drawQrCode(text: string): Promise<TwoFactorSetUp['qr']> {
  const { encode } = await import('uqr')
  const { size, data } = encode(text, { ecc: 'M', border: 4 })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return { size, path: path.join('') }
}
