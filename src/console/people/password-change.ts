import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { accounts, invitations, people, sessions } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/writer.ts'

interface PasswordChange {
  personId: string
  passwordHash: string
  now: number
  /** Nothing changes unless this holds. */
  condition: SQL
  /** The audit entry. */
  entry: SQL
}

/**
 * The statements that set a new password, end the person's sessions and delete their reset links. The first
 * statement changes a row if the condition held.
 */
export function changePassword(
  write: WriteDatabase,
  { personId, passwordHash, now, condition, entry }: PasswordChange,
) {
  const isChanged = hasPassword(personId, passwordHash)
  return [
    write.run(sql`
      update ${accounts} set password = ${passwordHash}, updated_at = ${now}
      where user_id = ${personId} and provider_id = 'credential' and ${condition}`),
    write.run(entry),
    write.run(sql`delete from ${sessions} where user_id = ${personId} and ${isChanged}`),
    write.run(sql`delete from ${invitations} where person_id = ${personId} and ${isChanged}`),
  ] as const
}

/** The password hash of the person with this e-mail address; null when there is none. */
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
