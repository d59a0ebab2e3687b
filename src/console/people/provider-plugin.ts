import { randomBytes } from 'node:crypto'
import { createAuthEndpoint } from 'better-auth/api'
import { expireCookie, setSessionCookie } from 'better-auth/cookies'

/** As long as PKCE asks of a verifier: https://www.rfc-editor.org/rfc/rfc7636#section-4.1 */
const secretBytes = 32
const signInSeconds = 600

interface PluginOptions {
  sessionSeconds: number
  now: () => number
}

/** What better-auth does for people whom a provider has identified: see provider-sign-in.ts. */
export function providerPlugin({ sessionSeconds, now }: PluginOptions) {
  return {
    id: 'provider',
    endpoints: {
      /** Gives the browser the secret of a new sign-in, in a signed cookie. */
      beginProviderSignIn: createAuthEndpoint.serverOnly({ method: 'POST' }, async (ctx) => {
        const secret = randomBytes(secretBytes).toString('base64url')
        const { name, attributes } = ctx.context.createAuthCookie('provider', { maxAge: signInSeconds })
        await ctx.setSignedCookie(name, secret, ctx.context.secret, attributes)
        return { secret }
      }),
      /** The secret of this browser's sign-in; null without one. */
      readProviderSignIn: createAuthEndpoint.serverOnly(
        { method: 'GET', requireHeaders: true },
        async (ctx) => {
          const { name } = ctx.context.createAuthCookie('provider')
          return { secret: (await ctx.getSignedCookie(name, ctx.context.secret)) || null }
        },
      ),
      /** Begins a session of a fixed length, and forgets the secret. */
      endProviderSignIn: createAuthEndpoint.serverOnly(
        {
          method: 'POST',
          requireHeaders: true,
          // Only this process calls it, with this type.
          metadata: { $Infer: { body: {} as { personId: string } } },
        },
        async (ctx) => {
          const { internalAdapter } = ctx.context
          const endsAt = new Date(now() + sessionSeconds * 1_000)
          const user = await internalAdapter.findUserById(ctx.body.personId)
          if (!user) return null
          const fixed = { expiresAt: endsAt, endsAt }
          const session = await internalAdapter.createSession(user.id, false, fixed, true)
          expireCookie(ctx, ctx.context.createAuthCookie('provider'))
          await setSessionCookie(ctx, { session, user }, false, { maxAge: sessionSeconds })
          return { token: session.token }
        },
      ),
    },
  }
}
