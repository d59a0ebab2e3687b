import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { findings } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { returnPath } from '../support/provider-sign-in.ts'

const provider = await startIdentityProvider()
const console = await startConsoleInBrowser({ env: { ...provider.env, OIDC_ROLES: 'staff=*:member' } })
await provider.serve({ returnUrl: console.service.url + returnPath })
const person = (sub: string, groups: string[]) => ({
  sub,
  name: sub,
  email: `${sub.toLowerCase()}@example.com`,
  email_verified: true,
  groups,
})
provider.accounts.push(person('Ada', ['staff']), person('Eve', []), person('Ben', []))

describe('signing in at a provider, in a browser', () => {
  afterEach(async () => {
    const complaints = await console.tabs.close()
    expect(complaints.filter((line) => !line.startsWith(`asked for ${provider.issuer}`))).toEqual([])
  })

  test('the button leads to the provider, and back to the page that was asked for', async () => {
    const tab = await console.tabs.open()
    const asked = `/p/${console.project.id}/knowledge?name=a+b`
    await tab.open(asked)
    await tab.page.getByLabel('Email address').waitFor()
    expect(await findings(tab.page)).toEqual([])
    await tab.page.getByRole('link', { name: 'Sign in with Acme' }).click()
    await tab.page.getByRole('heading', { name: 'Acme' }).waitFor()
    await tab.page.getByRole('link', { name: 'Ada' }).click()
    await tab.page.getByRole('heading', { level: 1, name: 'Knowledge' }).waitFor()
    expect(tab.page.url()).toBe(`${console.service.url}/console${asked}`)
    await tab.open(`/p/${console.project.id}/settings/account`)
    await tab.page.getByText('You sign in with Acme, without a password here.').waitFor()
    expect(await tab.page.getByRole('button', { name: 'Change password' }).count()).toBe(0)
  })

  test('an address of another site is not followed', async () => {
    const tab = await console.tabs.open()
    await tab.open('/sign-in/oidc?from=%2F%2Fevil.example%2F')
    await tab.page.getByRole('link', { name: 'Ada' }).click()
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(new URL(tab.page.url()).origin).toBe(console.service.url)
  })

  test('who is not let in is told so, and has no account', async () => {
    const tab = await console.tabs.open()
    await tab.open('/sign-in/oidc')
    await tab.page.getByRole('link', { name: 'Eve' }).click()
    await tab.page.getByText('You are not in any project here.').waitFor()
    expect(await findings(tab.page)).toEqual([])
    // A reload does not sign in either: the code was used.
    await tab.page.reload()
    await tab.page.getByText('This sign-in has expired or was completed before.').waitFor()
    await tab.page.getByRole('link', { name: 'Back to sign-in' }).click()
    await tab.page.getByLabel('Email address').waitFor()
    const { people } = console.service.services.console
    expect((await people.list()).map(({ name }) => name)).not.toContain('Eve')
  })

  test('an invited person joins through the provider', async () => {
    const { owner } = console.set
    const invited = await owner.send('POST', `/projects/${console.project.id}/invitations`, {
      role: 'viewer',
    })
    const { link } = await invited.json()
    const tab = await console.tabs.open()
    await tab.page.goto(link)
    await tab.page.getByRole('heading', { name: `Join ${console.project.name}` }).waitFor()
    expect(await findings(tab.page)).toEqual([])
    provider.told.splice(0)
    await tab.page.getByRole('link', { name: 'Sign in with Acme' }).click()
    await tab.page.getByRole('link', { name: 'Ben' }).click()
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    // The token of the invitation is told to the service alone.
    const token = new URL(link).hash.slice(1)
    expect(provider.told.length).toBeGreaterThan(1)
    expect(provider.told.filter((line) => line.includes(token))).toEqual([])
    const people = await (await owner.fetch(`/projects/${console.project.id}/people`)).json()
    expect(people.invitations).toEqual([])
    expect(people.members).toContainEqual(expect.objectContaining({ name: 'Ben', role: 'viewer' }))
  })

  test('a provider that is down is said so, and can be tried again', async () => {
    await provider.goDown()
    const tab = await console.tabs.open()
    await tab.open('/sign-in')
    await tab.page.getByRole('link', { name: 'Sign in with Acme' }).click()
    await tab.page.getByText('Acme cannot be reached.').waitFor()
    expect(await findings(tab.page)).toEqual([])
    await provider.serve({ returnUrl: console.service.url + returnPath })
    await tab.page.getByRole('button', { name: 'Try again' }).click()
    await tab.page.getByRole('link', { name: 'Ada' }).click()
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  test('over a page whose session has ended, a new tab signs in, and the page goes on', async () => {
    const tab = await console.tabs.open()
    await tab.open('/sign-in/oidc')
    await tab.page.getByRole('link', { name: 'Ada' }).click()
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    // What the page still asks for would bring the dialog before the click.
    await tab.page.waitForLoadState('networkidle')
    await console.service.services.database.write.run(sql`delete from sessions`)
    await tab.page.getByRole('link', { name: 'Knowledge', exact: true }).first().click()
    const dialog = tab.page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.waitFor()
    expect(await findings(tab.page)).toEqual([])
    const opening = tab.context.waitForEvent('page')
    await dialog.getByRole('link', { name: 'Sign in with Acme in a new tab' }).click()
    const other = await opening
    // The provider remembers who signed in there.
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await other.close()
    await tab.page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await dialog.waitFor({ state: 'detached' })
    const followed = tab.page.getByRole('link', { name: 'Knowledge', exact: true }).first()
    await followed.and(tab.page.locator(':focus')).waitFor()
  })
})
