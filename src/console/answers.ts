// What the console's own interface, /console/api, answers with. Times are ISO 8601, UTC, as under /v1.

/** An owner may do everything; a member everything but keys, people, the audit trail, renaming and deleting the project. */
export type Role = 'owner' | 'member'

export interface Person {
  id: string
  name: string
  email: string
}

/** Somebody who can sign in, as the console's owner sees them. */
export interface Account extends Person {
  ownsConsole: boolean
}

export interface ProjectOfPerson {
  id: string
  name: string
  role: Role
  createdAt: string
}

/** Who asks. Nobody is signed in when `person` is null. */
export interface SessionAnswer {
  person: Person | null
  projects: ProjectOfPerson[]
  /** False until somebody can sign in. */
  isSetUp: boolean
  /** Whether the person who is signed in has set the console up, and may delete people from it. */
  ownsConsole: boolean
}

export interface SessionRow {
  id: string
  isCurrent: boolean
  createdAt: string
  lastSeenAt: string
  ipAddress: string | null
  userAgent: string | null
}

/** What a one-time link opens, before it is used. */
export type LinkAnswer =
  | { kind: 'setup' }
  | { kind: 'invitation'; projectName: string; role: Role; invitedBy: string | null }
  | { kind: 'password'; email: string }

export interface KnowledgeFigures {
  items: number
  chunks: number
  pendingChunks: number
}

/** How far an item's chunks are embedded and indexed. */
export type IndexStatus =
  | { state: 'ready' }
  | { state: 'indexing'; ready: number }
  /** `reason` is the last error in a sentence; `nextTryAt` null when it is tried as soon as possible. */
  | { state: 'waiting'; ready: number; reason: string; nextTryAt: string | null }

export interface KnowledgeRow {
  id: string
  name: string
  description: string
  textBytes: number
  chunks: number
  status: IndexStatus
  createdAt: string
}

export interface KnowledgeItem extends KnowledgeRow {
  text: string
}

export interface KnowledgeRows {
  data: KnowledgeRow[]
  nextCursor: string | null
  total: number
}

export interface StoredChunk {
  position: number
  heading: string | null
  text: string
  characters: number
  overlapCharacters: number
  isEmbedded: boolean
}

export interface ExplainedHit {
  itemId: string
  name: string
  heading: string | null
  text: string
  position: number
  score: number
  /** Rank by each list, from 1; null when the list does not have it. */
  keywordRank: number | null
  vectorRank: number | null
}

export interface ExplainedSearch {
  data: ExplainedHit[]
  mode: 'hybrid' | 'vector' | 'keyword'
  tookMs: number
  /** Milliseconds; keyword and vector go on side by side. */
  shares: { embedding: number; vector: number; keyword: number; fusion: number }
}

export interface KeyRow {
  id: string
  name: string
  kind: 'live' | 'ingest'
  /** `ck_live_…` and the last four characters. */
  hint: string
  allowedIps: string[]
  expiresAt: string | null
  createdAt: string
  createdBy: string | null
  lastUsedAt: string | null
  lastUsedIp: string | null
  revokedAt: string | null
}

/** The only answer that ever holds the key. */
export interface CreatedKey extends KeyRow {
  key: string
}

export interface AddressCheck {
  /** One entry each for those that are no address, range or `*`. */
  problems: { index: number; message: string }[]
  /** Whether `address` would pass; null when none, or none that can be read, was sent. */
  allows: boolean | null
}

export interface MemberRow {
  personId: string
  name: string
  email: string
  role: Role
  joinedAt: string
}

export interface InvitationRow {
  id: string
  role: Role
  createdBy: string | null
  createdAt: string
  expiresAt: string
}

export interface PeopleAnswer {
  members: MemberRow[]
  invitations: InvitationRow[]
}

/** The only answer that ever holds the link. */
export interface CreatedInvitation extends InvitationRow {
  link: string
}

/** What the audit trail knows of. */
export type AuditAction =
  | 'console_set_up'
  | 'signed_in'
  | 'sign_in_failed'
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'session_ended'
  | 'password_changed'
  | 'password_link_created'
  | 'password_reset'
  | 'invitation_created'
  | 'invitation_revoked'
  | 'invitation_accepted'
  | 'role_changed'
  | 'person_removed'
  | 'person_renamed'
  | 'person_deleted'
  | 'key_created'
  | 'key_revoked'
  | 'project_created'
  | 'project_renamed'
  | 'project_deleted'
  | 'call_deleted'
  | 'item_deleted'

export interface AuditRow {
  seq: number
  at: string
  action: AuditAction
  /** A person as `name (e-mail address)`, a key as `name (hint)`; null for the command line and the service itself. */
  actor: string | null
  /** The person's or the key's id, which tells apart those who have the same name. */
  actorId: string | null
  target: string | null
  ipAddress: string | null
}

export interface AuditRows {
  data: AuditRow[]
  nextCursor: string | null
}
