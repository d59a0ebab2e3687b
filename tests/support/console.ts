import { mock } from 'bun:test'
import { randomBytes, scryptSync } from 'node:crypto'
import { members } from '../../src/db/schema.ts'
import type { Role } from '../../src/identity.ts'
import { bootstrap } from '../../src/start/bootstrap.ts'
import type { TestProject, TestService } from './service.ts'

// Hashing a password takes a tenth of a second, on purpose, and most tests sign somebody in. Services that are processes
// of their own take that time.
export const passwords = { hashed: 0 }
mock.module('@better-auth/utils/password', () => {
  const keyOf = (password: string, salt: string) => {
    passwords.hashed++
    return scryptSync(password, salt, 64, { N: 2 }).toString('hex')
  }
  const hashPassword = async (password: string, salt = randomBytes(16).toString('hex')) =>
    `${salt}:${keyOf(password, salt)}`
  const verifyPassword = async (hash: string, password: string) =>
    hash === (await hashPassword(password, hash.split(':')[0]))
  return { hashPassword, verifyPassword }
})

/** A person with a browser, whose requests have their cookie and the origin of the console's pages. */
export interface TestPerson {
  personId: string
  name: string
  email: string
  password: string
  /** The `Cookie` header. */
  cookie: string
  /** A request under /console/api. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** What such a request answers, as JSON. */
  read(path: string): ReturnType<Response['json']>
  /** The same, with a body sent as JSON. */
  send(method: string, path: string, body?: unknown): Promise<Response>
}

/** What a browser can do, whoever is signed in. */
export type TestBrowser = Pick<TestPerson, 'fetch' | 'read' | 'send'>

export interface TestConsole {
  /** The person who set the console up. */
  owner: TestPerson
  /** A browser in which nobody is signed in. */
  nobody: TestBrowser
  /** A new project of the owner, with one key of each kind. */
  mintProject(): Promise<TestProject>
  /** The token of a new invitation to the project. */
  invite(project: TestProject, role: Role, by?: TestBrowser): Promise<string>
  /** A new person in the project, invited by the owner. */
  join(project: TestProject, role: Role): Promise<TestPerson>
}

/** Sets the console up through its link. Works once for each service. */
export async function startConsole(service: TestService): Promise<TestConsole> {
  const { setupToken } = await bootstrap(service.services)
  if (setupToken === null) throw new Error('The console was set up before')
  const owner = await enter(service, '/links/setup', (person) => ({ token: setupToken, ...person }))
  const invite: TestConsole['invite'] = async (project, role, by = owner) => {
    const invited = await by.send('POST', `/projects/${project.id}/invitations`, { role })
    return tokenOf((await invited.json()).link)
  }
  return {
    owner,
    nobody: browserOf(service, null),
    async mintProject() {
      const project = await service.mintProject()
      await service.services.database.write.insert(members).values({
        projectId: project.projectId,
        personId: owner.personId,
        role: 'owner',
        createdAt: Date.now(),
      })
      return project
    },
    invite,
    async join(project, role) {
      const token = await invite(project, role)
      return await enter(service, '/links/invitation', (newPerson) => ({ token, newPerson }))
    },
  }
}

/** The token of a link, which is in its fragment. */
export function tokenOf(link: string): string {
  return new URL(link).hash.slice(1)
}

/** The token of a new link to set the person's password. */
export async function passwordToken({ services }: TestService, email: string): Promise<string> {
  return tokenOf((await services.console.invitations.createPasswordLink(email, 'http://x')).link)
}

/** The cookies that an answer sets, as the next request's `Cookie` header. */
export function cookieOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

export function browserOf(service: TestService, cookie: string | null): TestBrowser {
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (cookie !== null && !headers.has('cookie')) headers.set('cookie', cookie)
    const origin = new URL(service.services.config.publicUrl ?? service.url).origin
    if (!headers.has('origin')) headers.set('origin', origin)
    return fetch(`${service.url}/console/api${path}`, { ...init, headers })
  }
  return {
    fetch: call,
    read: async (path) => (await call(path)).json(),
    send: (method, path, body) =>
      call(path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { 'content-type': 'application/json' },
      }),
  }
}

async function enter(
  service: TestService,
  path: string,
  bodyOf: (person: { name: string; email: string; password: string }) => unknown,
): Promise<TestPerson> {
  const mark = crypto.randomUUID()
  const person = {
    name: `Person ${mark.slice(0, 4)}`,
    // Long and without a place to break the line, which pages have to handle.
    email: `${mark.replaceAll('-', '_')}_of_the_house@example.com`,
    password: `password ${mark}`,
  }
  const answer = await browserOf(service, null).send('POST', path, bodyOf(person))
  if (!answer.ok) {
    const errors = service.logs.filter(({ level }) => Number(level) >= 50)
    throw new Error(`${path}: ${answer.status} ${await answer.text()} ${JSON.stringify(errors)}`)
  }
  const cookie = cookieOf(answer)
  const { person: signedIn } = await answer.json()
  return { ...person, personId: signedIn.id, cookie, ...browserOf(service, cookie) }
}
