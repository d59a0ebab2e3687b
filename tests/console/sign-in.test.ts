import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { sessions, signInLimits } from '../../src/db/schema.ts'
import {
  browserOf,
  cookieOf,
  passwordToken,
  startConsole,
  type TestBrowser,
  type TestPerson,
} from '../support/console.ts'
import { badFields, expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { testMode } from '../support/test-mode.ts'

const wrong = ['wrong_credentials', 'Email address or password is wrong'] as const
const sessionCookie = /^callbook\.session_token=([^.;]{32})\.[^;]+$/
let hosts = 0

const clock: { ms: number } = { ms: Date.now() }
// Each sign-in comes from an address of its own, unless the test is about addresses.
const service = await startService({ env: { TRUSTED_PROXIES: '127.0.0.1' }, now: () => clock.ms })
const set = await startConsole(service)
const project = await set.mintProject()

const newAddress = () => `10.${++hosts >> 8}.${hosts & 255}.1`

function signIn(
  credentials: { email: string; password: string },
  { address = newAddress(), cookie = '' } = {},
): Promise<Response> {
  return browserOf(service, cookie).fetch('/session', {
    method: 'POST',
    body: JSON.stringify(credentials),
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
  })
}

async function signedIn(person: TestPerson): Promise<TestBrowser> {
  return browserOf(service, cookieOf(await signIn(person)))
}

/** The results of so many attempts, one after the other. */
async function inTurn<Result>(count: number, attempt: (at: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < count; at++) results.push(await attempt(at))
  return results
}

/** Sessions are renewed every ten. */
const elevenMinutesAgo = () => new Date(Date.now() - 660_000)

const isSignedIn = async (browser: Pick<TestPerson, 'fetch'>) =>
  (await browser.fetch('/sessions')).status === 200

describe('signing in', () => {
  test('returns the person and their projects', async () => {
    const person = await set.join(project, 'member')
    const answer = await signIn({ ...person, email: ` ${person.email.toUpperCase()} ` })
    const shown = {
      person: { id: person.personId, name: person.name, email: person.email },
      projects: [
        {
          id: project.id,
          name: project.name,
          role: 'member',
          membersMayDelete: true,
          timeZone: null,
          createdAt: expect.any(String),
          firstView: null,
          views: 0,
          calls: 0,
        },
      ],
      isSetUp: true,
      ownsConsole: false,
      needsCode: false,
      provider: null,
      hasPassword: true,
      mustSetUpTwoFactor: false,
    }
    expect([answer.status, await answer.json()]).toEqual([200, shown])
    const later = await browserOf(service, cookieOf(answer)).fetch('/session')
    expect([later.status, await later.json()]).toEqual([200, shown])
  })

  test('is a normal answer, not an error, when nobody is signed in', async () => {
    const answer = await set.nobody.fetch('/session')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        person: null,
        projects: [],
        isSetUp: true,
        ownsConsole: false,
        needsCode: false,
        provider: null,
        hasPassword: false,
        mustSetUpTwoFactor: false,
      },
    ])
  })

  test('scripts, other sites and other paths than the console do not get the cookie', async () => {
    const [cookie = ''] = (await signIn(set.owner)).headers.getSetCookie()
    const [pair = '', ...attributes] = cookie.split('; ')
    expect(pair).toMatch(sessionCookie)
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=1209600', 'Path=/console', 'SameSite=Lax'])
  })

  test('behind https the cookie is for https only, and for the public path of the console', async () => {
    const secure = await startService({ env: { PUBLIC_URL: 'https://callbook.example/base' } })
    const person = (await startConsole(secure)).owner
    const answer = await browserOf(secure, '').send('POST', '/session', person)
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toStartWith('__Secure-callbook.session_token=')
    expect(cookie.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=1209600',
      'Path=/base/console',
      'SameSite=Lax',
      'Secure',
    ])
    await secure.stop()
  })

  test('an unknown email address and a wrong password get the same answer', async () => {
    const answers = await Promise.all([
      signIn({ email: set.owner.email, password: 'not the password' }),
      signIn({ email: 'nobody@example.com', password: 'not the password' }),
      signIn({ email: 'no address at all', password: 'not the password' }),
      signIn({ email: set.owner.email, password: 'x'.repeat(128) }),
    ])
    const told = answers.map(async (answer) => {
      const { requestId: _, ...problem } = await expectProblem(answer, ...wrong)
      const headers = [...answer.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
      return { problem, headers }
    })
    const [first, ...others] = await Promise.all(told)
    expect(first?.headers.length).toBeGreaterThan(5)
    for (const other of others) expect(JSON.stringify(other)).toBe(JSON.stringify(first))
  })

  test('an unknown email address costs a password hash, as a wrong password does', async () => {
    // Of this process alone, in all its threads: what else the machine does makes no difference.
    const cpuOf = async (email: string) => {
      const before = process.cpuUsage()
      await signIn({ email, password: 'not the password' })
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const costs: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
    for (let round = 0; round < 3; round++) {
      const { email } = await set.join(project, 'member')
      costs.known.push(await cpuOf(email))
      costs.unknown.push(await cpuOf(`${email}.unknown.com`))
    }
    // Without the hash it is a tenth.
    expect(Math.min(...costs.unknown)).toBeGreaterThan(Math.min(...costs.known) / 3)
  })

  test.each([
    [{}, ['email', 'password']],
    [{ email: '', password: '' }, ['email', 'password']],
    [{ email: 'a@example.com', password: 1 }, ['password']],
    [{ email: 'a@example.com', password: 'x'.repeat(129) }, ['password']],
    [{ email: ['a@example.com'], password: 'x' }, ['email']],
  ])('%j is 400', async (body, fields) => {
    expect(await badFields(await set.nobody.send('POST', '/session', body))).toEqual(fields)
  })

  test('never redirects, whatever the parameters', async () => {
    const person = await set.join(project, 'member')
    const names = ['callbackURL', 'redirectTo', 'redirect', 'next', 'returnTo', 'errorCallbackURL']
    const targets = Object.fromEntries(names.map((name) => [name, 'https://evil.example/']))
    const answer = await browserOf(service, '').fetch(`/session?${new URLSearchParams(targets)}`, {
      method: 'POST',
      redirect: 'manual',
      body: JSON.stringify({ ...person, ...targets }),
      headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress() },
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null])
    expect(await answer.text()).not.toContain('evil.example')
  })

  test("no route of the library's own answers", async () => {
    for (const path of ['/auth/sign-in/email', '/auth/sign-up/email', '/auth/get-session', '/auth/ok']) {
      for (const prefix of ['', '/console', '/console/api', '/api']) {
        const answer = await fetch(service.url + prefix + path, { headers: { cookie: set.owner.cookie } })
        expect([prefix + path, answer.status]).toEqual([prefix + path, 404])
      }
    }
  })
})

describe('a session', () => {
  test('from before a sign-in is replaced, and ends', async () => {
    const victim = await set.join(project, 'member')
    const planted = cookieOf(await signIn(victim))
    const answer = await signIn(victim, { cookie: planted })
    expect(cookieOf(answer)).toMatch(sessionCookie)
    expect(cookieOf(answer)).not.toBe(planted)
    expect(await isSignedIn(browserOf(service, planted))).toBe(false)
    expect(await isSignedIn(browserOf(service, cookieOf(answer)))).toBe(true)
  })

  test('that an attacker planted in a browser never becomes that of the person who signs in there', async () => {
    const [attacker, victim] = [await set.join(project, 'member'), await set.join(project, 'member')]
    const answer = await signIn(victim, { cookie: attacker.cookie })
    const seen = await browserOf(service, attacker.cookie).read('/session')
    expect(seen.person).toBeNull()
    const now = await browserOf(service, cookieOf(answer)).read('/session')
    expect(now.person.id).toBe(victim.personId)
  })

  test('with a made-up token signs nobody in, whether its cookie is signed or not', async () => {
    const [token = '', signature = ''] = set.owner.cookie.split('=')[1]?.split('.') ?? []
    const other = `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`
    for (const value of [
      token,
      `${other}.${signature}`,
      `${token}.AAAA`,
      `.${signature}`,
      `${token}.`,
      '%00',
      '',
    ]) {
      const answer = await browserOf(service, `callbook.session_token=${value}`).fetch('/session')
      expect([value, (await answer.json()).person]).toEqual([value, null])
    }
  })

  test('is stored as the hash of its token, which opens nothing', async () => {
    const token = sessionCookie.exec(set.owner.cookie)?.[1] ?? ''
    const rows = await service.services.database.read.select().from(sessions)
    expect(rows.map((row) => row.token)).toContain(createHash('sha256').update(token).digest('hex'))
    expect(JSON.stringify(rows)).not.toContain(token)
    for (const { token: hash } of rows) {
      const forged = set.owner.cookie.replace(token, hash)
      expect(await isSignedIn(browserOf(service, forged))).toBe(false)
    }
  })

  test('ends when it expires', async () => {
    const person = await set.join(project, 'member')
    const { write } = service.services.database
    await write
      .update(sessions)
      .set({ expiresAt: new Date(Date.now() - 1) })
      .where(eq(sessions.userId, person.personId))
    expect(await isSignedIn(person)).toBe(false)
  })

  test('is extended by its use, and so is its cookie', async () => {
    const person = await set.join(project, 'member')
    const { read, write } = service.services.database
    const ofPerson = eq(sessions.userId, person.personId)
    const before = Date.now() + 10 * 86_400_000
    await write
      .update(sessions)
      .set({ expiresAt: new Date(before), updatedAt: elevenMinutesAgo() })
      .where(ofPerson)
    const answer = await person.fetch('/session')
    expect(cookieOf(answer)).toBe(person.cookie)
    const [row] = await read.select().from(sessions).where(ofPerson)
    expect(row?.expiresAt.getTime()).toBeGreaterThan(before)
    expect(await isSignedIn(person)).toBe(true)
  })

  test('ends after 90 days, however much it is used', async () => {
    const person = await set.join(project, 'member')
    const { read, write } = service.services.database
    const ofPerson = eq(sessions.userId, person.personId)
    const createdAt = new Date(Date.now() - 80 * 86_400_000)
    await write
      .update(sessions)
      .set({ createdAt, updatedAt: elevenMinutesAgo(), expiresAt: new Date(Date.now() + 60_000) })
      .where(ofPerson)
    expect((await person.fetch('/session')).status).toBe(200)
    const [row] = await read.select().from(sessions).where(ofPerson)
    expect(row?.expiresAt).toEqual(new Date(createdAt.getTime() + 90 * 86_400_000))
    expect(await isSignedIn(person)).toBe(true)
  })

  // Nothing tells that a server's database has not changed.
  test.skipIf(testMode === 'remote')('is checked without a write', async () => {
    const person = await set.join(project, 'member')
    const { dataVersion } = service.services.database
    // The number is read once for each turn of the event loop.
    await Bun.sleep(5)
    const before = dataVersion()
    for (let i = 0; i < 5; i++) expect(await isSignedIn(person)).toBe(true)
    await Bun.sleep(5)
    expect(dataVersion()).toBe(before)
  })
})

describe('signing out', () => {
  test('ends this session and deletes its cookie; another one goes on', async () => {
    const person = await set.join(project, 'member')
    const other = await signedIn(person)
    const answer = await person.send('DELETE', '/session')
    expect([answer.status, await answer.json()]).toEqual([200, { signedOut: true }])
    const cleared = answer.headers.getSetCookie().find((one) => one.startsWith('callbook.session_token='))
    expect(cleared).toContain('Max-Age=0')
    expect(cleared).toContain('Path=/console')
    expect(await isSignedIn(person)).toBe(false)
    expect(await isSignedIn(other)).toBe(true)
  })

  test('everywhere ends every session of the person, and of nobody else', async () => {
    const [person, colleague] = [await set.join(project, 'member'), await set.join(project, 'member')]
    const other = await signedIn(person)
    expect((await person.send('DELETE', '/sessions')).status).toBe(200)
    expect([await isSignedIn(person), await isSignedIn(other)]).toEqual([false, false])
    expect(await isSignedIn(colleague)).toBe(true)
  })

  test('a person can list their sessions, and end one of them', async () => {
    const person = await set.join(project, 'member')
    const other = await signedIn(person)
    const list = async () => (await person.read('/sessions')).data
    const rows: { id: string; isCurrent: boolean; ipAddress: string }[] = await list()
    expect(rows.map(({ isCurrent }) => isCurrent).sort()).toEqual([false, true])
    expect(JSON.stringify(rows)).not.toContain(person.cookie.split('=')[1]?.split('.')[0])
    const [ended] = rows.filter(({ isCurrent }) => !isCurrent)
    expect(ended?.ipAddress).toMatch(/^10\./)
    const stranger = await set.join(project, 'member')
    await expectProblem(await stranger.send('DELETE', `/sessions/${ended?.id}`), 'not_found')
    expect(await isSignedIn(other)).toBe(true)
    expect((await person.send('DELETE', `/sessions/${ended?.id}`)).status).toBe(200)
    expect([await isSignedIn(person), await isSignedIn(other)]).toEqual([true, false])
  })
})

describe('a new password', () => {
  test('ends the other sessions, and the old password', async () => {
    const person = await set.join(project, 'member')
    const other = await signedIn(person)
    const password = 'an entirely different one'
    const answer = await person.send('POST', '/password', {
      currentPassword: person.password,
      newPassword: password,
    })
    expect([answer.status, await answer.json()]).toEqual([200, { changed: true }])
    expect(await isSignedIn(browserOf(service, cookieOf(answer)))).toBe(true)
    expect([await isSignedIn(person), await isSignedIn(other)]).toEqual([false, false])
    await expectProblem(await signIn(person), ...wrong)
    expect((await signIn({ ...person, password })).status).toBe(200)
  })

  /** Runs `first` and, a little later in each round, `second`: both take as long as a password hash. */
  async function race(work: (person: TestPerson, delay: Promise<void>) => Promise<void>) {
    for (const delayMs of [0, 30, 60, 90]) await work(await set.join(project, 'member'), Bun.sleep(delayMs))
  }
  const reset = (token: string, password: string) =>
    set.nobody.send('POST', '/links/password', { token, password })
  const change = (person: TestPerson, newPassword: string) =>
    person.send('POST', '/password', { currentPassword: person.password, newPassword })

  test.each(['by a link', 'while signed in'])(
    'set %s ends the session of a concurrent sign-in with the old one',
    async (how) => {
      await race(async (person, delay) => {
        const token = how === 'by a link' ? await passwordToken(service, person.email) : null
        const [done, answer] = await Promise.all([
          token === null ? change(person, 'a new password') : reset(token, 'a new password'),
          delay.then(() => signIn(person)),
        ])
        expect(done.status).toBe(200)
        expect(await isSignedIn(browserOf(service, cookieOf(answer)))).toBe(false)
      })
    },
  )

  test('set by a link is not replaced by a concurrent change of the old one', async () => {
    await race(async (person, delay) => {
      const token = await passwordToken(service, person.email)
      const [done, changed] = await Promise.all([
        reset(token, 'set by the link'),
        delay.then(() => change(person, 'chosen meanwhile')),
      ])
      expect(done.ok).not.toBe(changed.ok)
      const password = done.ok ? 'set by the link' : 'chosen meanwhile'
      expect((await signIn({ ...person, password })).status).toBe(200)
    })
  })

  test('set while signed in ends the links that would reset it', async () => {
    const person = await set.join(project, 'member')
    const token = await passwordToken(service, person.email)
    expect((await change(person, 'a new password')).status).toBe(200)
    await expectProblem(await reset(token, 'set by the link'), 'not_found')
  })

  test('needs the current one, and a minimum length', async () => {
    const person = await set.join(project, 'member')
    const fieldsOf = async (currentPassword: string, newPassword: string) => {
      const answer = await person.send('POST', '/password', { currentPassword, newPassword })
      return await badFields(answer)
    }
    expect(await fieldsOf('not the password', 'long enough for us')).toEqual(['currentPassword'])
    expect(await fieldsOf(person.password, 'too short')).toEqual(['newPassword'])
    expect(await fieldsOf(person.password, '😀'.repeat(65))).toEqual(['newPassword'])
    expect((await signIn(person)).status).toBe(200)
  })

  test('a stranger at a signed-in browser cannot go on guessing the password', async () => {
    const person = await set.join(project, 'member')
    const guess = async () =>
      (await person.send('POST', '/password', { currentPassword: 'guess', newPassword: 'long enough' }))
        .status
    expect(await inTurn(11, guess)).toEqual([...Array(10).fill(400), 429])
    clock.ms += 15 * 60_000
    expect(await guess()).toBe(400)
  })
})

describe('guessing passwords', () => {
  const guess = (email: string, address?: string) =>
    signIn({ email, password: 'not the password' }, address ? { address } : {})

  test('is limited to five a minute from one address, whatever the accounts, without keeping others out', async () => {
    const [person, address] = [await set.join(project, 'member'), newAddress()]
    const all = await Promise.all(
      Array.from({ length: 9 }, (_, i) => guess(`nobody-${i}@example.com`, address)),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429])
    const refused = await signIn(person, { address })
    await expectProblem(refused, 'rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
    expect((await signIn(person)).status).toBe(200)
    clock.ms += 60_000
    expect((await signIn(person, { address })).status).toBe(200)
  })

  test('an address of IPv6 is its whole network', async () => {
    const statuses = await inTurn(
      6,
      async (i) => (await guess(`nobody-${i}@example.com`, `2001:db8:1:2:${i}::${i}`)).status,
    )
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    expect((await guess('nobody@example.com', '2001:db8:1:3::1')).status).toBe(401)
  })

  test('a header that only a proxy may set does not change the address', async () => {
    const direct = await startService()
    const statuses = await inTurn(6, async (i) => {
      const answer = await fetch(`${direct.url}/console/api/session`, {
        method: 'POST',
        body: JSON.stringify({ email: 'nobody@example.com', password: 'not the password' }),
        headers: {
          origin: direct.url,
          'content-type': 'application/json',
          'x-forwarded-for': `10.0.0.${i}`,
          'x-callbook-address': `10.0.0.${i}`,
        },
      })
      return answer.status
    })
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    await direct.stop()
  })

  test('many addresses together guess the password of one person ten times in a quarter of an hour', async () => {
    const [person, colleague] = [await set.join(project, 'member'), await set.join(project, 'member')]
    const all = await Promise.all(
      Array.from({ length: 14 }, (_, i) => guess(i % 2 ? person.email : person.email.toUpperCase())),
    )
    expect(all.map(({ status }) => status).filter((status) => status === 401)).toHaveLength(10)
    const refused = await signIn(person)
    await expectProblem(refused, 'rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 901)
    expect((await signIn(colleague)).status).toBe(200)
    clock.ms += 15 * 60_000
    expect((await signIn(person)).status).toBe(200)
  })

  test('at once writes no more attempts than the limits allow', async () => {
    const { read, write } = service.services.database
    await write.delete(signInLimits)
    const address = newAddress()
    await Promise.all(Array.from({ length: 20 }, (_, i) => guess(`nobody-${i}@example.com`, address)))
    await Promise.all(Array.from({ length: 30 }, () => guess('one-nobody@example.com')))
    const counts = (await read.select().from(signInLimits)).map(({ count }) => count)
    expect(counts.sort((a, b) => b - a).slice(0, 3)).toEqual([10, 5, 1])
    // One address of its own for each attempt at the one email address, and one such for each from the one address.
    expect(counts).toHaveLength(2 + 10 + 5)
  })

  test.skipIf(testMode === 'remote')('over a limit is refused without a write', async () => {
    const address = newAddress()
    for (let i = 0; i < 5; i++) await guess(`nobody-${i}@example.com`, address)
    for (let i = 0; i < 10; i++) await guess('sought@example.com')
    const { dataVersion } = service.services.database
    await Bun.sleep(5)
    const before = dataVersion()
    const refused = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => guess(`nobody-${i}@example.com`, address)),
      ...Array.from({ length: 10 }, () => guess('sought@example.com')),
    ])
    expect(refused.map(({ status }) => status)).toEqual(Array(20).fill(429))
    await Bun.sleep(5)
    expect(dataVersion()).toBe(before)
  })

  test('is forgotten when the clock is set right, back to before it', async () => {
    const [person, address] = [await set.join(project, 'member'), newAddress()]
    clock.ms += 86_400_000
    for (let i = 0; i < 5; i++) expect((await guess('nobody@example.com', address)).status).toBe(401)
    expect((await signIn(person, { address })).status).toBe(429)
    clock.ms -= 86_400_000
    expect((await signIn(person, { address })).status).toBe(200)
  })

  test('an unknown email address is limited just so', async () => {
    const statuses = await inTurn(11, async () => (await guess('who-is-this@example.com')).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429])
  })

  test('a sign-in forgets the failures before it', async () => {
    const person = await set.join(project, 'member')
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++) expect((await guess(person.email)).status).toBe(401)
      expect((await signIn(person)).status).toBe(200)
    }
  })

  test('is counted across restarts, and by all processes together', async () => {
    const address = newAddress()
    for (let i = 0; i < 5; i++) await guess(`nobody-${i}@example.com`, address)
    const beside = await startService({
      env: { TRUSTED_PROXIES: '127.0.0.1' },
      dataDir: service.dataDir,
      now: () => clock.ms,
    })
    const answer = await fetch(`${beside.url}/console/api/session`, {
      method: 'POST',
      body: JSON.stringify(set.owner),
      headers: { origin: beside.url, 'content-type': 'application/json', 'x-forwarded-for': address },
    })
    expect(answer.status).toBe(429)
    await beside.stop()
  })
})

test('no log line holds a password, a token, a cookie, a link or a key', async () => {
  const person = await set.join(project, 'owner')
  const made = await (
    await person.send('POST', `/projects/${project.id}/keys`, {
      name: 'logged?',
      kind: 'live',
      allowedIps: [],
      expiresAt: null,
    })
  ).json()
  const token = await set.invite(project, 'member', person)
  await set.nobody.send('POST', '/links/check', { token })
  await signIn({ ...person, password: 'a wrong password' })
  await service.services.database.write.run(sql`alter table accounts rename to lost`)
  const broken = await signIn(person)
  await service.services.database.write.run(sql`alter table lost rename to accounts`)
  expect(broken.status).toBe(500)
  const logged = JSON.stringify(service.logs)
  expect(service.logs.filter(({ msg }) => msg === 'internal').length).toBeGreaterThan(0)
  for (const secret of [
    person.password,
    'a wrong password',
    token,
    made.key,
    person.cookie.split('=')[1] ?? '',
    sessionCookie.exec(person.cookie)?.[1] ?? '',
    person.email,
  ]) {
    expect(secret.length).toBeGreaterThan(10)
    expect(logged.includes(secret)).toBe(false)
  }
})
