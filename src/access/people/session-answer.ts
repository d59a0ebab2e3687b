import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { callViews, members, people, projects } from '../../db/schema.ts'
import { findPasswordHash, type Person } from './credentials.ts'
import { findConsoleOwner } from './set-up.ts'
import { mustSetUpTwoFactor } from './two-factor-rule.ts'

/** A project, with what its person may do in it. */
export type ProjectOfPerson = Awaited<ReturnType<typeof projectsOf>>[number]

/** What the page needs to know about its session. */
export interface SessionAnswer {
  /** Null when nobody is signed in. */
  person: Person | null
  projects: ProjectOfPerson[]
  /** False until the first person exists. */
  isSetUp: boolean
  /** Whether the signed-in person owns the console, and so may delete people from it. */
  ownsConsole: boolean
  /** Whether the password was right and a code of the second factor is asked for next. */
  needsCode: boolean
  /** Whether the signed-in person has to set up a second factor before anything else. */
  mustSetUpTwoFactor: boolean
  /** Where people can sign in instead of with a password, or only there; null for nowhere. */
  provider: { name: string; isOnly: boolean } | null
  /** Whether the signed-in person has a password here. */
  hasPassword: boolean
}

interface SessionFacts {
  needsCode?: boolean
  /** Null where it has just begun. */
  sessionId?: string | null
  /** Whether the person has just signed in at the provider. */
  isIdentified?: boolean
}

export async function describeSession(
  { read, config }: Pick<Core, 'read' | 'config'>,
  person: Person | null,
  { needsCode = false, sessionId = null, isIdentified = false }: SessionFacts = {},
): Promise<SessionAnswer> {
  const { oidc } = config
  const provider = oidc && { name: oidc.name, isOnly: oidc.isOnly }
  const nobody = { person: null, projects: [], ownsConsole: false, hasPassword: false, provider }
  if (!person) return { ...nobody, needsCode, mustSetUpTwoFactor: false, isSetUp: await hasPeople(read) }
  const { id, name, email } = person
  return {
    person: { id, name, email },
    projects: await projectsOf(read, id),
    isSetUp: true,
    ownsConsole: (await findConsoleOwner(read)) === id,
    hasPassword: (await findPasswordHash(read, email)) !== null,
    needsCode: false,
    mustSetUpTwoFactor:
      !isIdentified && (await mustSetUpTwoFactor({ read, config }, { personId: id, sessionId })),
    provider,
  }
}

async function hasPeople(read: ReadDatabase): Promise<boolean> {
  return (await read.select({ id: people.id }).from(people).limit(1)).length > 0
}

/** Returns the person's projects, sorted by name. */
async function projectsOf(read: ReadDatabase, personId: string) {
  const rows = await read
    .select({
      id: projects.publicId,
      name: projects.name,
      role: members.role,
      membersMayDelete: projects.membersMayDelete,
      /** Such as `Europe/Berlin`; null when it has none of its own. */
      timeZone: projects.timeZone,
      /** The query string of the view that the person's list of calls begins with; null for all calls. */
      firstView: sql<
        string | null
      >`(select query from ${callViews} where ${callViews.id} = ${members.views} ->> '$.first'
        and ${callViews.projectId} = ${projects.id} and page = 'calls'
        and (is_shared or ${callViews.personId} = ${personId}))`,
      /** How many views of the list of calls the person sees. */
      views: sql<number>`(select count(*) from ${callViews} where ${callViews.projectId} = ${projects.id} and page = 'calls'
        and (is_shared or ${callViews.personId} = ${personId}))`,
      /** How many calls it has. */
      calls: projects.calls,
      createdAt: projects.createdAt,
    })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.projectId))
    .where(and(eq(members.personId, personId), isNull(projects.deletedAt)))
    .orderBy(projects.name)
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
}
