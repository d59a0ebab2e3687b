import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { accounts, invitations, people, sessions, twoFactors, verifications } from '../../db/schema.ts'
import { forbidden, refuseFields } from '../../errors.ts'
import { nameProblem } from '../../validation.ts'
import type { ProviderConfig } from './provider-config.ts'

export interface Person {
  id: string
  name: string
  email: string
}

export interface NewPerson {
  name: string
  email: string
  password: string
}

export const passwordCharsMin = 10
export const passwordCharsMax = 128
const emailCharsMax = 254

/** The form that better-auth accepts at sign-in: https://zod.dev/api#emails */
const emailForm =
  /^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/

/** @throws forbidden where people sign in at a provider only */
export function refusePasswords(oidc: Pick<ProviderConfig, 'name' | 'isOnly'> | null): void {
  if (oidc?.isOnly) throw forbidden(`Passwords are not accepted here. Sign in with ${oidc.name}.`)
}

/** Returns an address as better-auth stores and compares it. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase()
}

export function passesAsEmail(normalized: string): boolean {
  return normalized.length <= emailCharsMax && emailForm.test(normalized)
}

/** @throws invalid_request naming each bad field, under `path` */
export function checkNewPerson({ name, email, password }: NewPerson, path = ''): NewPerson {
  const normalized = normalizeEmail(email)
  const isEmail = passesAsEmail(normalized)
  refuseFields({
    [`${path}name`]: nameProblem(name),
    [`${path}email`]: !isEmail && 'must be an email address, such as ada@example.com',
    [`${path}password`]: passwordProblem(password),
  })
  return { name: name.trim(), email: normalized, password }
}

export function passwordProblem(password: string): string | null {
  if (password.length < passwordCharsMin) return `must be at least ${passwordCharsMin} characters`
  return password.length > passwordCharsMax ? `must be at most ${passwordCharsMax} characters` : null
}

export interface NewPersonRow extends Person {
  passwordHash: string
  createdAt: number
}

/** The statement that creates a person, if `condition` holds. */
export function insertPerson({ id, name, email }: Person, createdAt: number, condition: SQL): SQL {
  return sql`
    insert into ${people} (id, name, email, email_verified, created_at, updated_at)
    select ${id}, ${name}, ${email}, 1, ${createdAt}, ${createdAt} where ${condition}`
}

/** The statements that create a person with a password, if `condition` holds. */
export function insertWithPassword(person: NewPersonRow, condition: SQL) {
  const { id, passwordHash, createdAt } = person
  return {
    person: insertPerson(person, createdAt, condition),
    account: sql`
      insert into ${accounts} (id, user_id, account_id, provider_id, password, created_at, updated_at)
      select id, id, id, 'credential', ${passwordHash}, ${createdAt}, ${createdAt}
      from ${people} where id = ${id}`,
  }
}

interface PasswordChange {
  personId: string
  passwordHash: string
  now: number
  /** Nothing changes unless this holds. */
  condition: SQL
  /** The audit entry. */
  entry: SQL
  /** The id of a session that stays. */
  keptSession?: string | undefined
}

/**
 * The statements that set a new password, end the person's sessions and delete their reset links. The one called `changed`
 * changes a row if the condition held.
 */
export function changePassword(change: PasswordChange) {
  const { personId, passwordHash, now, condition, entry, keptSession = '' } = change
  const isChanged = hasPassword(personId, passwordHash)
  return {
    // Whoever has only signed in at a provider has no password yet.
    changed: sql`
      insert into ${accounts} (id, user_id, account_id, provider_id, password, created_at, updated_at)
      select ${personId}, ${personId}, ${personId}, 'credential', ${passwordHash}, ${now}, ${now} where ${condition}
      on conflict (id) do update set password = excluded.password, updated_at = excluded.updated_at`,
    entry,
    sessions: sql`delete from ${sessions} where user_id = ${personId} and id <> ${keptSession} and ${isChanged}`,
    // A sign-in that waits for a code has shown the old password.
    signIns: sql`delete from ${verifications} where value = ${personId} and ${isChanged}`,
    links: sql`delete from ${invitations} where person_id = ${personId} and ${isChanged}`,
  }
}

/** The statements that end a password, if `condition` holds, with all that it gave: sessions, reset links, the second factor. */
export function dropPassword(personId: string, condition: SQL) {
  const ofPerson = (column: Column) => sql`${column} = ${personId} and ${condition}`
  return {
    password: sql`delete from ${accounts} where ${ofPerson(accounts.userId)} and provider_id = 'credential'`,
    sessions: sql`delete from ${sessions} where ${ofPerson(sessions.userId)}`,
    signIns: sql`delete from ${verifications} where ${ofPerson(verifications.value)}`,
    links: sql`delete from ${invitations} where ${ofPerson(invitations.personId)}`,
    secondFactors: sql`delete from ${twoFactors} where ${ofPerson(twoFactors.userId)}`,
    hasSecondFactor: sql`update ${people} set two_factor_enabled = 0 where ${ofPerson(people.id)}`,
  }
}

/** The person with this email address; null when there is none. */
export async function findPerson(read: ReadDatabase, email: string): Promise<Person | null> {
  const [person] = await read
    .select({ id: people.id, name: people.name, email: people.email })
    .from(people)
    .where(eq(people.email, normalizeEmail(email)))
  return person ?? null
}

/** The password hash of the person with this email address; null when there is none. */
export async function findPasswordHash(read: ReadDatabase, email: string): Promise<string | null> {
  const [row] = await read
    .select({ hash: accounts.password })
    .from(accounts)
    .innerJoin(people, eq(people.id, accounts.userId))
    .where(and(eq(people.email, email), eq(accounts.providerId, 'credential')))
  return row?.hash ?? null
}

/** Whether the person's password hash is still this one. It is salted, so it differs each time a password is set. */
export function hasPassword(personId: string, passwordHash: string | null): SQL {
  return sql`exists (select 1 from ${accounts} as account
    where account.user_id = ${personId} and account.provider_id = 'credential' and account.password = ${passwordHash})`
}
