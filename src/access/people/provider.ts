import { hash } from 'node:crypto'
import type { ClientAuth, Configuration } from 'openid-client'
import { AppError, forbidden, signInRequired, unavailable } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import { type Claims, type Identity, readIdentity, withUserInfo } from './identity-claims.ts'
import type { ProviderConfig } from './provider-config.ts'

type Library = typeof import('openid-client')

const answerWithinSeconds = 10
const retryAfterSeconds = 10
/** The library's codes for no answer, or one that is not of OpenID Connect, such as that of a proxy before it. */
const codesOfNoAnswer = /^(undefined|OAUTH_(TIMEOUT|PARSE_ERROR|RESPONSE_IS_NOT_(CONFORM|JSON)))$/

/**
 * Signs people in at a provider of OpenID Connect by authorization code with PKCE, state and nonce:
 * https://openid.net/specs/openid-connect-core-1_0.html. Each sign-in has one secret, which only the browser keeps: it
 * is PKCE's verifier, and state and nonce are its hashes. The provider's metadata and keys are read at each sign-in, so
 * that changed ones need no restart. Without an answer of the provider, every method throws unavailable.
 */
export class Provider {
  readonly config: ProviderConfig
  readonly #log: Pick<Log, 'warn'>

  constructor(config: ProviderConfig, log: Pick<Log, 'warn'>) {
    this.config = config
    this.#log = log
  }

  /** The address at which the browser signs in. */
  async signInUrl(secret: string, returnUrl: string): Promise<string> {
    const { groupsClaim } = this.config
    return await this.#ask(async (library, provider) => {
      // Some providers tell groups only to those who ask for that scope.
      const hasGroupsScope = provider.serverMetadata().scopes_supported?.includes(groupsClaim)
      const url = library.buildAuthorizationUrl(provider, {
        redirect_uri: returnUrl,
        scope: `openid email profile${hasGroupsScope ? ` ${groupsClaim}` : ''}`,
        code_challenge: await library.calculatePKCECodeChallenge(secret),
        code_challenge_method: 'S256',
        state: derived(secret, 'state'),
        nonce: derived(secret, 'nonce'),
      })
      return url.href
    })
  }

  /**
   * Who has signed in. What the ID token does not tell, userinfo may.
   * @param callback where the provider sent the browser, with its answer in the query
   * @throws not_signed_in for the answer to another sign-in, or one that was used before; forbidden for an invalid one
   */
  async identify(secret: string, callback: URL): Promise<Identity> {
    const [expectedState, expectedNonce] = [derived(secret, 'state'), derived(secret, 'nonce')]
    if (callback.searchParams.get('state') !== expectedState) throw signInOver()
    const { groupsClaim, groupRoles } = this.config
    return await this.#ask(async (library, provider) => {
      const checks = { pkceCodeVerifier: secret, expectedState, expectedNonce }
      const tokens = await library.authorizationCodeGrant(provider, callback, checks)
      // Without an ID token, the nonce is refused.
      const { sub: subject = '', ...inToken }: Claims & { sub?: string } = tokens.claims() ?? {}
      const identity = { subject, ...readIdentity(inToken, groupsClaim) }
      const lacksGroups = identity.groups === null && groupRoles.length > 0
      const isComplete = identity.email !== null && identity.name !== null && !lacksGroups
      if (isComplete || provider.serverMetadata().userinfo_endpoint === undefined) return identity
      const others = await library.fetchUserInfo(provider, tokens.access_token, subject)
      return { subject, ...readIdentity(withUserInfo(inToken, others), groupsClaim) }
    })
  }

  async #ask<Answer>(
    question: (library: Library, provider: Configuration) => Promise<Answer>,
  ): Promise<Answer> {
    // Loaded only when it is used.
    const library = await import('openid-client')
    try {
      return await question(library, await discover(library, this.config))
    } catch (error) {
      this.#log.warn({ error }, `Sign-in with ${this.config.name} failed`)
      throw refusalOf(library, error, this.config.name)
    }
  }
}

async function discover(library: Library, config: ProviderConfig): Promise<Configuration> {
  const { issuer, clientId, clientSecret, name } = config
  const { allowInsecureRequests, enableNonRepudiationChecks, ClientSecretBasic, ClientSecretPost } = library
  const url = new URL(issuer)
  const authenticate: ClientAuth = (server, ...request) => {
    const isBasic = server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true
    return (isBasic ? ClientSecretBasic : ClientSecretPost)(clientSecret)(server, ...request)
  }
  // Signatures are checked too, which the protocol leaves to TLS. Only a provider on this machine has none.
  const execute = [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])]
  const options = { execute, timeout: answerWithinSeconds }
  const provider = await library.discovery(url, clientId, undefined, authenticate, options)
  const iss = provider.serverMetadata().issuer
  // The library lets Microsoft's hosts answer as another issuer.
  if (iss === issuer) return provider
  throw invalidAnswer(name, new Error(`OIDC_ISSUER is ${issuer}, but the provider says that it is ${iss}`))
}

/** A hash of the secret for one use, from which neither the secret nor the other hash follows. */
function derived(secret: string, use: 'state' | 'nonce'): string {
  return hash('sha256', `${use} ${secret}`, 'base64url')
}

/** What people are told. The log has the reason. */
function refusalOf(library: Library, error: unknown, name: string): AppError {
  const { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } =
    library
  if (error instanceof AppError) return error
  if (error instanceof AuthorizationResponseError && !/^(server_error|temporarily_)/.test(error.error))
    return forbidden(`${name} has not signed you in.`)
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return signInOver()
  const isRefusal = error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError
  const isAnswer = error instanceof ClientError && !codesOfNoAnswer.test(`${error.code}`)
  if (isAnswer || (isRefusal && error.status < 500)) return invalidAnswer(name)
  return unavailable(`${name} cannot be reached. Whoever is signed in stays signed in.`, retryAfterSeconds)
}

function invalidAnswer(name: string, cause?: Error): AppError {
  const detail = `The answer of ${name} is not valid. Whoever runs Callbook finds the reason in the log.`
  return new AppError('forbidden', 'Forbidden', { detail, cause })
}

/** For an answer to a sign-in that this browser has not begun, or that has ended. */
export function signInOver(): AppError {
  return signInRequired('This sign-in has expired or was completed before. Sign in again.')
}
