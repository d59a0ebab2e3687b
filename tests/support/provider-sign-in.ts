import { browserOf, cookieOf, type TestBrowser } from './console.ts'
import type { TestService } from './service.ts'

/** A browser that has begun to sign in at the provider. */
export interface BegunSignIn {
  browser: TestBrowser
  cookie: string
  /** Where the provider signs people in. */
  url: URL
}

export const returnPath = '/console/sign-in/oidc'

/** @param before the cookie of a browser in which somebody is signed in */
export async function beginSignIn(service: TestService, before = ''): Promise<BegunSignIn> {
  const answer = await post(browserOf(service, before), '/session/oidc', {})
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const cookie = [before, cookieOf(answer)].filter(Boolean).join('; ')
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

export function finishSignIn(browser: TestBrowser, returned: URL, invitation?: string): Promise<Response> {
  return post(browser, '/session/oidc/return', {
    query: returned.search,
    ...(invitation === undefined ? {} : { invitation }),
  })
}

let addresses = 0

/** From an address of its own, since sign-ins from one are limited, where the service trusts this machine's proxies. */
function post(browser: TestBrowser, path: string, body: unknown): Promise<Response> {
  addresses++
  return browser.fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `10.${addresses >> 8}.${addresses & 255}.1`,
    },
  })
}
