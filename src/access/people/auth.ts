import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { BetterAuthOptions } from 'better-auth/types'
import type { Store } from '../../db/store.ts'
import { authDatabase } from './auth-database.ts'
import { addressHeader } from './client.ts'
import { passwordCharsMax, passwordCharsMin } from './credentials.ts'
import { sessionRenewedAfterMs } from './open-sessions.ts'
import { providerPlugin } from './provider-plugin.ts'

/** Never resolved: better-auth only gets calls from this process. */
const inside = 'http://callbook.invalid'
const sessionSeconds = 14 * 86_400
/** However often the session is used. */
const sessionMsMax = 90 * 86_400_000

const sessionHooks: NonNullable<BetterAuthOptions['databaseHooks']>['session'] = {
  create: {
    // better-auth stores only the network of an IPv6 address; people want to see the whole address.
    before: async (session, context) => {
      // A new session takes the place of the provider's, and its end, where the second factor changes.
      const endMs = session.endsAt instanceof Date ? session.endsAt.getTime() : Number.POSITIVE_INFINITY
      const expiresAt = new Date(Math.min(session.expiresAt.getTime(), endMs))
      return {
        data: { ...session, expiresAt, ipAddress: context?.headers?.get(addressHeader) ?? null },
      }
    },
  },
  update: {
    before: async (changes, context) => {
      const session = context?.context.session?.session
      if (!session || !changes.expiresAt) return
      const endsAt = session.endsAt?.getTime() ?? session.createdAt.getTime() + sessionMsMax
      return {
        data: { ...changes, expiresAt: new Date(Math.min(changes.expiresAt.getTime(), endsAt)) },
      }
    },
  },
}

interface AuthOptions {
  store: Store
  secret: string
  /** PUBLIC_URL; null when it is not configured. */
  publicUrl: string | null
  /** Receives the errors that better-auth logs. */
  onFailure: (error: unknown) => void
}

export type Auth = ReturnType<typeof createAuth>

/** better-auth over our tables: passwords, sessions and their cookies. Its own routes are not served. */
export function createAuth({ store, secret, publicUrl, onFailure }: AuthOptions) {
  const url = publicUrl === null ? null : new URL(publicUrl)
  return betterAuth({
    appName: 'Callbook',
    baseURL: inside,
    basePath: '/auth',
    // Not `secret`: the library prefers one from the environment over that option.
    secrets: [{ version: 1, value: secret }],
    database: authDatabase(store),
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message, ...details) => onFailure(details.find(isError) ?? new Error(message)),
    },
    onAPIError: { throw: true },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordCharsMin,
      maxPasswordLength: passwordCharsMax,
    },
    plugins: [twoFactor(), providerPlugin],
    session: {
      expiresIn: sessionSeconds,
      updateAge: sessionRenewedAfterMs / 1_000,
      additionalFields: { endsAt: { type: 'date', required: false, input: false } },
    },
    // It only counts requests to its own routes: see sign-in-limits.ts.
    rateLimit: { enabled: false },
    databaseHooks: { session: sessionHooks },
    advanced: {
      cookiePrefix: 'callbook',
      useSecureCookies: url?.protocol === 'https:',
      defaultCookieAttributes: {
        httpOnly: true,
        sameSite: 'lax',
        path: `${url?.pathname.replace(/\/+$/, '') ?? ''}/console`,
      },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // The console's guard has already checked the origin.
      disableCSRFCheck: true,
      disableOriginCheck: true,
    },
  })
}

function isError(value: unknown): value is Error {
  return value instanceof Error
}
