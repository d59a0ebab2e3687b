import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type { LinkAnswer, SessionAnswer, SessionRow } from './answers.ts'
import { notBuilt } from './not-built.ts'
import { AcceptInvitation, ChangePassword, LinkToken, ResetPassword, SetUp, SignIn } from './schemas.ts'

const detail = { hide: true }

/** /console/api: signing in and out, one-time links, and what belongs to the person alone. */
export function sessionRoutes() {
  return new Elysia({ prefix: '/console/api' })
    .use(consoleContext())
    .get('/session', () => notBuilt<SessionAnswer>(), { detail })
    .post('/session', () => notBuilt<SessionAnswer>(), { parse: 'json', body: bodyOf(SignIn), detail })
    .delete('/session', () => notBuilt<{ signedOut: true }>(), { detail })
    .get('/sessions', () => notBuilt<{ data: SessionRow[] }>(), { detail })
    .delete('/sessions', () => notBuilt<{ signedOut: true }>(), { detail })
    .delete('/sessions/:id', () => notBuilt<{ signedOut: true }>(), { detail })
    .post('/password', () => notBuilt<{ changed: true }>(), {
      parse: 'json',
      body: bodyOf(ChangePassword),
      detail,
    })
    .post('/links/check', () => notBuilt<LinkAnswer>(), { parse: 'json', body: bodyOf(LinkToken), detail })
    .post('/links/setup', () => notBuilt<SessionAnswer>(), { parse: 'json', body: bodyOf(SetUp), detail })
    .post('/links/invitation', () => notBuilt<SessionAnswer>(), {
      parse: 'json',
      body: bodyOf(AcceptInvitation),
      detail,
    })
    .post('/links/password', () => notBuilt<SessionAnswer>(), {
      parse: 'json',
      body: bodyOf(ResetPassword),
      detail,
    })
}
