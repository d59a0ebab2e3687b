import { randomBytes } from 'node:crypto'
import { createAuthEndpoint } from 'better-auth/api'
import { expireCookie, setSessionCookie } from 'better-auth/cookies'

/** As long as PKCE asks of a verifier: https://www.rfc-editor.org/rfc/rfc7636#section-4.1 */
const secretBytes = 32
const signInSeconds = 600

/** What better-auth does for people whom a provider identifies: see provider-sign-in.ts. */
export const providerPlugin = {
  id: 'provider',
  endpoints: {
    /** Gives the browser the secret of a new sign-in, in a signed cookie. */
    beginProviderSignIn: createAuthEndpoint.serverOnly({ method: 'POST' }, async (ctx) => {
      const secret = randomBytes(secretBytes).toString('base64url')
      const { name, attributes } = ctx.context.createAuthCookie('provider', { maxAge: signInSeconds })
      await ctx.setSignedCookie(name, secret, ctx.context.secret, attributes)
      return secret
    }),
    /** The secret of this browser's sign-in; null without one. */
    readProviderSignIn: createAuthEndpoint.serverOnly(
      { method: 'GET', requireHeaders: true },
      async (ctx) => {
        const { name } = ctx.context.createAuthCookie('provider')
        return (await ctx.getSignedCookie(name, ctx.context.secret)) || null
      },
    ),
    /** Begins a session that its use does not extend, and forgets the secret. Null when there is no such person. */
    endProviderSignIn: createAuthEndpoint.serverOnly(
      {
        method: 'POST',
        requireHeaders: true,
        // Only this process calls it, with this type.
        metadata: { $Infer: { body: {} as { personId: string; endsAt: Date; seconds: number } } },
      },
      async (ctx) => {
        const { personId, endsAt, seconds } = ctx.body
        const { createAuthCookie, internalAdapter } = ctx.context
        const user = await internalAdapter.findUserById(personId)
        if (!user) return null
        const session = await internalAdapter.createSession(
          user.id,
          false,
          { expiresAt: endsAt, endsAt },
          true,
        )
        expireCookie(ctx, createAuthCookie('provider'))
        await setSessionCookie(ctx, { session, user }, false, { maxAge: seconds })
        return session.id
      },
    ),
  },
}
