import type { Role } from '../../identity.ts'

/** A provider of OpenID Connect, at which people sign in. */
export interface ProviderConfig {
  /** What it says it is must equal this. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** What people call it. */
  readonly name: string
  /** Domains of email addresses, in lower case; empty for any. */
  readonly allowedDomains: readonly string[]
  readonly groupsClaim: string
  readonly groupRoles: readonly GroupRole[]
  readonly sessionHours: number
  /** Whether passwords are not accepted. */
  readonly isOnly: boolean
}

/** The role of a group at the provider in a project. */
export interface GroupRole {
  readonly group: string
  /** Id or name; `*` for every project. */
  readonly project: string
  readonly role: Role
}
