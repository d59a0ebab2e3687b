import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type { AuditRows, CreatedInvitation, PeopleAnswer } from './answers.ts'
import { notBuilt } from './not-built.ts'
import { NewInvitation, NewRole, PageRequest } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects/:project/people, /invitations and /audit: for owners. */
export function peopleRoutes() {
  return new Elysia({ prefix: '/console/api/projects/:project' })
    .use(consoleContext())
    .get('/people', () => notBuilt<PeopleAnswer>(), { detail })
    .patch('/people/:id', () => notBuilt<{ id: string }>(), { parse: 'json', body: bodyOf(NewRole), detail })
    .delete('/people/:id', () => notBuilt<{ id: string; removed: true }>(), { detail })
    .post('/invitations', () => notBuilt<CreatedInvitation>(), {
      parse: 'json',
      body: bodyOf(NewInvitation),
      detail,
    })
    .delete('/invitations/:id', () => notBuilt<{ id: string; removed: true }>(), { detail })
    .get('/audit', () => notBuilt<AuditRows>(), { query: bodyOf(PageRequest), detail })
}
