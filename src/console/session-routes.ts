import { consoleRoutes, jsonBody } from './console-routes.ts'
import type { Client } from './people/client.ts'
import type { Links } from './people/links.ts'
import type { People } from './people/people.ts'
import type { WithCookies } from './people/session-answer.ts'
import type { Sessions } from './people/sessions.ts'
import type { TwoFactor } from './people/two-factor.ts'
import {
  AcceptInvitation,
  ChangePassword,
  LinkToken,
  NewName,
  OwnPassword,
  PasswordAndCode,
  ResetPassword,
  SecondFactor,
  SetUp,
  SignIn,
} from './schemas.ts'

interface SessionRoutesOptions {
  sessions: Sessions
  links: Links
  people: People
  twoFactor: TwoFactor
}

/** /console/api: sessions, one-time links and the person's own account. */
export function sessionRoutes({ sessions, links, people, twoFactor }: SessionRoutesOptions) {
  return consoleRoutes('/console/api')
    .derive(({ headers, address }): { client: Client } => ({
      client: { cookies: headers.cookie ?? null, address, userAgent: headers['user-agent'] ?? null },
    }))
    .get('/session', async ({ set, client }) => answer(set, await sessions.current(client)))
    .post(
      '/session',
      async ({ set, body, client }) => answer(set, await sessions.signIn(body, client)),
      jsonBody(SignIn),
    )
    .post(
      '/session/code',
      async ({ set, body, client }) => answer(set, await sessions.enterCode(body.code, client)),
      jsonBody(SecondFactor),
    )
    .delete('/session', async ({ set, person, client }) =>
      answer(set, await sessions.signOut(person, client, 'here')),
    )
    .get('/sessions', async ({ person }) => ({ data: await sessions.list(person) }))
    .delete('/sessions', async ({ set, person, client }) =>
      answer(set, await sessions.signOut(person, client, 'everywhere')),
    )
    .delete('/sessions/:id', ({ person, by, params }) => sessions.end(person, params.id, by))
    .patch('/person', ({ person, by, body }) => people.rename(person, body.name, by), jsonBody(NewName))
    .post(
      '/password',
      async ({ set, body, person, client }) =>
        answer(set, await sessions.changePassword(person, body, client)),
      jsonBody(ChangePassword),
    )
    .get('/two-factor', ({ person }) => twoFactor.state(person))
    .post(
      '/two-factor',
      ({ person, body, client }) => twoFactor.setUp(person, body.password, client),
      jsonBody(OwnPassword),
    )
    .post(
      '/two-factor/turn-on',
      async ({ set, person, body, client }) => answer(set, await twoFactor.turnOn(person, body.code, client)),
      jsonBody(SecondFactor),
    )
    .post(
      '/two-factor/turn-off',
      async ({ set, person, body, client }) => answer(set, await twoFactor.turnOff(person, body, client)),
      jsonBody(PasswordAndCode),
    )
    .post(
      '/two-factor/backup-codes',
      ({ person, body, client }) => twoFactor.renewBackupCodes(person, body, client),
      jsonBody(PasswordAndCode),
    )
    .post('/links/check', ({ body }) => links.check(body.token), jsonBody(LinkToken))
    .post(
      '/links/setup',
      async ({ set, body, client }) => answer(set, await links.setUp(body, client)),
      jsonBody(SetUp),
    )
    .post(
      '/links/invitation',
      async ({ set, body, person, client }) => answer(set, await links.accept(body, person, client)),
      jsonBody(AcceptInvitation),
    )
    .post(
      '/links/password',
      async ({ set, body, client }) => answer(set, await links.resetPassword(body, client)),
      jsonBody(ResetPassword),
    )
}

function answer<Answer>(
  set: { headers: { 'set-cookie'?: string | string[] } },
  outcome: WithCookies<Answer>,
): Answer {
  if (outcome.cookies.length > 0) set.headers['set-cookie'] = outcome.cookies
  return outcome.answer
}
