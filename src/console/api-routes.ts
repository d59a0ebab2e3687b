import { Elysia } from 'elysia'
import type { AuditTrail } from '../audit/audit-trail.ts'
import type { Projects } from '../projects/projects.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { type AuditRoutesOptions, auditRoutes } from './audit-routes.ts'
import { type CallRoutesOptions, consoleCallRoutes } from './call-routes.ts'
import { consoleErasureRoutes, type ErasureRoutesOptions } from './erasure-routes.ts'
import { type KeyRoutesOptions, keyRoutes } from './key-routes.ts'
import { consoleKnowledgeRoutes, type KnowledgeRoutesOptions } from './knowledge-routes.ts'
import type { Invitations } from './people/invitations.ts'
import type { Links } from './people/links.ts'
import type { Members } from './people/members.ts'
import type { OpenSessions } from './people/open-sessions.ts'
import type { People } from './people/people.ts'
import type { Sessions } from './people/sessions.ts'
import type { TwoFactor } from './people/two-factor.ts'
import { peopleRoutes } from './people-routes.ts'
import type { PrivacyParts } from './privacy.ts'
import { projectRoutes } from './project-routes.ts'
import { consoleQuestionRoutes, type QuestionRoutesOptions } from './question-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { consoleSourceRoutes, type SourceRoutesOptions } from './source-routes.ts'
import { viewRoutes } from './view-routes.ts'
import type { Views } from './views.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** The parts that only the console uses. */
export interface ConsoleParts {
  readonly audit: AuditTrail
  readonly sessions: Sessions
  readonly openSessions: OpenSessions
  readonly links: Links
  readonly invitations: Invitations
  readonly members: Members
  readonly people: People
  readonly views: Views
  readonly twoFactor: TwoFactor
}

interface ConsoleApiOptions
  extends CallRoutesOptions,
    KnowledgeRoutesOptions,
    QuestionRoutesOptions,
    KeyRoutesOptions,
    SourceRoutesOptions,
    AuditRoutesOptions,
    ErasureRoutesOptions,
    PrivacyParts {
  console: ConsoleParts
  projects: Projects
  webhooks: Webhooks
  publicUrl: string | null
}

/** The console's own API. It takes a session cookie, never a key; the cookie opens nothing under /v1. */
export function consoleApi({ console, projects, webhooks, publicUrl, ...parts }: ConsoleApiOptions) {
  return new Elysia({ name: 'console-api' })
    .use(sessionRoutes(console))
    .use(projectRoutes({ ...parts, projects }))
    .use(keyRoutes(parts))
    .use(webhookRoutes(webhooks))
    .use(peopleRoutes({ ...console, publicUrl }))
    .use(viewRoutes(console.views))
    .use(auditRoutes({ ...parts, console }))
    .use(consoleCallRoutes(parts))
    .use(consoleKnowledgeRoutes(parts))
    .use(consoleQuestionRoutes(parts))
    .use(consoleSourceRoutes(parts))
    .use(consoleErasureRoutes(parts))
}

/** The type of the page's client. */
export type ConsoleApi = ReturnType<typeof consoleApi>
