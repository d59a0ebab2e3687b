import { Elysia } from 'elysia'
import type { Call } from '../calls/schemas.ts'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type {
  CallFacets,
  CallRows,
  CallsOfDay,
  DurationBucket,
  EndReason,
  KnowledgeFigures,
  OverviewFigures,
} from './answers.ts'
import { notBuilt } from './not-built.ts'
import { CallFilters, Period } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects/:project/calls and /overview: what the agents did. */
export function consoleCallRoutes() {
  return new Elysia({ prefix: '/console/api/projects/:project' })
    .use(consoleContext())
    .get('/calls', () => notBuilt<CallRows>(), { query: bodyOf(CallFilters), detail })
    .get('/calls/facets', () => notBuilt<CallFacets>(), { detail })
    .get('/calls/:id', () => notBuilt<Call>(), { detail })
    .delete('/calls/:id', () => notBuilt<{ id: string; deleted: true }>(), { detail })
    .get('/overview/figures', () => notBuilt<OverviewFigures>(), { query: bodyOf(Period), detail })
    .get('/overview/days', () => notBuilt<{ data: CallsOfDay[] }>(), { query: bodyOf(Period), detail })
    .get('/overview/durations', () => notBuilt<{ data: DurationBucket[] }>(), {
      query: bodyOf(Period),
      detail,
    })
    .get('/overview/end-reasons', () => notBuilt<{ data: EndReason[] }>(), { query: bodyOf(Period), detail })
    .get('/overview/knowledge', () => notBuilt<KnowledgeFigures>(), { detail })
}
