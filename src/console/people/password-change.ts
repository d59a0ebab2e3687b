import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { accounts, invitations, people, sessions } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/writer.ts'

interface PasswordChange {
  personId: string
  passwordHash: string
  now: number
  /** When this does not hold, nothing changes. */
  condition: SQL
  /** The audit trail's entry of it. */
  entry: SQL
}

/**
 * The statements that give a person another password. With the old one end the sessions that it began and the links
 * that would reset it. The first statement's result tells whether the condition held.
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

/** The hash of the password by which somebody with this e-mail address signs in; null for nobody. */
export async function findPasswordHash(read: ReadDatabase, email: string): Promise<string | null> {
  const [row] = await read
    .select({ hash: accounts.password })
    .from(accounts)
    .innerJoin(people, eq(people.id, accounts.userId))
    .where(and(eq(people.email, email), eq(accounts.providerId, 'credential')))
  return row?.hash ?? null
}

/** Whether the person's password is still the one with this hash, which a salt makes different for each password set. */
export function hasPassword(personId: string, passwordHash: string | null): SQL {
  return sql`exists (select 1 from ${accounts} as account
    where account.user_id = ${personId} and account.provider_id = 'credential' and account.password = ${passwordHash})`
}
