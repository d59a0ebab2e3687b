import { Elysia } from 'elysia'
import type { openAccess } from '../access/open-access.ts'
import type { Alerts } from '../alerts/alerts.ts'
import type { AuditTrail } from '../audit/audit-trail.ts'
import type { Cases } from '../cases/cases.ts'
import { alertRoutes } from './alert-routes.ts'
import { type AnalysisParts, analysisRoutes } from './analysis-routes.ts'
import { type CallParts, callRoutes, callSetRoutes, viewRoutes } from './call-routes.ts'
import { caseRoutes } from './case-routes.ts'
import {
  type KnowledgeParts,
  knowledgeRoutes,
  type QuestionParts,
  questionRoutes,
} from './knowledge-routes.ts'
import type { openConsole } from './open-console.ts'
import { operatorRoutes } from './operator-routes.ts'
import { peopleRoutes } from './people-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { type SettingsParts, settingsRoutes } from './settings-routes.ts'

type OpenPeople = ReturnType<typeof openAccess>['people']

/** The parts that only the console uses. */
interface ConsoleParts extends OpenPeople, ReturnType<typeof openConsole> {
  audit: AuditTrail
}

interface ConsoleApiOptions
  extends CallParts,
    AnalysisParts,
    KnowledgeParts,
    Omit<QuestionParts, 'members'>,
    Omit<SettingsParts, 'audit'> {
  console: ConsoleParts
  alerts: Alerts
  cases: Cases
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
    .use(callSetRoutes({ ...parts, members: console.members }))
    .use(analysisRoutes(parts))
    .use(alertRoutes(parts))
    .use(caseRoutes(parts))
    .use(viewRoutes(console.views))
    .use(knowledgeRoutes(parts))
    .use(questionRoutes({ ...parts, members: console.members }))
}

/** The type of the page's client. */
export type ConsoleApi = ReturnType<typeof consoleApi>
