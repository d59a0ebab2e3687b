import { eq } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { people, twoFactors, verifications } from '../../db/schema.ts'
import { AppError, forbidden, invalidRequest, signInRequired } from '../../errors.ts'
import { byPerson, personLabel, type SignedIn } from '../../identity.ts'
import type { Auth } from './auth.ts'
import { type Client, headersOf } from './client.ts'
import type { Person } from './credentials.ts'
import type { PasswordAndCode } from './schemas.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import { isTwoFactorRequired } from './two-factor-rule.ts'

const lockedSeconds = 900

/** What turns the second factor off, or renews its backup codes: the password, and a code as at sign-in. */
type Proof = typeof PasswordAndCode.static

/** What an authenticator app needs, shown this once, and the codes that work without it. */
export interface TwoFactorSetUp {
  secret: string
  /** The QR code: squares of one unit, as the path of an SVG of `size` by `size`. */
  qr: { size: number; path: string }
  backupCodes: string[]
}

interface TwoFactorParts {
  auth: () => Promise<Auth>
  limits: Pick<SignInLimits, 'countOwnPassword' | 'countAppCode'>
}

/** A second factor at sign-in: codes of an authenticator app, and backup codes. better-auth keeps and encrypts them. */
export class TwoFactor {
  readonly #parts: Core & TwoFactorParts

  constructor(core: Core, parts: TwoFactorParts) {
    this.#parts = { ...core, ...parts }
  }

  async state({ personId }: SignedIn): Promise<{ isOn: boolean; isRequired: boolean }> {
    const { read } = this.#parts
    return { isOn: await hasTwoFactor(read, personId), isRequired: await isTwoFactorRequired(read) }
  }

  /** Nothing changes at sign-in until `turnOn` is given a code. @throws invalid_request for a wrong password */
  async setUp(person: SignedIn, password: string, client: Client): Promise<TwoFactorSetUp> {
    const { limits, auth } = this.#parts
    await limits.countOwnPassword(person.personId)
    const { api } = await auth()
    const enrolment = await api
      .enableTwoFactor({ body: { password, method: 'totp' }, headers: headersOf(client) })
      .catch(refusePassword)
    if (enrolment.method !== 'totp') throw new Error('A secret for an authenticator app was asked for')
    const secret = new URL(enrolment.totpURI).searchParams.get('secret') ?? ''
    return { secret, qr: await drawQrCode(enrolment.totpURI), backupCodes: enrolment.backupCodes }
  }

  /** Begins a new session in place of this one. @throws invalid_request for a wrong code */
  async turnOn(person: SignedIn, code: string, client: Client): Promise<{ isOn: true }> {
    const { limits, read, auth } = this.#parts
    await limits.countOwnPassword(person.personId)
    if (await hasTwoFactor(read, person.personId)) throw tooLate('code')
    const { api } = await auth()
    const { headers } = await api
      .verifyTOTP({ body: { code: withoutSpaces(code) }, headers: headersOf(client), returnHeaders: true })
      .catch((error) => {
        throw codeRefusal(error, wrongCode)
      })
    await this.#record(person, client, 'two_factor_enabled')
    client.keepCookies(headers)
    return { isOn: true }
  }

  /** Makes new backup codes; the old ones end. @throws invalid_request for a wrong password or code */
  async renewBackupCodes(person: SignedIn, proof: Proof, client: Client): Promise<{ backupCodes: string[] }> {
    const { backupCodes } = await this.#withProof(person, proof, client, (api, request) =>
      api.generateBackupCodes(request),
    )
    await this.#record(person, client, 'backup_codes_renewed')
    return { backupCodes }
  }

  /**
   * Begins a new session in place of this one.
   * @throws forbidden where everybody needs a second factor; invalid_request for a wrong password or code
   */
  async turnOff(person: SignedIn, proof: Proof, client: Client): Promise<{ isOn: false }> {
    if (await isTwoFactorRequired(this.#parts.read))
      throw forbidden('The owner of this console requires two-factor sign-in.')
    const { headers } = await this.#withProof(person, proof, client, (api, request) =>
      api.disableTwoFactor({ ...request, returnHeaders: true }),
    )
    await this.#record(person, client, 'two_factor_disabled')
    client.keepCookies(headers)
    return { isOn: false }
  }

  /** For somebody who has lost their app and their backup codes: their password is enough again. */
  async reset(person: Person): Promise<{ email: string; isOn: false }> {
    const { write, audit } = this.#parts
    // With the person's id, it appears in the trails of their projects.
    const by = { kind: 'commandLine', personId: person.id } as const
    await write.batch({
      deleted: write.delete(twoFactors).where(eq(twoFactors.userId, person.id)),
      entry: audit.entry({
        by,
        projectId: null,
        action: 'two_factor_reset',
        target: personLabel(person),
        targetRef: person.id,
      }),
      person: write.update(people).set({ twoFactorEnabled: false }).where(eq(people.id, person.id)),
      signIns: write.delete(verifications).where(eq(verifications.value, person.id)),
    })
    return { email: person.email, isOn: false }
  }

  /** An open session and the password alone cannot do without the second factor. */
  async #withProof<Result>(
    { personId }: SignedIn,
    { password, code }: Proof,
    client: Client,
    act: (api: Auth['api'], request: { body: { password: string }; headers: Headers }) => Promise<Result>,
  ): Promise<Result> {
    const { limits, read, auth } = this.#parts
    await limits.countOwnPassword(personId)
    if (!(await hasTwoFactor(read, personId))) throw tooLate('password')
    const { api } = await auth()
    const request = { body: { password }, headers: headersOf(client) }
    await api.verifyPassword(request).catch(refusePassword)
    // Last, since it uses up the code.
    await verifyCode({ api, limits }, { personId, code, headers: request.headers }).catch((error) => {
      throw codeRefusal(error, wrongCode)
    })
    return await act(api, request).catch(refusePassword)
  }

  async #record(
    person: SignedIn,
    client: Client,
    action: 'two_factor_enabled' | 'two_factor_disabled' | 'backup_codes_renewed',
  ): Promise<void> {
    const by = byPerson(person, client.address)
    await this.#parts.audit.record({ by, projectId: null, action, target: null })
  }
}

export async function hasTwoFactor(read: ReadDatabase, personId: string): Promise<boolean> {
  const [row] = await read
    .select({ isOn: people.twoFactorEnabled })
    .from(people)
    .where(eq(people.id, personId))
  return row?.isOn ?? false
}

/** Checks a code of the person's app, or a backup code. Each is taken once. */
export async function verifyCode(
  { api, limits }: Pick<Auth, 'api'> & { limits: Pick<SignInLimits, 'countAppCode'> },
  { personId, code, headers }: { personId: string; code: string; headers: Headers },
) {
  const body = { code: withoutSpaces(code) }
  const request = { body, headers, returnHeaders: true } as const
  if (!/^\d{6}$/.test(body.code)) return await api.verifyBackupCode(request)
  await limits.countAppCode(personId, body.code).catch((error) => {
    throw error instanceof AppError ? wrongCode() : error
  })
  return await api.verifyTOTP(request)
}

/** Rethrows better-auth's refusal of a password as the answer to it. */
function refusePassword(error: unknown): never {
  const code = codeOf(error)
  if (code === 'INVALID_PASSWORD') throw invalidRequest([{ field: 'password', message: 'is wrong' }])
  throw code === 'TOTP_ALREADY_ENABLED' || code === 'TWO_FACTOR_NOT_ENABLED' ? tooLate('password') : error
}

function tooLate(field: string): AppError {
  return invalidRequest([{ field, message: 'is no longer needed. Reload the page' }])
}

/** The answer to a code that better-auth refuses. @param other the answer for a reason without one of its own */
export function codeRefusal(error: unknown, other: () => AppError): unknown {
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
      return other()
  }
}

function wrongCode(): AppError {
  return invalidRequest([{ field: 'code', message: 'is wrong or was already used' }])
}

/** The time for the code is over, or there were too many wrong ones. */
export function challengeOver(): AppError {
  return signInRequired(
    'The code has expired, or too many wrong codes were entered. Sign in with your password again.',
  )
}

/** People copy codes as apps show them, in groups. */
function withoutSpaces(code: string): string {
  return code.replace(/\s/g, '')
}

/** The code of better-auth's error; undefined for any other. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'APIError' || !('body' in error)) return undefined
  const { body } = error
  if (typeof body !== 'object' || body === null || !('code' in body)) return 'UNKNOWN'
  return String(body.code)
}

/** Loads the library only when it is used. */
async function drawQrCode(text: string): Promise<TwoFactorSetUp['qr']> {
  const { encode } = await import('uqr')
  const { size, data } = encode(text, { ecc: 'M', border: 4 })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return { size, path: path.join('') }
}
