import type { Client } from '../access/people/client.ts'
import type { Links } from '../access/people/links.ts'
import type { People } from '../access/people/people.ts'
import type { ProviderSignIn } from '../access/people/provider-sign-in.ts'
import {
  AcceptInvitation,
  ChangePassword,
  FinishedSignIn,
  LinkToken,
  OwnPassword,
  PasswordAndCode,
  ResetPassword,
  SecondFactor,
  SetUp,
  SignIn,
} from '../access/people/schemas.ts'
import type { Sessions } from '../access/people/sessions.ts'
import type { TwoFactor } from '../access/people/two-factor.ts'
import { NoMembers } from '../validation.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { NewName } from './schemas.ts'

interface SessionRoutesOptions {
  sessions: Sessions
  links: Links
  people: People
  twoFactor: TwoFactor
  providerSignIn: ProviderSignIn
}

/** /console/api: sessions, one-time links and the person's own account. */
export function sessionRoutes({ sessions, links, people, twoFactor, providerSignIn }: SessionRoutesOptions) {
  return consoleRoutes('/console/api')
    .derive(({ headers, address, request, set }): { client: Client } => ({
      client: {
        origin: headers.origin ?? new URL(request.url).origin,
        cookies: headers.cookie ?? null,
        address,
        userAgent: headers['user-agent'] ?? null,
        keepCookies: (cookieHeaders) => {
          const cookies = cookieHeaders.getSetCookie()
          if (cookies.length > 0) set.headers['set-cookie'] = cookies
        },
      },
    }))
    .get('/session', ({ client }) => sessions.current(client))
    .post('/session', ({ body, client }) => sessions.signIn(body, client), jsonBody(SignIn))
    .post(
      '/session/code',
      ({ body, client }) => sessions.enterCode(body.code, client),
      jsonBody(SecondFactor),
    )
    .post('/session/oidc', ({ client }) => providerSignIn.begin(client), jsonBody(NoMembers))
    .post(
      '/session/oidc/return',
      ({ body, client }) => providerSignIn.finish(body, client),
      jsonBody(FinishedSignIn),
    )
    .delete('/session', ({ person, client }) => sessions.signOut(person, client, 'here'))
    .get('/sessions', async ({ person }) => ({ data: await sessions.list(person) }))
    .delete('/sessions', ({ person, client }) => sessions.signOut(person, client, 'everywhere'))
    .delete('/sessions/:id', ({ person, by, params }) => sessions.end(person, params.id, by))
    .patch('/person', ({ person, by, body }) => people.rename(person, body.name, by), jsonBody(NewName))
    .post(
      '/password',
      ({ body, person, client }) => sessions.changePassword(person, body, client),
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
      ({ person, body, client }) => twoFactor.turnOn(person, body.code, client),
      jsonBody(SecondFactor),
    )
    .post(
      '/two-factor/turn-off',
      ({ person, body, client }) => twoFactor.turnOff(person, body, client),
      jsonBody(PasswordAndCode),
    )
    .post(
      '/two-factor/backup-codes',
      ({ person, body, client }) => twoFactor.renewBackupCodes(person, body, client),
      jsonBody(PasswordAndCode),
    )
    .post('/links/check', ({ body }) => links.check(body.token), jsonBody(LinkToken))
    .post('/links/setup', ({ body, client }) => links.setUp(body, client), jsonBody(SetUp))
    .post(
      '/links/invitation',
      ({ body, person, client }) => links.accept(body, person, client),
      jsonBody(AcceptInvitation),
    )
    .post('/links/password', ({ body, client }) => links.resetPassword(body, client), jsonBody(ResetPassword))
}
