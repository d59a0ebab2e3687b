import { Elysia } from 'elysia'
import type { AuditTrail } from '../audit/audit-trail.ts'
import type { Keys } from '../auth/keys.ts'
import type { Calls } from '../calls/calls.ts'
import type { Overview } from '../calls/overview.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import type { IndexedItems } from '../knowledge/indexed-items.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { Search } from '../knowledge/search/search.ts'
import type { Projects } from '../projects/projects.ts'
import { consoleCallRoutes } from './call-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { consoleKnowledgeRoutes } from './knowledge-routes.ts'
import type { Invitations } from './people/invitations.ts'
import type { Links } from './people/links.ts'
import type { Members } from './people/members.ts'
import type { People } from './people/people.ts'
import type { Sessions } from './people/sessions.ts'
import { accountRoutes, peopleRoutes } from './people-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { sessionRoutes } from './session-routes.ts'

/** The parts that only the console uses. */
export interface ConsoleParts {
  readonly audit: AuditTrail
  readonly sessions: Sessions
  readonly links: Links
  readonly invitations: Invitations
  readonly members: Members
  readonly people: People
}

interface ConsoleApiOptions {
  console: ConsoleParts
  projects: Projects
  keys: Keys
  calls: Calls
  overview: Overview
  knowledge: Knowledge
  indexedItems: IndexedItems
  search: Search
  buffers: ResponseBuffers
  publicUrl: string | null
}

/** The console's own API. It takes a session cookie, never a key; the cookie opens nothing under /v1. */
export function consoleApi({
  console,
  projects,
  keys,
  calls,
  overview,
  buffers,
  publicUrl,
  ...parts
}: ConsoleApiOptions) {
  return new Elysia({ name: 'console-api' })
    .use(sessionRoutes(console.sessions, console.links, console.people))
    .use(projectRoutes(projects))
    .use(keyRoutes(keys))
    .use(peopleRoutes({ ...console, publicUrl }))
    .use(accountRoutes(console.people))
    .use(consoleCallRoutes({ calls, overview, knowledge: parts.knowledge, buffers }))
    .use(consoleKnowledgeRoutes(parts))
}

/** The type of the page's client. */
export type ConsoleApi = ReturnType<typeof consoleApi>
