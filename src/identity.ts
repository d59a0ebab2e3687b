// Who sends a request, and whom an audit entry names. Pure, so that every layer may use it.

/** The roles of people in a project. */
export const roles = ['owner', 'member', 'viewer'] as const
export type Role = (typeof roles)[number]

/** What a person may do in a project: see calls and knowledge, change them, delete them, or manage the project. */
export type Right = 'see' | 'change' | 'delete' | 'manage'

/** Whether a role may do something, for the guard and for the page alike. */
export function mayDo(
  right: Right,
  { role, membersMayDelete }: { role: Role; membersMayDelete: boolean },
): boolean {
  if (role === 'owner' || right === 'see') return true
  return role === 'member' && (right === 'change' || (right === 'delete' && membersMayDelete))
}

/** What API keys may be allowed to do. */
export const keyScopes = ['full', 'read', 'search', 'knowledge', 'manage'] as const
export type KeyScope = (typeof keyScopes)[number]

/** The permissions that requests need: the scopes that give each, and how an error names the least of them. */
const permissions = {
  search: { named: 'search', scopes: keyScopes },
  read: { named: 'read', scopes: ['read', 'full', 'manage'] },
  readKnowledge: { named: 'read or knowledge', scopes: ['read', 'knowledge', 'full', 'manage'] },
  changeKnowledge: { named: 'knowledge or full', scopes: ['knowledge', 'full', 'manage'] },
  change: { named: 'full', scopes: ['full', 'manage'] },
  manage: { named: 'manage', scopes: ['manage'] },
} satisfies Record<string, { named: string; scopes: readonly KeyScope[] }>
export type Permission = keyof typeof permissions

/** Whether a scope gives a permission. */
export function scopeAllows(keyScope: KeyScope | null, permission: Permission): boolean {
  const { scopes }: { scopes: readonly KeyScope[] } = permissions[permission]
  return keyScope !== null && scopes.includes(keyScope)
}

/** The least scopes that give a permission, in words. */
export function scopesFor(permission: Permission): string {
  return permissions[permission].named
}

/** The key of a request, and its project. */
export interface Caller {
  readonly projectId: number
  /** The project's public id. */
  readonly project: string
  readonly keyId: string
  /** Null for an ingest key. */
  readonly scope: KeyScope | null
  /** It searches only items with one of these tags; all items if there are none. */
  readonly tags: readonly string[]
  /** Origins whose pages may read the answer in a browser. */
  readonly allowedOrigins: readonly string[]
  /** Null when it is unknown. */
  readonly clientAddress: () => string | null
  /** Checks the key again: a long request or answer may outlast it. @throws as its first check */
  readonly check: () => Promise<unknown>
}

/** The person who is signed in to the console, and the session. */
export interface SignedIn {
  readonly personId: string
  readonly name: string
  readonly email: string
  readonly sessionId: string
}

/** The project in a console path, and the signed-in person's role in it. */
export interface Membership {
  readonly projectId: number
  readonly publicId: string
  readonly role: Role
  readonly membersMayDelete: boolean
}

/** A person, or whoever holds a key. */
export type Actor = { id: string; name: string | null } | { keyId: string }

/** Who acts, and from where. Functions that take one as optional are called without it by the command line. */
export interface ActedBy {
  readonly actor: Actor
  /** Null when it is unknown. */
  readonly address: string | null
}

/** The id of the person or key; null for the command line. */
export function actorIdOf(by: ActedBy | undefined): string | null {
  if (!by) return null
  return 'keyId' in by.actor ? by.actor.keyId : by.actor.id
}

export function byPerson(
  { personId, name, email }: Omit<SignedIn, 'sessionId'>,
  address: string | null,
): ActedBy {
  return { actor: { id: personId, name: personLabel({ name, email }) }, address }
}

/** Names alone are not unique. */
export function personLabel({ name, email }: { name: string; email: string }): string {
  return `${name} (${email})`
}
