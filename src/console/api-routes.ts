import { Elysia } from 'elysia'
import type { AuditTrail } from '../audit/audit-trail.ts'
import type { Keys } from '../auth/keys.ts'
import type { Projects } from '../projects/projects.ts'
import type { Settings } from '../projects/settings.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { type CallRoutesOptions, consoleCallRoutes } from './call-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { consoleKnowledgeRoutes, type KnowledgeRoutesOptions } from './knowledge-routes.ts'
import type { Invitations } from './people/invitations.ts'
import type { Links } from './people/links.ts'
import type { Members } from './people/members.ts'
import type { People } from './people/people.ts'
import type { Sessions } from './people/sessions.ts'
import { peopleRoutes } from './people-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { consoleSourceRoutes, type SourceRoutesOptions } from './source-routes.ts'
import { viewRoutes } from './view-routes.ts'
import type { Views } from './views.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** The parts that only the console uses. */
export interface ConsoleParts {
  readonly audit: AuditTrail
  readonly sessions: Sessions
  readonly links: Links
  readonly invitations: Invitations
  readonly members: Members
  readonly people: People
  readonly views: Views
}

interface ConsoleApiOptions extends CallRoutesOptions, KnowledgeRoutesOptions, SourceRoutesOptions {
  console: ConsoleParts
  projects: Projects
  settings: Settings
  keys: Keys
  webhooks: Webhooks
  publicUrl: string | null
}

/** The console's own API. It takes a session cookie, never a key; the cookie opens nothing under /v1. */
export function consoleApi({
  console,
  projects,
  settings,
  keys,
  webhooks,
  publicUrl,
  ...parts
}: ConsoleApiOptions) {
  return new Elysia({ name: 'console-api' })
    .use(sessionRoutes(console))
    .use(projectRoutes({ projects, settings }))
    .use(keyRoutes(keys))
    .use(webhookRoutes(webhooks))
    .use(peopleRoutes({ ...console, publicUrl }))
    .use(viewRoutes(console.views))
    .use(consoleCallRoutes(parts))
    .use(consoleKnowledgeRoutes(parts))
    .use(consoleSourceRoutes(parts))
}

/** The type of the page's client. */
export type ConsoleApi = ReturnType<typeof consoleApi>
