import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import OidcProvider, { type Adapter, type AdapterPayload } from 'oidc-provider'
import { atEnd } from './at-end.ts'

export interface ProviderAccount {
  sub: string
  email?: string
  email_verified?: boolean | string
  name?: string
  groups?: string[]
  [claim: string]: unknown
}

export interface IdentityProvider {
  issuer: string
  /** As in the environment of a service whose people sign in here. */
  env: Record<string, string>
  /** Who signs in next, without being asked. Null shows a button for each account instead. */
  signsIn: ProviderAccount | null
  accounts: ProviderAccount[]
  /** Requests to it, such as `POST /token`. */
  requests: string[]
  /** Everything that requests told it: addresses and headers. */
  told: string[]
  /** Answers a request in place of the provider, unless it returns null. */
  instead: ((path: string) => { status: number; body: string } | null) | null
  /** Begins to serve, for a service whose address is known now. Again with other settings: with new keys. */
  serve(settings: ServeSettings): Promise<void>
  /** Nobody answers until `serve`. */
  goDown(): Promise<void>
  stop(): Promise<void>
}

export interface ServeSettings {
  /** Of the service. */
  returnUrl: string
  /** Whom it says it is. */
  issuer?: string
  /** Whether the ID token has the claims, or only userinfo. */
  claimsInIdToken?: boolean
}

const [clientId, clientSecret] = ['callbook', 'secret-of-the-client']

/** A real provider of OpenID Connect on loopback. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const kept = new Map<string, AdapterPayload>()
  let handle: ((request: IncomingMessage, response: ServerResponse) => unknown) | null = null
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    provider.requests.push(`${request.method} ${path.split('?')[0]}`)
    provider.told.push(path, ...request.rawHeaders)
    const other = provider.instead?.(path)
    if (other) return response.writeHead(other.status, { 'content-type': 'application/json' }).end(other.body)
    if (handle === null) return request.socket.destroy()
    return handle(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The provider has no port')
  const issuer = `http://127.0.0.1:${address.port}`
  const provider: IdentityProvider = {
    issuer,
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_NAME: 'Acme',
    },
    signsIn: null,
    accounts: [],
    requests: [],
    told: [],
    instead: null,
    async serve({ returnUrl, issuer: told = issuer, claimsInIdToken = false }) {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
      const key = {
        ...privateKey.export({ format: 'jwk' }),
        kid: crypto.randomUUID(),
        alg: 'RS256',
        use: 'sig',
      }
      const made = new OidcProvider(told, {
        adapter: (model) => adapterOf(kept, model),
        clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [returnUrl] }],
        jwks: { keys: [key] },
        cookies: { keys: ['of the test'] },
        claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
        scopes: ['openid', 'email', 'profile', 'groups'],
        conformIdTokenClaims: !claimsInIdToken,
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, sub) => ({
          accountId: sub,
          claims: () => ({ ...provider.accounts.find((account) => account.sub === sub), sub }),
        }),
        async loadExistingGrant({ oidc }) {
          const grant = new made.Grant({ clientId, accountId: oidc.session?.accountId })
          grant.addOIDCScope('openid email profile groups')
          await grant.save()
          return grant
        },
      })
      const answer = made.callback()
      handle = async (request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
        if (!pathname.startsWith('/interaction/')) return await answer(request, response)
        const accountId = searchParams.get('account') ?? provider.signsIn?.sub
        if (accountId === 'nobody')
          return await made.interactionFinished(request, response, { error: 'access_denied' })
        if (accountId) return await made.interactionFinished(request, response, { login: { accountId } })
        const links = provider.accounts.map(({ sub, name }) => `<a href="?account=${sub}">${name}</a>`)
        return response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Acme</h1>${links.join(' ')}`)
      }
    },
    async goDown() {
      handle = null
    },
    stop: atEnd(async () => {
      server.closeAllConnections()
      server.close()
    }),
  }
  return provider
}

/** Keeps what the provider knows when it gets new keys; its own adapter does not. Nothing expires. */
function adapterOf(kept: Map<string, AdapterPayload>, model: string): Adapter {
  const keyOf = (id: string) => `${model} ${id}`
  const findBy = (matches: (key: string, payload: AdapterPayload) => boolean) =>
    [...kept].find(([key, payload]) => key.startsWith(`${model} `) && matches(key, payload))?.[1]
  return {
    async upsert(id, payload) {
      kept.set(keyOf(id), payload)
    },
    find: async (id) => kept.get(keyOf(id)),
    findByUid: async (uid) => findBy((_, payload) => payload.uid === uid),
    findByUserCode: async (userCode) => findBy((_, payload) => payload.userCode === userCode),
    async consume(id) {
      const payload = kept.get(keyOf(id))
      if (payload) payload.consumed = Math.floor(Date.now() / 1_000)
    },
    async destroy(id) {
      kept.delete(keyOf(id))
    },
    async revokeByGrantId(grantId) {
      for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key)
    },
  }
}
