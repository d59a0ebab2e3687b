import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
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
import { totp } from '../support/totp.ts'
import { until } from '../support/until.ts'

// Sign-ins from one address are limited, so each test has an address of its own.
const proxies = { TRUSTED_PROXIES: '127.0.0.1' }
let addresses = 0
const service = await startService({ env: proxies })
const set = await startConsole(service)
const project = await set.mintProject()

const nobody = {
  person: null,
  projects: [],
  isSetUp: true,
  ownsConsole: false,
  mustSetUpTwoFactor: false,
  provider: null,
  hasPassword: false,
}

interface Enrolled {
  person: TestPerson
  /** The browser that turned it on, whose session is new. */
  browser: TestBrowser
  secret: string
  backupCodes: string[]
}

async function enrol(): Promise<Enrolled> {
  const person = await set.join(project, 'member')
  const made = await person.send('POST', '/two-factor', { password: person.password })
  const { secret, backupCodes } = await made.json()
  const answer = await person.send('POST', '/two-factor/turn-on', { code: totp(secret) })
  expect([answer.status, await answer.json()]).toEqual([200, { isOn: true }])
  return { person, browser: browserOf(service, cookieOf(answer)), secret, backupCodes }
}

function post(path: string, body: unknown, cookie = '', address = `198.51.100.${addresses}`) {
  return browserOf(service, cookie).fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
  })
}

/** The cookie of a sign-in that waits for a code. */
async function signIn({ email, password }: Pick<TestPerson, 'email' | 'password'>): Promise<string> {
  addresses++
  const answer = await post('/session', { email, password })
  expect([answer.status, await answer.json()]).toEqual([200, { ...nobody, needsCode: true }])
  return cookieOf(answer)
}

const isSignedIn = async (cookie: string) =>
  (await browserOf(service, cookie).fetch('/sessions')).status === 200
const actionsOf = async () => {
  const { data } = await set.owner.read(`/projects/${project.id}/audit`)
  return (data as { action: string; actorId: string }[]).map(({ action, actorId }) => `${action} ${actorId}`)
}

describe('two-factor sign-in', () => {
  test('asks for a code of the app before anybody is signed in', async () => {
    const { person, browser, secret } = await enrol()
    expect(await browser.read('/two-factor')).toEqual({ isOn: true, isRequired: false })
    const waiting = await signIn(person)
    expect(await isSignedIn(waiting)).toBe(false)
    const later = await browserOf(service, waiting).fetch('/session')
    expect(await later.json()).toMatchObject({ person: null, needsCode: true })

    const wrong = await post(
      '/session/code',
      { code: '000000' === totp(secret) ? '000001' : '000000' },
      waiting,
    )
    expect(await badFields(wrong)).toEqual(['code'])
    await until(async () => (await actionsOf()).includes(`sign_in_failed ${person.personId}`))

    const code = totp(secret)
    const answer = await post('/session/code', { code: `${code.slice(0, 3)} ${code.slice(3)}` }, waiting)
    expect([answer.status, (await answer.json()).person.email]).toEqual([200, person.email])
    expect(await isSignedIn(cookieOf(answer))).toBe(true)
    const again = await post('/session/code', { code: totp(secret) }, waiting)
    await expectProblem(again, 'not_signed_in')
    expect(await actionsOf()).toContain(`two_factor_enabled ${person.personId}`)
  })

  test('takes each code of the app for one sign-in', async () => {
    const { person, secret } = await enrol()
    const code = totp(secret)
    const waiting = [await signIn(person), await signIn(person)]
    const answers = await Promise.all(waiting.map((cookie) => post('/session/code', { code }, cookie)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const third = await post('/session/code', { code }, await signIn(person))
    const { errors } = await expectProblem(third, 'invalid_request')
    expect(errors).toEqual([{ field: 'code', message: 'is wrong or was already used' }])
  })

  test('takes each backup code once, and new ones end the old', async () => {
    const { person, browser, backupCodes } = await enrol()
    const [first = '', second = ''] = backupCodes
    const answer = await post('/session/code', { code: first }, await signIn(person))
    expect(await isSignedIn(cookieOf(answer))).toBe(true)
    const waiting = await signIn(person)
    await expectProblem(await post('/session/code', { code: first }, waiting), 'invalid_request')
    const proof = { password: person.password, code: backupCodes[2] }
    const renewed = await browser.send('POST', '/two-factor/backup-codes', proof)
    const { backupCodes: others } = await renewed.json()
    await expectProblem(await post('/session/code', { code: second }, waiting), 'invalid_request')
    expect((await post('/session/code', { code: others[0] }, waiting)).status).toBe(200)
  })

  test('changes nothing until a code was given, and needs the password', async () => {
    const person = await set.join(project, 'member')
    const wrong = await person.send('POST', '/two-factor', { password: 'not the password' })
    await expectProblem(wrong, 'invalid_request')
    await person.send('POST', '/two-factor', { password: person.password })
    const answer = await person.send('POST', '/two-factor/turn-on', { code: '12' })
    await expectProblem(answer, 'invalid_request')
    expect(await person.read('/two-factor')).toMatchObject({ isOn: false })
    const { email, password } = person
    expect((await (await post('/session', { email, password })).json()).person.email).toBe(email)
  })

  test('allows five wrong codes for one sign-in, and five a minute from one address', async () => {
    const { person, secret } = await enrol()
    const waiting = await signIn(person)
    for (let turn = 0; turn < 5; turn++) {
      const answer = await post('/session/code', { code: 'wrong' }, waiting, `203.0.113.${turn}`)
      await expectProblem(answer, 'invalid_request')
    }
    const late = await post('/session/code', { code: totp(secret) }, waiting, '203.0.113.9')
    await expectProblem(late, 'not_signed_in')
    for (let turn = 0; turn < 5; turn++) await post('/session/code', { code: 'wrong' }, '', '203.0.113.77')
    const limited = await post('/session/code', { code: 'wrong' }, '', '203.0.113.77')
    await expectProblem(limited, 'rate_limited')
  })

  test('holds after a new password, which ends sign-ins that wait for a code and keeps this session', async () => {
    const { person, browser, secret } = await enrol()
    const waiting = await signIn(person)
    const newPassword = 'an entirely different one'
    const changed = await browser.send('POST', '/password', { currentPassword: person.password, newPassword })
    expect(changed.status).toBe(200)
    expect((await browser.fetch('/sessions')).status).toBe(200)
    const late = await post('/session/code', { code: totp(secret) }, waiting)
    await expectProblem(late, 'not_signed_in')
    const token = await passwordToken(service, person.email)
    const reset = await post('/links/password', { token, password: 'set by the link' })
    expect(await reset.json()).toMatchObject({ person: null, needsCode: true })
    expect((await post('/session/code', { code: totp(secret) }, cookieOf(reset))).status).toBe(200)
  })

  test('is turned off with the password and a code, or reset on the command line', async () => {
    const { person, browser, secret } = await enrol()
    const { password } = person
    const off = await browser.send('POST', '/two-factor/turn-off', { password, code: totp(secret) })
    expect([off.status, await off.json()]).toEqual([200, { isOn: false }])
    const other = await enrol()
    const { people, twoFactor } = service.services.console
    await twoFactor.reset(await people.find(other.person.email))
    for (const { email, password } of [person, other.person]) {
      addresses++
      expect((await (await post('/session', { email, password })).json()).person.email).toBe(email)
    }
    expect(await actionsOf()).toContain(`two_factor_disabled ${person.personId}`)
    expect(await actionsOf()).toContain(`two_factor_reset ${other.person.personId}`)
  })

  test.each(['turn-off', 'backup-codes'])(
    '%s needs the password and a code, which is used up only if both are right',
    async (act) => {
      const { person, browser, secret, backupCodes } = await enrol()
      const { password } = person
      const [first = '', second = ''] = backupCodes
      const send = (body: object) => browser.send('POST', `/two-factor/${act}`, body)
      const refused: [object, string][] = [
        [{ password }, 'code'],
        [{ password, code: '' }, 'code'],
        [{ password, code: totp(secret) === '000000' ? '000001' : '000000' }, 'code'],
        [{ password, code: 'not-a-code' }, 'code'],
        [{ password: 'not the password', code: first }, 'password'],
      ]
      for (const [body, field] of refused) {
        expect(await badFields(await send(body))).toEqual([field])
      }
      expect(await browser.read('/two-factor')).toEqual({ isOn: true, isRequired: false })
      expect((await post('/session/code', { code: second }, await signIn(person))).status).toBe(200)
      const used = await expectProblem(await send({ password, code: second }), 'invalid_request')
      expect(used.errors).toEqual([{ field: 'code', message: 'is wrong or was already used' }])
      expect((await send({ password, code: first })).status).toBe(200)
    },
  )

  test('allows ten wrong codes of a signed-in person, then none for a while', async () => {
    const { person, browser, secret } = await enrol()
    const send = (code: string) =>
      browser.send('POST', '/two-factor/turn-off', { password: person.password, code })
    // Turning it on counted, too.
    let refused = 0
    for (; (await send('wrong')).status === 400; refused++);
    expect(refused).toBeLessThanOrEqual(10)
    await expectProblem(await send(totp(secret)), 'rate_limited')
    expect(await browser.read('/two-factor')).toEqual({ isOn: true, isRequired: false })
  })

  test('takes a code of the app, and a backup code, for one act alone, and keeps the session', async () => {
    const { person, browser, secret, backupCodes } = await enrol()
    for (const next of [() => backupCodes[0], () => totp(secret)]) {
      const proof = { password: person.password, code: next() }
      const answers = await Promise.all(
        Array.from({ length: 2 }, () => browser.send('POST', '/two-factor/backup-codes', proof)),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    }
  })

  test('keeps no secret as it is, and nothing of a deleted person', async () => {
    const { person, secret, backupCodes } = await enrol()
    await signIn(person)
    const { read } = service.services.database
    const rows = () =>
      read.all(sql`
      select user_id, secret, backup_codes from two_factors where user_id = ${person.personId}
      union all select value, identifier, '' from verifications where value = ${person.personId}`)
    const kept = JSON.stringify(await rows())
    expect(kept).toContain(person.personId)
    for (const plain of [secret, ...backupCodes]) expect(kept).not.toContain(plain)
    expect((await set.owner.fetch(`/people/${person.personId}`, { method: 'DELETE' })).status).toBe(200)
    expect(await rows()).toEqual([])
  })
})
