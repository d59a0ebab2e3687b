import { Elysia } from 'elysia'
import type { Alerts } from '../alerts/alerts.ts'
import type { AuditTrail } from '../audit/audit-trail.ts'
import { alertRoutes } from './alert-routes.ts'
import { type AnalysisParts, analysisRoutes } from './analysis-routes.ts'
import { type CallParts, callRoutes, viewRoutes } from './call-routes.ts'
import {
  type KnowledgeParts,
  knowledgeRoutes,
  type QuestionParts,
  questionRoutes,
} from './knowledge-routes.ts'
import type { ServiceState } from './operator/service-state.ts'
import { operatorRoutes } from './operator-routes.ts'
import type { Invitations } from './people/invitations.ts'
import type { Links } from './people/links.ts'
import type { Members } from './people/members.ts'
import type { OpenSessions } from './people/open-sessions.ts'
import type { People } from './people/people.ts'
import type { ProviderSignIn } from './people/provider-sign-in.ts'
import type { Sessions } from './people/sessions.ts'
import type { TwoFactor } from './people/two-factor.ts'
import type { TwoFactorRule } from './people/two-factor-rule.ts'
import { peopleRoutes } from './people-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { type SettingsParts, settingsRoutes } from './settings-routes.ts'
import type { Views } from './views.ts'

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
  readonly twoFactorRule: TwoFactorRule
  readonly serviceState: ServiceState
  readonly providerSignIn: ProviderSignIn
}

interface ConsoleApiOptions
  extends CallParts,
    AnalysisParts,
    KnowledgeParts,
    Omit<QuestionParts, 'members'>,
    Omit<SettingsParts, 'audit'> {
  console: ConsoleParts
  alerts: Alerts
  publicUrl: string | null
}

/** The console's own API. It takes a session cookie, never a key; the cookie opens nothing under /v1. */
export function consoleApi({ console, publicUrl, ...parts }: ConsoleApiOptions) {
  return new Elysia({ name: 'console-api' })
    .use(sessionRoutes(console))
    .use(operatorRoutes(console))
    .use(peopleRoutes({ ...console, publicUrl }))
    .use(settingsRoutes({ ...parts, audit: console.audit }))
    .use(callRoutes(parts))
    .use(analysisRoutes(parts))
    .use(alertRoutes(parts))
    .use(viewRoutes(console.views))
    .use(knowledgeRoutes(parts))
    .use(questionRoutes({ ...parts, members: console.members }))
}

/** The type of the page's client. */
export type ConsoleApi = ReturnType<typeof consoleApi>
