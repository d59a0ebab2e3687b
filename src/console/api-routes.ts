import { Elysia } from 'elysia'
import { consoleCallRoutes } from './call-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { consoleKnowledgeRoutes } from './knowledge-routes.ts'
import { peopleRoutes } from './people-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { sessionRoutes } from './session-routes.ts'

/** The console's own interface. A cookie opens it, never a key; and it opens nothing under /v1. */
export function consoleApi() {
  return new Elysia({ name: 'console-api' })
    .use(sessionRoutes())
    .use(projectRoutes())
    .use(keyRoutes())
    .use(peopleRoutes())
    .use(consoleCallRoutes())
    .use(consoleKnowledgeRoutes())
}

/** What the page's client is typed by. */
export type ConsoleApi = ReturnType<typeof consoleApi>
