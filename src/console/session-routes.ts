import { consoleRoutes, jsonBody } from './console-routes.ts'
import type { Client } from './people/auth.ts'
import type { Links } from './people/links.ts'
import type { People } from './people/people.ts'
import type { WithCookies } from './people/session-answer.ts'
import type { Sessions } from './people/sessions.ts'
import {
  AcceptInvitation,
  ChangePassword,
  LinkToken,
  NewName,
  ResetPassword,
  SetUp,
  SignIn,
} from './schemas.ts'

/** /console/api: sessions, one-time links and the person's own account. */
export function sessionRoutes(sessions: Sessions, links: Links, people: People) {
  return consoleRoutes('/console/api')
    .get('/session', async (context) => answer(context, await sessions.current(clientOf(context))))
    .post(
      '/session',
      async (context) => answer(context, await sessions.signIn(context.body, clientOf(context))),
      jsonBody(SignIn),
    )
    .delete('/session', async (context) =>
      answer(context, await sessions.signOut(context.person, clientOf(context))),
    )
    .get('/sessions', async ({ person }) => ({ data: await sessions.list(person) }))
    .delete('/sessions', async (context) =>
      answer(context, await sessions.signOutEverywhere(context.person, clientOf(context))),
    )
    .delete('/sessions/:id', ({ person, by, params }) => sessions.end(person, params.id, by))
    .patch('/person', ({ person, by, body }) => people.rename(person, body.name, by), jsonBody(NewName))
    .post(
      '/password',
      async (context) =>
        answer(context, await sessions.changePassword(context.person, context.body, clientOf(context))),
      jsonBody(ChangePassword),
    )
    .post('/links/check', ({ body }) => links.check(body.token), jsonBody(LinkToken))
    .post(
      '/links/setup',
      async (context) => answer(context, await links.setUp(context.body, clientOf(context))),
      jsonBody(SetUp),
    )
    .post(
      '/links/invitation',
      async (context) => answer(context, await links.accept(context.body, context.person, clientOf(context))),
      jsonBody(AcceptInvitation),
    )
    .post(
      '/links/password',
      async (context) => answer(context, await links.resetPassword(context.body, clientOf(context))),
      jsonBody(ResetPassword),
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
