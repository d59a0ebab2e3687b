import { type AnyColumn, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { readMeta } from '../../db/meta.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { isConsoleOwner } from '../../db/requirements.ts'
import { accounts, meta, people, sessions } from '../../db/schema.ts'
import { consoleOwnerOnly, invalidRequest } from '../../errors.ts'
import { type ActedBy, actorIdOf } from '../../identity.ts'

/** `meta` has this name while the rule is in force. */
const ruleName = 'requires_two_factor'

/** Whether everybody who has a password must also have a second factor before they can use the console. */
export class TwoFactorRule {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  isOn(): Promise<boolean> {
    return isTwoFactorRequired(this.#core.read)
  }

  /**
   * Holds from the next request on, also for people who are signed in.
   * @throws forbidden unless `by` owns the console; invalid_request if they have no second factor themselves
   */
  async change(isOn: boolean, by?: ActedBy): Promise<{ isOn: boolean }> {
    const { write, audit } = this.#core
    const self = actorIdOf(by)
    const requirements = [
      { condition: by ? isConsoleOwner(self) : sql`true`, otherwise: consoleOwnerOnly },
      { condition: by && isOn ? sql`not ${lacksTwoFactor(self)}` : sql`true`, otherwise: ownOneFirst },
    ]
    await write.batchIf(requirements, {
      changed: isOn
        ? write.insert(meta).values({ name: ruleName, value: '1' }).onConflictDoNothing()
        : write.delete(meta).where(eq(meta.name, ruleName)),
      entry: audit.entry({
        by,
        projectId: null,
        action: isOn ? 'two_factor_required' : 'two_factor_optional',
        target: null,
      }),
    })
    return { isOn }
  }
}

export async function isTwoFactorRequired(read: ReadDatabase): Promise<boolean> {
  return (await readMeta(read, ruleName)).has(ruleName)
}

/**
 * Whether the person has to set up a second factor before anything else. Not in a session that began at the sign-in
 * provider, which alone has an end: whether a second factor was needed there is the provider's to say.
 */
export async function mustSetUpTwoFactor(
  { read, config }: Pick<Core, 'read' | 'config'>,
  { personId, sessionId }: { personId: string; sessionId: string | null },
): Promise<boolean> {
  // Where passwords are not accepted, nothing here would ask for it.
  if (config.oidc?.isOnly) return false
  const endsAt = sql`(select ends_at from ${sessions} where id = ${sessionId})`
  return (await read.all(sql`select 1 where ${owesTwoFactor(personId, endsAt)}`)).length > 0
}

/** SQL for the same, where passwords are accepted. @param endsAt the end that the provider's sign-in gave to the session */
export function owesTwoFactor(personId: string | AnyColumn, endsAt: SQLWrapper): SQL {
  return sql`(exists (select 1 from ${meta} where name = ${ruleName}) and ${lacksTwoFactor(personId)} and ${endsAt} is null)`
}

/** Nobody can sign in here without a password. */
function lacksTwoFactor(personId: string | AnyColumn | null) {
  return sql`exists (
    select 1 from ${people} join ${accounts} on user_id = ${people.id} and provider_id = 'credential'
    where ${people.id} = ${personId} and not two_factor_enabled)`
}

function ownOneFirst() {
  return invalidRequest([{ field: 'isOn', message: 'needs a second factor of your own first: see Account' }])
}
