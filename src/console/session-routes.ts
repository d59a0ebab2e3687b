import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type { Client } from './people/auth.ts'
import type { Links } from './people/links.ts'
import type { People } from './people/people.ts'
import type { WithCookies } from './people/session-answer.ts'
import type { Sessions } from './people/sessions.ts'
import {
  AcceptInvitation,
  ChangePassword,
  LinkToken,
  PersonName,
  ResetPassword,
  SetUp,
  SignIn,
} from './schemas.ts'

const detail = { hide: true }

/** /console/api: sessions, one-time links and the person's own account. */
export function sessionRoutes(sessions: Sessions, links: Links, people: People) {
  return new Elysia({ prefix: '/console/api' })
    .use(consoleContext())
    .get('/session', async (context) => answer(context, await sessions.current(clientOf(context))), {
      detail,
    })
    .post(
      '/session',
      async (context) => answer(context, await sessions.signIn(context.body, clientOf(context))),
      { parse: 'json', body: bodyOf(SignIn), detail },
    )
    .delete(
      '/session',
      async (context) => answer(context, await sessions.signOut(context.person, clientOf(context))),
      { detail },
    )
    .get('/sessions', async ({ person }) => ({ data: await sessions.list(person) }), { detail })
    .delete(
      '/sessions',
      async (context) => answer(context, await sessions.signOutEverywhere(context.person, clientOf(context))),
      { detail },
    )
    .delete(
      '/sessions/:id',
      (context) => sessions.end(context.person, context.params.id, clientOf(context)),
      { detail },
    )
    .patch('/person', ({ person, body, address }) => people.rename(person, body.name, address), {
      parse: 'json',
      body: bodyOf(PersonName),
      detail,
    })
    .post(
      '/password',
      async (context) =>
        answer(context, await sessions.changePassword(context.person, context.body, clientOf(context))),
      { parse: 'json', body: bodyOf(ChangePassword), detail },
    )
    .post('/links/check', ({ body }) => links.check(body.token), {
      parse: 'json',
      body: bodyOf(LinkToken),
      detail,
    })
    .post(
      '/links/setup',
      async (context) => answer(context, await links.setUp(context.body, clientOf(context))),
      { parse: 'json', body: bodyOf(SetUp), detail },
    )
    .post(
      '/links/invitation',
      async (context) => answer(context, await links.accept(context.body, context.person, clientOf(context))),
      { parse: 'json', body: bodyOf(AcceptInvitation), detail },
    )
    .post(
      '/links/password',
      async (context) => answer(context, await links.resetPassword(context.body, clientOf(context))),
      { parse: 'json', body: bodyOf(ResetPassword), detail },
    )
}

interface ClientContext {
  headers: Record<string, string | undefined>
  address: string | null
}

function clientOf({ headers, address }: ClientContext): Client {
  return { cookies: headers.cookie ?? null, address, userAgent: headers['user-agent'] ?? null }
}

function answer<Answer>(
  { set }: { set: { headers: { 'set-cookie'?: string | string[] } } },
  outcome: WithCookies<Answer>,
): Answer {
  if (outcome.cookies.length > 0) set.headers['set-cookie'] = outcome.cookies
  return outcome.answer
}
