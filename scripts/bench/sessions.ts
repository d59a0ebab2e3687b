import { type Dataset, withServices } from '../dataset.ts'
import type { Options } from './runner.ts'

/** Starts the service and signs in a new owner of the console. */
export async function signIn({ folder }: Dataset, start: Options['start']) {
  const token = await withServices(folder, ({ console }) => console.people.replaceSetUpLink())
  const running = await start(folder)
  return { ...running, ...(await setUpConsole(running.url, token)) }
}

/** Signs in a new owner of the console by a set-up link. */
export async function setUpConsole(url: string, token: string): Promise<{ cookie: string; project: string }> {
  const person = { name: 'Bench', email: 'bench@example.com', password: 'bench bench bench' }
  const answer = await fetch(`${url}/console/api/links/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, ...person }),
  })
  if (!answer.ok) throw new Error(`The console was not set up: ${await answer.text()}`)
  const cookies = answer.headers.getSetCookie().map((text) => text.split(';')[0])
  const { projects }: { projects: { id: string }[] } = await answer.json()
  return { cookie: cookies.join('; '), project: projects[0]?.id ?? '' }
}

/** The cookies as a browser takes them. */
export function browserCookies(cookie: string, url: string): { name: string; value: string; url: string }[] {
  return cookie.split('; ').map((text) => {
    const [name = '', ...value] = text.split('=')
    return { name, value: value.join('='), url }
  })
}
