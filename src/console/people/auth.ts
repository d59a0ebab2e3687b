import { betterAuth } from 'better-auth/minimal'
import type { Store } from '../../db/store.ts'
import { authDatabase } from './auth-database.ts'
import { passwordCharsMax, passwordCharsMin } from './new-person.ts'

/** Never on the network: nobody can send better-auth a request but this process. */
const inside = 'http://callbook.invalid'
const addressHeader = 'x-callbook-address'
const sessionSeconds = 14 * 86_400
/** However much it is used. */
const sessionMsMax = 90 * 86_400_000
const sessionRenewedAfterSeconds = 600
const userAgentCharsMax = 300

/** What of a request matters to who is signed in. */
export interface Client {
  /** The `Cookie` header. */
  cookies: string | null
  address: string | null
  userAgent: string | null
}

interface AuthOptions {
  store: Store
  secret: string
  /** Where people reach the service; null when that is not configured. */
  publicUrl: string | null
  /** Told of what better-auth has to report of itself. */
  onFailure: (error: unknown) => void
}

export type Auth = ReturnType<typeof createAuth>

/** better-auth over our tables: passwords, sessions and their cookies. Its own routes are served to nobody. */
export function createAuth({ store, secret, publicUrl, onFailure }: AuthOptions) {
  const url = publicUrl === null ? null : new URL(publicUrl)
  return betterAuth({
    appName: 'Callbook',
    baseURL: inside,
    basePath: '/auth',
    // Not `secret`, before which the library would take one from the environment.
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
    session: { expiresIn: sessionSeconds, updateAge: sessionRenewedAfterSeconds },
    // What it would count is a request over the network: see sign-in-limits.ts.
    rateLimit: { enabled: false },
    databaseHooks: {
      session: {
        create: {
          // better-auth notes the network of an IPv6 address, which is right for limits and too little for people.
          before: async (session, context) => ({
            data: { ...session, ipAddress: context?.headers?.get(addressHeader) ?? null },
          }),
        },
        update: {
          before: async (changes, context) => {
            const beganAt = context?.context.session?.session.createdAt
            if (!beganAt || !changes.expiresAt) return
            const endsAt = Math.min(changes.expiresAt.getTime(), beganAt.getTime() + sessionMsMax)
            return { data: { ...changes, expiresAt: new Date(endsAt) } }
          },
        },
      },
    },
    advanced: {
      cookiePrefix: 'callbook',
      useSecureCookies: url?.protocol === 'https:',
      defaultCookieAttributes: {
        httpOnly: true,
        sameSite: 'lax',
        path: `${url?.pathname.replace(/\/+$/, '') ?? ''}/console`,
      },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // The guard judges where requests come from; what arrives here, this process has made.
      disableCSRFCheck: true,
      disableOriginCheck: true,
    },
  })
}

/** The headers that better-auth is given in place of the request's own. */
export function headersOf({ cookies, address, userAgent }: Client): Headers {
  const headers = new Headers()
  if (cookies) headers.set('cookie', cookies)
  if (address) headers.set(addressHeader, address)
  if (userAgent) headers.set('user-agent', userAgent.slice(0, userAgentCharsMax))
  return headers
}

function isError(value: unknown): value is Error {
  return value instanceof Error
}
