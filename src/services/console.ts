import type { AuditTrail } from '../audit/audit-trail.ts'
import { networkOf } from '../auth/ip-rules.ts'
import type { Config } from '../config.ts'
import type { ConsoleParts } from '../console/api-routes.ts'
import { createAuth } from '../console/people/auth.ts'
import { Invitations } from '../console/people/invitations.ts'
import { Links } from '../console/people/links.ts'
import { Members } from '../console/people/members.ts'
import { People } from '../console/people/people.ts'
import { Sessions } from '../console/people/sessions.ts'
import { SignInLimits } from '../console/people/sign-in-limits.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { Log } from '../observability/log.ts'

interface ConsoleSources {
  config: Config
  log: Log
  database: OpenDatabase
  audit: AuditTrail
  sessionSecret: string
  now: () => number
}

/** The parts that only the console uses: people, their sessions and their links. */
export function createConsole({
  config,
  log,
  database,
  audit,
  sessionSecret,
  now,
}: ConsoleSources): ConsoleParts {
  const { read, write } = database
  const limits = new SignInLimits({ read, write, now, networkOf })
  const auth = createAuth({
    store: database,
    secret: sessionSecret,
    publicUrl: config.publicUrl,
    onFailure: (error) => log.error({ error }, 'Signing in failed with an internal error'),
  })
  const sessions = new Sessions({ auth, limits, read, write, audit, now, log })
  const people = new People({ read, write, audit, now })
  const members = new Members({ read, write, audit })
  return {
    audit,
    sessions,
    members,
    links: new Links({ auth, sessions, limits, read, write, audit, now }),
    invitations: new Invitations({ read, write, audit, people, now }),
    people,
  }
}
