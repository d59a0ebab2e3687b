import { afterEach, describe, expect, test } from 'bun:test'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { type ConsolePage, startInBrowser } from '../support/console-page.ts'

const { service, tabs } = await startInBrowser()
const setupToken = (await bootstrap(service.services)).setupToken ?? ''

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('signing in, in a browser', () => {
  const email = 'ada@example.com'
  const password = 'correct horse battery'

  async function signIn({ page }: ConsolePage, typed: string): Promise<void> {
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(typed)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  test('the set-up link creates the owner, who is then in the project that has calls', async () => {
    const { projects, ingest } = service.services
    const { projectId } = await projects.create('full')
    await ingest.put(projectId, 'call-1', {})
    const { page, open } = await tabs.open()
    await open(`/setup#${setupToken}`)
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('Email address').fill(email)
    const field = page.getByLabel('Password', { exact: true })
    await field.fill('short')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('The password must be at least 10 characters').waitFor()
    await field.and(page.locator(':focus')).waitFor()
    const refused: string[] = []
    page.on('response', (response) => {
      if (!response.ok()) refused.push(`${response.status()} ${response.url()}`)
    })
    await field.fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain(setupToken)
    await page.getByRole('button', { name: /^Project full/ }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(refused).toEqual([])
  })

  test('the set-up link stops working after its use, and says so', async () => {
    const { page, open } = await tabs.open()
    await open(`/setup#${setupToken}`)
    await page.getByText('can create a new link').waitFor()
  })

  test('a wrong password is refused in a sentence, and the right one leads to the requested page', async () => {
    const tab = await tabs.open()
    await tab.open('/')
    await tab.page.waitForURL(/sign-in/)
    const { projects } = service.services
    const [project] = await projects.list()
    await tab.open(`/p/${project?.id}/settings/keys`)
    await tab.page.waitForURL(/sign-in/)
    await signIn(tab, 'wrong horse battery')
    await tab.page.getByText('Email address or password is wrong', { exact: true }).waitFor()
    await signIn(tab, password)
    await tab.page.waitForURL(`**/p/${project?.id}/settings/keys`)
    await tab.page.getByRole('heading', { name: 'API Keys' }).waitFor()
    const [session] = (await tab.context.cookies()).filter(({ name }) => /session/.test(name))
    expect({ httpOnly: session?.httpOnly, sameSite: session?.sameSite, path: session?.path }).toEqual({
      httpOnly: true,
      sameSite: 'Lax',
      path: '/console',
    })
  })

  test('signing in does not follow an address of another site', async () => {
    const tab = await tabs.open()
    await tab.open('/sign-in?from=%2F%2Fevil.example%2F')
    await signIn(tab, password)
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(new URL(tab.page.url()).origin).toBe(service.url)
  })

  test('signing out ends the session, on the server too', async () => {
    const tab = await tabs.open()
    await tab.open('/sign-in')
    await signIn(tab, password)
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const cookie = (await tab.context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
    await tab.page.getByRole('button', { name: /^Signed in as/ }).click()
    await tab.page.getByRole('menuitem', { name: 'Sign out' }).click()
    await tab.page.waitForURL(/sign-in/)
    const answer = await fetch(`${service.url}/console/api/session`, { headers: { cookie } })
    expect((await answer.json()).person).toBeNull()
  })
})
