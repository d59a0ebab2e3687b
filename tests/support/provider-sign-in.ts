import { browserOf, cookieOf, type TestPerson } from './console.ts'
import type { TestService } from './service.ts'

type Browser = Pick<TestPerson, 'fetch' | 'send'>

/** A browser that has begun to sign in at the provider. */
export interface BegunSignIn {
  browser: Browser
  cookie: string
  /** Where the provider signs people in. */
  url: URL
}

export const returnPath = '/console/sign-in/oidc'

export async function beginSignIn(service: TestService): Promise<BegunSignIn> {
  const answer = await browserOf(service, null).send('POST', '/session/oidc', {})
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const cookie = cookieOf(answer)
  return { browser: browserOf(service, cookie), cookie, url: new URL((await answer.json()).url) }
}

/** Follows the provider as a browser does, until it sends the browser back. Returns that address. */
export async function visitProvider(url: URL): Promise<URL> {
  const cookies = new Map<string, string>()
  let at = url
  for (let hop = 0; hop < 10; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`The provider answers ${answer.status}: ${await answer.text()}`)
    at = new URL(location, at)
    if (at.pathname === returnPath) return at
  }
  throw new Error('The provider leads nowhere')
}

/** The service's answer to a whole sign-in. */
export async function signInAtProvider(
  service: TestService,
  { invitation }: { invitation?: string } = {},
): Promise<Response> {
  const { browser, url } = await beginSignIn(service)
  return await finishSignIn(browser, await visitProvider(url), invitation)
}

export function finishSignIn(browser: Browser, returned: URL, invitation?: string): Promise<Response> {
  return browser.send('POST', '/session/oidc/return', {
    query: returned.search,
    ...(invitation === undefined ? {} : { invitation }),
  })
}
