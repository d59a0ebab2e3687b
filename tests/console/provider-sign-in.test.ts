import { beforeAll, describe, expect, test } from 'bun:test'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { accounts, members, people, projectErasures, sessions } from '../../src/db/schema.ts'
import { browserOf, cookieOf, passwordToken, startConsole, type TestConsole } from '../support/console.ts'
import { type ProviderAccount, startIdentityProvider } from '../support/identity-provider.ts'
import { expectProblem } from '../support/problem.ts'
import {
  beginSignIn,
  finishSignIn,
  returnPath,
  signInAtProvider,
  visitProvider,
} from '../support/provider-sign-in.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { totp } from '../support/totp.ts'
import { until } from '../support/until.ts'

let made = 0

const proxies = { TRUSTED_PROXIES: '127.0.0.1' }

const provider = await startIdentityProvider()
const service = await startService({
  env: {
    ...proxies,
    ...provider.env,
    OIDC_ALLOWED_DOMAINS: 'example.com',
    // Of projects that the tests create.
    OIDC_ROLES:
      'staff=Support:member,leads=Support:owner,eyes=Support:viewer,all=*:viewer,a\\, b=Sales:member',
  },
})
const set = await startConsole(service)
const project = await set.mintProject()
await service.services.projects.rename(project.projectId, 'Support')
const returnUrl = service.url + returnPath
await provider.serve({ returnUrl })

/** Somebody new at the provider, who signs in there next. */
function atProvider(claims: Partial<ProviderAccount> = {}): ProviderAccount & { email: string } {
  const sub = `sub${++made}`
  const account = {
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    name: `Person ${made}`,
    ...claims,
  }
  provider.accounts.push(account)
  provider.signsIn = account
  return account
}

/** Somebody of the staff who has begun to sign in. */
async function staffBegins(cookie?: string) {
  atProvider({ groups: ['staff'] })
  return await beginSignIn(service, cookie)
}

/** The same, when the provider has sent their browser back. */
async function staffReturns() {
  const { browser, url } = await staffBegins()
  return { browser, returned: await visitProvider(url) }
}

async function rolesIn(answer: Response): Promise<Record<string, string>> {
  expect(answer.status).toBe(200)
  const { projects } = await answer.json()
  return Object.fromEntries(projects.map(({ name, role }: { name: string; role: string }) => [name, role]))
}

/** How many rows of whatever a sign-in may write there are. */
async function stored(): Promise<Record<string, number>> {
  const tables = ['people', 'accounts', 'sessions', 'members', 'verifications', 'audit_events', 'invitations']
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`)
  const [row] = await service.services.database.read.all<Record<string, number>>(
    sql.raw(`select ${counts.join(', ')}`),
  )
  return row ?? {}
}

/** That a sign-in is refused in this sentence, and leaves nothing. */
async function expectRefused(detail: string | RegExp, act = () => signInAtProvider(service)): Promise<void> {
  const before = await stored()
  const answer = await act()
  const problem = await expectProblem(answer, 'forbidden')
  expect(problem.detail).toMatch(detail)
  expect(answer.headers.getSetCookie()).toEqual([])
  expect(await stored()).toEqual(before)
}

const notBegun = async (answer: Response) => {
  const problem = await expectProblem(answer, 'not_signed_in')
  expect(problem.detail).toBe('This sign-in has expired or was completed before. Sign in again.')
  expect(answer.headers.getSetCookie()).toEqual([])
}

/** Why sign-ins failed, in the log. */
const causes = () => service.logs.map(({ error }) => Object.values(error ?? {}).join(' ')).join('\n')

const auditOf = async (of: TestProject) =>
  (await set.owner.read(`/projects/${of.id}/audit`)).data.map(
    ({ action, actor, target }: Record<string, string>) => ({ action, actor, target }),
  )

describe('signing in at a provider', () => {
  test('asks for a code with PKCE, state and nonce, and comes back to the console', async () => {
    const { url, cookie } = await beginSignIn(service)
    expect(url.origin).toBe(provider.issuer)
    const { state, nonce, code_challenge, ...asked } = Object.fromEntries(url.searchParams)
    expect(asked).toEqual({
      client_id: 'callbook',
      redirect_uri: returnUrl,
      response_type: 'code',
      scope: 'openid email profile groups',
      code_challenge_method: 'S256',
    })
    for (const random of [state, nonce, code_challenge]) expect(random).toMatch(/^[\w-]{43}$/)
    const next = await beginSignIn(service)
    expect(next.url.searchParams.get('state')).not.toBe(state ?? null)
    expect(cookie).toMatch(/^callbook\.provider=[^;]+$/)
    for (const random of [state, nonce, code_challenge]) expect(cookie).not.toContain(random ?? '')
  })

  test('scripts, other sites and other paths than the console do not get the cookie of a sign-in', async () => {
    const [cookie = ''] = (await set.nobody.send('POST', '/session/oidc', {})).headers.getSetCookie()
    expect(cookie.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=600',
      'Path=/console',
      'SameSite=Lax',
    ])
  })

  test.each([true, false])(
    'lets in who is in a mapped group (claims in the ID token: %p)',
    async (inToken) => {
      await provider.serve({ returnUrl, claimsInIdToken: inToken })
      provider.requests.splice(0)
      const { email, name } = atProvider({ groups: ['others', 'staff'] })
      const answer = await signInAtProvider(service)
      expect(provider.requests.filter((line) => line === 'GET /me')).toHaveLength(inToken ? 0 : 1)
      const session = await answer.clone().json()
      expect(session.person).toEqual({ id: expect.stringMatching(/^per_/), name, email })
      expect(session).toMatchObject({ hasPassword: false, provider: { name: 'Acme', isOnly: false } })
      expect(await rolesIn(answer)).toEqual({ Support: 'member' })
      const browser = browserOf(service, cookieOf(answer))
      expect((await browser.read('/session')).person.email).toBe(email)
      const trail = await auditOf(project)
      const actor = `${name} (${email})`
      expect(trail.slice(0, 3)).toEqual([
        { action: 'signed_in', actor, target: 'Acme' },
        { action: 'sign_in_linked', actor, target: 'Acme' },
        { action: 'role_changed', actor, target: `${actor} → member` },
      ])
    },
  )

  test('ends the session that the browser had', async () => {
    const before = await set.join(project, 'viewer')
    const { browser, url } = await staffBegins(before.cookie)
    expect((await finishSignIn(browser, await visitProvider(url))).status).toBe(200)
    expect((await before.fetch('/sessions')).status).toBe(401)
  })

  test('the session ends after the configured hours, however often it is used', async () => {
    const { email } = atProvider({ groups: ['staff'] })
    const begun = Date.now()
    const answer = await signInAtProvider(service)
    expect(answer.headers.getSetCookie().at(-1)).toContain('Max-Age=43200')
    const { write } = service.services.database
    const ofPerson = sql`user_id = (select id from people where email = ${email})`
    const [session] = await write.select().from(sessions).where(ofPerson)
    const endsAt = session?.expiresAt.getTime() ?? 0
    expect(Math.abs(endsAt - begun - 12 * 3_600_000)).toBeLessThan(60_000)
    const browser = browserOf(service, cookieOf(answer))
    await write
      .update(sessions)
      .set({ updatedAt: new Date(begun - 700_000) })
      .where(ofPerson)
    expect((await browser.read('/session')).person.email).toBe(email)
    const [used] = await write.select().from(sessions).where(ofPerson)
    expect(used?.expiresAt.getTime()).toBe(endsAt)
    expect(used?.updatedAt.getTime()).toBeGreaterThanOrEqual(begun)
  })

  test('without a provider there is nothing to sign in with', async () => {
    const plain = await startService()
    const nobody = browserOf(plain, null)
    for (const [path, body] of [
      ['/session/oidc', {}],
      ['/session/oidc/return', { query: '?code=x&state=y' }],
    ] as const)
      await expectProblem(await nobody.send('POST', path, body), 'not_found')
    expect((await nobody.read('/session')).provider).toBeNull()
    await plain.stop()
  })
})

describe('who is not let in', () => {
  test.each(['others', 'a, b'])(
    'has no invitation, and no group for a project that exists (%p)',
    async (group) => {
      atProvider({ groups: [group] })
      await expectRefused('You are not in any project here.')
    },
  )

  test.each([false, undefined, 'false'])('has an address that is not verified (%p)', async (verified) => {
    atProvider({ groups: ['staff'], email_verified: verified })
    await expectRefused('Acme does not say that your email address is verified.')
  })

  test.each(['ada@example.org', 'ada@sub.example.com', 'ada@example.com@evil.example', 'example.com'])(
    'has an address of another domain (%p)',
    async (email) => {
      atProvider({ groups: ['staff'], email })
      await expectRefused(/may not sign in here|does not say/)
    },
  )

  test('opens a used or unknown invitation', async () => {
    const invitation = await set.invite(project, 'member')
    atProvider()
    expect((await signInAtProvider(service, { invitation })).status).toBe(200)
    for (const dead of [invitation, 'never existed']) {
      atProvider()
      await expectRefused('You are not in any project here.', () =>
        signInAtProvider(service, { invitation: dead }),
      )
    }
  })

  test('declines at the provider', async () => {
    provider.signsIn = { sub: 'nobody' }
    await expectRefused('Acme has not signed you in.')
  })
})

describe('accounts', () => {
  test('an invited person joins, and needs no invitation later', async () => {
    const account = atProvider()
    const invitation = await set.invite(project, 'viewer')
    expect(await rolesIn(await signInAtProvider(service, { invitation }))).toEqual({ Support: 'viewer' })
    expect((await set.nobody.send('POST', '/links/check', { token: invitation })).status).toBe(404)
    provider.signsIn = account
    expect(await rolesIn(await signInAtProvider(service))).toEqual({ Support: 'viewer' })
  })

  test('one with the same verified address is linked, and its second factor is not asked', async () => {
    const person = await set.join(project, 'member')
    const { secret } = await (await person.send('POST', '/two-factor', { password: person.password })).json()
    await person.send('POST', '/two-factor/turn-on', { code: totp(secret) })
    atProvider({ email: ` ${person.email.toUpperCase()}`, name: 'Another name' })
    const session = await (await signInAtProvider(service)).json()
    expect(session).toMatchObject({
      person: { id: person.personId, name: person.name, email: person.email },
      needsCode: false,
    })
  })

  test('a password that somebody chose under an unchecked address ends when its owner is linked', async () => {
    const stranger = await set.join(project, 'viewer')
    const token = await passwordToken(service, stranger.email)
    atProvider({ email: stranger.email, groups: ['leads'] })
    const owner = await signInAtProvider(service)
    const [session, cookie] = [await owner.clone().json(), cookieOf(owner)]
    expect(await rolesIn(owner)).toMatchObject({ Support: 'owner' })
    expect(session).toMatchObject({ person: { id: stranger.personId }, hasPassword: false })
    expect((await browserOf(service, cookie).fetch(`/projects/${project.id}/keys`)).status).toBe(200)

    expect((await stranger.fetch(`/projects/${project.id}/keys`)).status).toBe(401)
    const { email, password } = stranger
    expect((await set.nobody.send('POST', '/session', { email, password })).status).toBe(401)
    const reset = { token, password: 'a new password' }
    expect((await set.nobody.send('POST', '/links/password', reset)).status).toBe(404)
  })

  test('whoever is signed in when their account is linked keeps their password', async () => {
    const person = await set.join(project, 'member')
    atProvider({ email: person.email })
    const { browser, url } = await beginSignIn(service, person.cookie)
    const answer = await finishSignIn(browser, await visitProvider(url))
    expect(await answer.clone().json()).toMatchObject({ person: { id: person.personId }, hasPassword: true })
    const { email, password } = person
    expect((await set.nobody.send('POST', '/session', { email, password })).status).toBe(200)

    // A new one is theirs as well, and they stay who they are at the provider.
    const newPassword = 'a brand new password'
    const passwords = { currentPassword: password, newPassword }
    expect((await browserOf(service, cookieOf(answer)).send('POST', '/password', passwords)).status).toBe(200)
    expect(await (await signInAtProvider(service)).json()).toMatchObject({ hasPassword: true })
    expect((await set.nobody.send('POST', '/session', { email, password: newPassword })).status).toBe(200)
  })

  test('a session ends no later because the second factor is turned on in it', async () => {
    const person = await set.join(project, 'member')
    atProvider({ email: person.email })
    const { browser, url } = await beginSignIn(service, person.cookie)
    const mine = browserOf(service, cookieOf(await finishSignIn(browser, await visitProvider(url))))
    const { secret } = await (await mine.send('POST', '/two-factor', { password: person.password })).json()
    expect((await mine.send('POST', '/two-factor/turn-on', { code: totp(secret) })).status).toBe(200)
    const { read } = service.services.database
    const [latest] = await read
      .select()
      .from(sessions)
      .where(and(eq(sessions.userId, person.personId), isNotNull(sessions.endsAt)))
    expect(Number(latest?.endsAt)).toBeGreaterThan(Date.now())
    expect(Number(latest?.expiresAt)).toBeLessThanOrEqual(Number(latest?.endsAt))
  })

  test('one with an address that the provider has not verified is not', async () => {
    const { email } = await set.join(project, 'member')
    atProvider({ email, email_verified: false })
    await expectRefused('Acme does not say that your email address is verified.')
  })

  test('a linked one is found by the id at the provider when the address has changed', async () => {
    const account = atProvider({ groups: ['staff'] })
    const first = await (await signInAtProvider(service)).json()
    account.email = 'married@example.com'
    expect((await (await signInAtProvider(service)).json()).person).toEqual(first.person)
  })

  test('somebody else at the provider does not get it by having its address now', async () => {
    const { email } = atProvider({ groups: ['staff'] })
    expect((await signInAtProvider(service)).status).toBe(200)
    atProvider({ email, groups: ['staff'] })
    await expectRefused('Your account here belongs to someone else at Acme.')
    // A link to a new password forgets who that was.
    const reset = { token: await passwordToken(service, email), password: 'a new password' }
    expect((await set.nobody.send('POST', '/links/password', reset)).status).toBe(200)
    expect((await signInAtProvider(service)).status).toBe(200)
  })

  test('the console’s owner gets in without any project', async () => {
    const { write } = service.services.database
    const { personId, email } = set.owner
    const kept = await write.select().from(members).where(eq(members.personId, personId))
    await write.delete(members).where(eq(members.personId, personId))
    atProvider({ email })
    const session = await (await signInAtProvider(service)).json()
    await write.insert(members).values(kept)
    expect(session).toMatchObject({ person: { id: personId }, projects: [], ownsConsole: true })
  })
})

describe('roles by group', () => {
  test('are given and taken at each sign-in, the highest one counts', async () => {
    const account = atProvider({ groups: ['eyes', 'staff'] })
    const signIn = async (groups: string[]) => {
      account.groups = groups
      return await rolesIn(await signInAtProvider(service))
    }
    expect(await signIn(['eyes', 'staff'])).toEqual({ Support: 'member' })
    expect(await signIn(['leads', 'staff'])).toEqual({ Support: 'owner' })
    expect(await signIn(['eyes'])).toEqual({ Support: 'viewer' })
    const everywhere = await signIn(['all', 'staff'])
    expect(everywhere).toMatchObject({ Support: 'member', default: 'viewer' })
    expect(await signIn(['eyes'])).toEqual({ Support: 'viewer' })
    const actor = `${account.name} (${account.email})`
    const roles = (await auditOf(project)).filter(
      (entry: { action: string; actor: string }) => entry.actor === actor && entry.action === 'role_changed',
    )
    expect(roles.map(({ target }: { target: string }) => target)).toEqual(
      ['viewer', 'member', 'viewer', 'owner', 'member'].map((role) => `${actor} → ${role}`),
    )
  })

  test('who has lost every group loses every role and gets in nowhere', async () => {
    const account = atProvider({ groups: ['staff'] })
    const cookie = cookieOf(await signInAtProvider(service))
    account.groups = []
    const refused = await signInAtProvider(service)
    await expectProblem(refused, 'forbidden')
    const open = await browserOf(service, cookie).read('/session')
    expect(open.projects).toEqual([])
    expect((await auditOf(project))[0]).toMatchObject({
      action: 'role_changed',
      target: `${account.name} (${account.email}) → none`,
    })
  })

  test('are taken from the last owner too, with the invitations that this owner made', async () => {
    const lone = await service.services.projects.create('Sales')
    const account = atProvider({ groups: ['staff'] })
    const { person } = await (await signInAtProvider(service)).json()
    const { write, read } = service.services.database
    await write.insert(members).values({
      projectId: lone.projectId,
      personId: person.id,
      role: 'owner',
      withoutGroups: 'none',
      createdAt: 1,
    })
    const by = { actor: { id: person.id, name: null }, address: null }
    const { invitations } = service.services.console
    await invitations.create(lone.projectId, 'owner', service.url, by)
    account.groups = ['a, b', 'staff']
    expect(await rolesIn(await signInAtProvider(service))).toEqual({ Sales: 'member', Support: 'member' })
    expect(await invitations.list(lone.projectId)).toEqual([])
    const owners = await read.select().from(members).where(eq(members.projectId, lone.projectId))
    expect(owners.map(({ role }) => role)).toEqual(['member'])
    await service.services.projects.delete(lone.projectId, { confirm: 'Sales' })
    // Its audit trail goes in the background, which other tests would take for their own doing.
    await until(async () =>
      (await read.select().from(projectErasures)).every(({ doneAt }) => doneAt !== null),
    )
  })

  test('come and go above the role that a person was given here', async () => {
    const invitation = await set.invite(project, 'member')
    const account = atProvider({ groups: ['leads'] })
    const signIn = async (groups: string[], joins?: string) => {
      account.groups = groups
      return await rolesIn(await signInAtProvider(service, joins === undefined ? {} : { invitation: joins }))
    }
    expect(await signIn(['leads'], invitation)).toEqual({ Support: 'owner' })
    expect(await signIn(['eyes'])).toEqual({ Support: 'member' })
    expect(await signIn([])).toEqual({ Support: 'member' })
    expect(await signIn(['leads'])).toEqual({ Support: 'owner' })
    expect(await signIn([], await set.invite(project, 'viewer'))).toEqual({ Support: 'member' })
  })

  test('what an owner changes by hand is the person’s own from then on', async () => {
    const account = atProvider({ groups: ['staff'] })
    const { person } = await (await signInAtProvider(service)).json()
    const change = { role: 'viewer' }
    await set.owner.send('PATCH', `/projects/${project.id}/people/${person.id}`, change)
    expect(await rolesIn(await signInAtProvider(service))).toEqual({ Support: 'member' })
    account.groups = []
    expect(await rolesIn(await signInAtProvider(service))).toEqual({ Support: 'viewer' })
  })
})

describe('an answer that is not the provider’s to this sign-in', () => {
  test('a code works once', async () => {
    const { browser, returned } = await staffReturns()
    expect((await finishSignIn(browser, returned)).status).toBe(200)
    // With the cookie that the browser was told to forget.
    await notBegun(await finishSignIn(browser, returned))
  })

  test('the state of an earlier sign-in is refused, as is one of another browser, or none', async () => {
    atProvider({ groups: ['staff'] })
    const [earlier, later] = [await beginSignIn(service), await beginSignIn(service)]
    const returned = await visitProvider(earlier.url)
    provider.requests.splice(0)
    await notBegun(await finishSignIn(later.browser, returned))
    await notBegun(await finishSignIn(browserOf(service, null), returned))
    await notBegun(
      await finishSignIn(browserOf(service, earlier.cookie.replace(/=.{8}/, '=AAAAAAAA')), returned),
    )
    returned.searchParams.delete('state')
    await notBegun(await finishSignIn(earlier.browser, returned))
    expect(provider.requests).toEqual([])
  })

  test('a code of another sign-in is refused, with its own state put in', async () => {
    atProvider({ groups: ['staff'] })
    const [own, foreign] = [await beginSignIn(service), await beginSignIn(service)]
    const returned = await visitProvider(foreign.url)
    returned.searchParams.set('state', own.url.searchParams.get('state') ?? '')
    // PKCE: the code belongs to the other verifier.
    await notBegun(await finishSignIn(own.browser, returned))
  })

  test('an ID token with another nonce is refused', async () => {
    const { browser, url } = await staffBegins()
    url.searchParams.set('nonce', 'another')
    const returned = await visitProvider(url)
    await expectRefused('The answer of Acme is not valid.', () => finishSignIn(browser, returned))
    expect(causes()).toContain('unexpected ID Token "nonce" claim value')
  })

  test('another issuer in the answer is refused', async () => {
    const { browser, returned } = await staffReturns()
    returned.searchParams.set('iss', 'https://evil.example')
    await expectRefused('The answer of Acme is not valid.', () => finishSignIn(browser, returned))
  })

  test('a provider that says it is another is refused', async () => {
    atProvider({ groups: ['staff'] })
    await provider.serve({ returnUrl, issuer: 'http://127.0.0.1:1' })
    await expectRefused('The answer of Acme is not valid.', () =>
      set.nobody.send('POST', '/session/oidc', {}),
    )
    expect(causes()).toContain('does not match the expected issuer')
    await provider.serve({ returnUrl })
  })

  test('an ID token of another issuer is refused', async () => {
    const { browser, returned } = await staffReturns()
    const metadata = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).text()
    await provider.serve({ returnUrl, issuer: 'http://127.0.0.1:1' })
    provider.instead = (path) => (path.startsWith('/.well-known') ? { status: 200, body: metadata } : null)
    await expectRefused('The answer of Acme is not valid.', () => finishSignIn(browser, returned))
    provider.instead = null
    await provider.serve({ returnUrl })
  })

  test('an ID token that another key has signed is refused', async () => {
    const { browser, returned } = await staffReturns()
    const keys = await (await fetch(`${provider.issuer}/jwks`)).text()
    await provider.serve({ returnUrl })
    provider.instead = (path) => (path.startsWith('/jwks') ? { status: 200, body: keys } : null)
    await expectRefused('The answer of Acme is not valid.', () => finishSignIn(browser, returned))
    provider.instead = null
  })

  test('a foreign page can neither begin nor finish a sign-in', async () => {
    const headers = { 'content-type': 'application/json', origin: 'https://evil.example' }
    for (const path of ['/session/oidc', '/session/oidc/return']) {
      const answer = await set.nobody.fetch(path, { method: 'POST', body: '{}', headers })
      await expectProblem(answer, 'forbidden')
    }
  })

  test('the provider never sends people anywhere but to the console', async () => {
    const { url } = await beginSignIn(service)
    url.searchParams.set('redirect_uri', 'https://evil.example/')
    await expect(visitProvider(url)).rejects.toThrow('The provider answers 400')
  })
})

describe('a provider that changes or is away', () => {
  test('new keys need no restart', async () => {
    const account = atProvider({ groups: ['staff'] })
    expect((await signInAtProvider(service)).status).toBe(200)
    await provider.serve({ returnUrl })
    provider.signsIn = account
    expect((await signInAtProvider(service)).status).toBe(200)
  })

  test('keys may change while somebody signs in', async () => {
    const { browser, returned } = await staffReturns()
    await provider.serve({ returnUrl })
    expect((await finishSignIn(browser, returned)).status).toBe(200)
  })

  test('one that is down is said so, sessions go on, and the sign-in can be completed later', async () => {
    atProvider({ groups: ['staff'] })
    const cookie = cookieOf(await signInAtProvider(service))
    const { browser, url } = await beginSignIn(service)
    const returned = await visitProvider(url)
    await provider.goDown()
    for (const answer of [
      await set.nobody.send('POST', '/session/oidc', {}),
      await finishSignIn(browser, returned),
    ]) {
      const problem = await expectProblem(answer, 'unavailable')
      expect(problem.detail).toStartWith('Acme cannot be reached.')
      expect(answer.headers.get('retry-after')).toBe('10')
    }
    expect((await browserOf(service, cookie).fetch('/sessions')).status).toBe(200)
    expect((await set.nobody.send('POST', '/session', set.owner)).status).toBe(200)
    await provider.serve({ returnUrl })
    expect((await finishSignIn(browser, returned)).status).toBe(200)
  })

  test.each([
    [502, '<h1>Bad gateway</h1>'],
    [200, '<h1>Maintenance</h1>'],
  ])('one whose proxy answers %d is away too', async (status, body) => {
    provider.instead = () => ({ status, body })
    const answer = await set.nobody.send('POST', '/session/oidc', {})
    provider.instead = null
    await expectProblem(answer, 'unavailable')
  })

  test('neither codes nor secrets are in the log', () => {
    const log = JSON.stringify(service.logs)
    for (const secret of ['code=', 'secret-of-the-client', 'eyJ']) expect(log).not.toContain(secret)
  })
})

describe('where only the provider signs people in', () => {
  let only: TestService
  let owner: TestConsole['owner']
  let onlySet: TestConsole

  beforeAll(async () => {
    only = await startService({
      env: { ...proxies, ...provider.env, OIDC_ONLY: 'true', OIDC_ROLES: 'staff=*:member' },
    })
    onlySet = await startConsole(only)
    owner = onlySet.owner
    await provider.serve({ returnUrl: only.url + returnPath })
  })

  const refused = async (answer: Response) => {
    const { detail } = await expectProblem(answer, 'forbidden')
    expect(detail).toBe('Passwords are not accepted here. Sign in with Acme.')
  }
  const linkFor = (email: string) => passwordToken(only, email)

  test('a right password is refused, and an account by password', async () => {
    await refused(await onlySet.nobody.send('POST', '/session', owner))
    const minted = await onlySet.mintProject()
    const token = await onlySet.invite(minted, 'member')
    const newPerson = { name: 'Eve', email: 'eve@example.com', password: 'a long password' }
    await refused(await onlySet.nobody.send('POST', '/links/invitation', { token, newPerson }))
    atProvider()
    expect(await rolesIn(await signInAtProvider(only, { invitation: token }))).toEqual({
      [minted.name]: 'member',
    })
  })

  test('a new password is refused, even to whoever has one and is signed in', async () => {
    atProvider({ email: owner.email })
    const mine = browserOf(only, cookieOf(await signInAtProvider(only)))
    const passwords = { currentPassword: owner.password, newPassword: 'another long password' }
    await refused(await mine.send('POST', '/password', passwords))
  })

  test('nobody but the console’s owner gets a link to a password, and only on the command line', async () => {
    const minted = await onlySet.mintProject()
    atProvider({ groups: ['staff'] })
    const { person } = await (await signInAtProvider(only)).json()
    await expect(linkFor(person.email)).rejects.toThrow('Passwords are not accepted here.')
    const path = `/projects/${minted.id}/people/${person.id}/sign-in-link`
    await refused(await owner.send('POST', path, {}))
  })

  test('a link made before does not work', async () => {
    const folder = only.dataDir
    const before = await startService({ dataDir: folder })
    atProvider({ groups: ['staff'] })
    const { person } = await (await signInAtProvider(only)).json()
    const token = await passwordToken(before, person.email)
    await before.stop()
    await refused(await onlySet.nobody.send('POST', '/links/check', { token }))
    await refused(await onlySet.nobody.send('POST', '/links/password', { token, password: 'a new password' }))
  })

  test('the console’s owner gets in once by that link, and the audit trail says so', async () => {
    const { goDown } = provider
    await goDown()
    const token = await linkFor(owner.email)
    const password = 'another long password'
    const answer = await onlySet.nobody.send('POST', '/links/password', { token, password })
    expect([answer.status, (await answer.json()).person.id]).toEqual([200, owner.personId])
    const back = browserOf(only, cookieOf(answer))
    expect((await back.fetch('/sessions')).status).toBe(200)
    const again = await onlySet.nobody.send('POST', '/links/password', { token, password })
    await expectProblem(again, 'not_found')
    await refused(await onlySet.nobody.send('POST', '/session', { email: owner.email, password }))
    const minted = await onlySet.mintProject()
    const { data } = await back.read(`/projects/${minted.id}/audit`)
    expect(data.map(({ action }: { action: string }) => action)).toContain('signed_in_past_provider')
    await provider.serve({ returnUrl: only.url + returnPath })
  })

  test('nothing of a provider is kept but who somebody is there', async () => {
    const { read } = only.services.database
    const kept = await read.select().from(accounts).where(eq(accounts.providerId, provider.issuer))
    expect(kept.length).toBeGreaterThan(0)
    for (const { accessToken, refreshToken, idToken, scope, password } of kept)
      expect([accessToken, refreshToken, idToken, scope, password]).toEqual([null, null, null, null, null])
    const rows = await read.select().from(people)
    expect(rows.length).toBeGreaterThan(kept.length)
  })
})
