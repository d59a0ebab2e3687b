import { withoutHidden } from '../../validation.ts'
import { normalizeEmail, passesAsEmail } from './credentials.ts'

/** What a provider tells of a person: https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims */
export type Claims = Readonly<Record<string, unknown>>

export interface Identity {
  /** The provider's id of the person, which never changes. */
  subject: string
  /** The address as we store it; null unless the provider has verified it. */
  email: string | null
  /** Null when it is not told. */
  name: string | null
  /** Null when they are not told. */
  groups: readonly string[] | null
}

const nameCharsMax = 200

export function readIdentity(claims: Claims, groupsClaim: string): Omit<Identity, 'subject'> {
  const name = typeof claims.name === 'string' ? withoutHidden(claims.name.slice(0, nameCharsMax)) : ''
  const email = typeof claims.email === 'string' ? normalizeEmail(claims.email) : ''
  const groups = claims[groupsClaim]
  return {
    email: isVerified(claims) && passesAsEmail(email) ? email : null,
    name: name === '' || !name.isWellFormed() ? null : name,
    groups: groups === undefined ? null : [groups].flat().filter((group) => typeof group === 'string'),
  }
}

/** The claims of an ID token, and of the user info what it lacks. An address is verified only by who told the address. */
export function withUserInfo(inToken: Claims, userInfo: Claims): Claims {
  if (inToken.email === undefined) return { ...userInfo, ...withoutVerification(inToken) }
  const isSameEmail = inToken.email === userInfo.email
  return { ...(isSameEmail ? userInfo : withoutVerification(userInfo)), ...inToken }
}

function withoutVerification({ email_verified: _, xms_edov: __, ...others }: Claims): Claims {
  return others
}

/**
 * Some providers write the claim as text. Entra has another: whether the domain's owner has shown that it is theirs.
 * https://learn.microsoft.com/entra/identity-platform/migrate-off-email-claim-authorization
 */
function isVerified({ email_verified, xms_edov }: Claims): boolean {
  return [true, 'true', 1, '1'].some((yes) => yes === (email_verified ?? xms_edov))
}
