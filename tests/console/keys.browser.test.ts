import { afterEach, describe, expect, test } from 'bun:test'
import { startConsoleInBrowser } from '../support/console-page.ts'

const { service, set, project, tabs } = await startConsoleInBrowser()
const tab = await tabs.show(`/p/${project.id}/settings/keys`, { person: set.owner })
await tab.context.grantPermissions(['clipboard-read', 'clipboard-write'])

describe('keys and people, in a browser', () => {
  afterEach(async () => expect(await tabs.close()).toEqual([]))

  function callsWith(key: string): Promise<Response> {
    return fetch(`${service.url}/v1/calls`, { headers: { authorization: `Bearer ${key}` } })
  }

  /** Makes a key by hand and gives it as it is shown. */
  async function createKey(name: string, allowed: string[]): Promise<string> {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/keys`)
    await page.getByRole('button', { name: 'Create API Key' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    for (const [at, address] of allowed.entries()) {
      const field = dialog.getByLabel(`Allowed address ${at + 1}`, { exact: true })
      if (!(await field.isVisible())) await dialog.getByRole('button', { name: /^Add/ }).click()
      await field.fill(address)
    }
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = await dialog.getByLabel('Key', { exact: true }).inputValue()
    expect(key).toMatch(/^ck_live_[0-9a-f]{60}$/)
    return key
  }

  test('a new key works, shows its last use, and stops working once revoked', async () => {
    const { page } = tab
    const key = await createKey('Laptop', [])
    // Neither Escape nor a click beside it closes what is shown this once.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(key)
    const kept = () => [
      Object.entries(localStorage),
      Object.entries(sessionStorage),
      location.href,
      history.state,
    ]
    expect(JSON.stringify(await page.evaluate(kept))).not.toContain(key)

    expect((await callsWith(key)).status).toBe(200)
    await page.reload()
    const row = page.getByRole('row').filter({ hasText: 'Laptop' })
    await row
      .getByText(`…${key.slice(-4)}`)
      .last()
      .waitFor()
    // Of its two times only the last use is told as one that has just been.
    await row.getByText('just now').waitFor()
    expect(await page.content()).not.toContain(key)

    const revoke = row.getByRole('button', { name: 'Revoke Laptop' })
    await revoke.click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Revoke Laptop')
    await revoke.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await callsWith(key)).status).toBe(401)
    expect(JSON.stringify(service.logs)).not.toContain(key)
  })

  test('a key for agents only searches, which the list says of it', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/keys`)
    await page.getByRole('button', { name: 'Create API Key' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Agents')
    expect(await dialog.getByLabel('Web pages').count()).toBe(0)
    await dialog.getByRole('radio', { name: /^Search/ }).click()
    await dialog.getByLabel('Only items tagged').fill('Billing')
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Web pages').fill('https://app.example.com, http://localhost:5173')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = await dialog.getByLabel('Key', { exact: true }).inputValue()
    expect(await dialog.locator('pre, code').first().textContent()).toContain('/v1/knowledge/search')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('row').filter({ hasText: 'Agents' }).getByRole('cell', { name: 'Search' }).waitFor()
    const answer = await callsWith(key)
    expect([answer.status, (await answer.json()).title]).toEqual([403, 'Key does not allow this'])
    const [made] = await service.services.keys.list(project.projectId)
    expect(made?.tags).toEqual(['billing'])
    expect(made?.allowedOrigins).toEqual(['https://app.example.com', 'http://localhost:5173'])
  })

  test('a name of ten letters is shown whole, however wide the window', async () => {
    const { page, open } = tab
    await project.makeKey({ name: 'Production' })
    await open(`/p/${project.id}/settings/keys`)
    const name = page.locator('td .cb-truncate', { hasText: 'Production' }).first()
    await name.waitFor()
    for (const width of [375, 800, 1280, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await name.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true)
    }
  })

  test('a key of a day says that day, Escape leaves its calendar alone, and the focus comes back', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/keys`)
    const create = page.getByRole('button', { name: 'Create API Key' }).first()
    await create.click()
    const dialog = page.getByRole('dialog', { name: /key/i })
    await dialog.getByLabel('Name').fill('Until a day')
    await dialog.getByText('On a date').click()
    const day = page.locator('[data-day]:focus')
    for (const keys of [['Escape'], ['ArrowRight', 'Enter']]) {
      await dialog.getByRole('button', { name: /^Last day/ }).click()
      await day.waitFor()
      for (const key of keys) await page.keyboard.press(key)
      await day.waitFor({ state: 'detached' })
    }
    const last = await dialog.getByRole('button', { name: /^Last day/ }).textContent()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await create.and(page.locator(':focus')).waitFor()
    const [monthAndDay = 'not chosen'] = last?.split(',') ?? []
    await page
      .getByRole('row', { name: /Until a day/ })
      .getByText(monthAndDay)
      .waitFor()
  })

  test('a key for another address is refused, and a bad entry is reported while it is typed', async () => {
    const { page } = tab
    const key = await createKey('Office', ['203.0.113.7', '2001:db8::/32'])
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const answer = await callsWith(key)
    expect([answer.status, (await answer.json()).title]).toEqual([403, 'IP address not allowed'])

    await page.getByRole('button', { name: 'Create API Key' }).first().click()
    const dialog = page.getByRole('dialog')
    const field = dialog.getByLabel('Allowed address 1', { exact: true })
    if (!(await field.isVisible())) await dialog.getByRole('button', { name: /^Add/ }).click()
    await field.fill('300.1.2.3/8')
    await dialog.locator('[aria-invalid=true]').waitFor()
    await field.fill('10.0.0.0/8')
    await dialog.getByLabel('Test an address').fill('10.9.9.9')
    await dialog.getByText('Would be allowed').waitFor()
  })

  test('a call that is sent to try an ingest key is deleted by the same button', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/keys?create=key`)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('To try')
    await dialog.getByRole('radio', { name: /^Ingest/ }).click()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const calls = async () => (await (await project.fetch('/v1/calls')).json()).data
    for (const _ of [1, 2]) {
      await dialog.getByRole('button', { name: 'Send this call' }).click()
      await dialog.getByText('The call has arrived.').waitFor()
      expect(await calls()).toMatchObject([{ summary: 'A first call.' }])
      await dialog.getByRole('button', { name: 'Delete it again' }).click()
      await dialog.getByRole('button', { name: 'Send this call' }).waitFor()
      expect(await calls()).toEqual([])
    }
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
  })

  test('a member who is invited sees the calls, and neither keys nor people, by page or by request', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/people`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('dialog').getByLabel('Link', { exact: true }).inputValue()
    expect(link).toStartWith(`${service.url}/console/join#`)
    const guest = await tabs.open()
    await guest.page.goto(link)
    await guest.page.getByLabel('Name').fill('Mel Member')
    await guest.page.getByLabel('Email address').fill('mel@example.com')
    await guest.page.getByLabel('Password', { exact: true }).fill('a long password')
    await guest.page.getByRole('button', { name: /join|create/i }).click()
    await guest.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await guest.open(`/p/${project.id}/calls`)
    await guest.page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()

    await guest.open(`/p/${project.id}/settings`)
    await guest.page.getByRole('heading', { level: 1 }).first().waitFor()
    expect(await guest.page.getByRole('link', { name: 'API Keys' }).count()).toBe(0)
    await guest.open(`/p/${project.id}/settings/keys`)
    await guest.page.getByText(/owner/i).first().waitFor()
    expect(await guest.page.getByRole('button', { name: 'Create API Key' }).count()).toBe(0)
    const statuses = await guest.page.evaluate(async (id) => {
      const paths = ['keys', 'people', 'audit', 'calls']
      return Promise.all(
        paths.map(async (path) => (await fetch(`/console/api/projects/${id}/${path}`)).status),
      )
    }, project.id)
    expect(statuses).toEqual([403, 403, 403, 200])
  })

  test("the console's owner deletes an account, which other owners cannot even see", async () => {
    const { page, open } = tab
    const [person, other] = [await set.join(project, 'member'), await set.join(project, 'owner')]
    await open(`/p/${project.id}/settings/people`)
    const accounts = page.getByRole('table', { name: 'All accounts' })
    await accounts.getByText(person.email).waitFor()
    await accounts.getByRole('button', { name: `Delete the account of ${person.name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await accounts.getByText(person.email).waitFor({ state: 'detached' })
    expect(await page.getByText(person.email).count()).toBe(0)
    expect((await person.fetch('/sessions')).status).toBe(401)
    const theirs = await tabs.open({ person: other })
    await theirs.open(`/p/${project.id}/settings/people`)
    await theirs.page.getByRole('button', { name: `Remove ${set.owner.name}` }).waitFor()
    expect(await theirs.page.getByText('All accounts').count()).toBe(0)
  })

  test('people of another project find nothing of this one', async () => {
    const other = await set.mintProject()
    const stranger = await set.join(other, 'owner')
    const theirs = await tabs.open({ person: stranger })
    await theirs.open(`/p/${project.id}/calls`)
    await theirs.page
      .getByText(/not found|no such project|nothing (here|at this address)/i)
      .first()
      .waitFor()
    expect(await theirs.page.content()).not.toContain(project.name)
    await theirs.open(`/p/${other.id}/overview`)
    await theirs.page.getByRole('button', { name: /^Project/ }).click()
    await theirs.page.getByRole('menu').waitFor()
    expect(await theirs.page.getByRole('menu').textContent()).not.toContain(project.name)
  })
})
