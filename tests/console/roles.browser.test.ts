import { afterEach, describe, expect, test } from 'bun:test'
import { findings } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { totp } from '../support/totp.ts'

const plain = { kind: 'live' as const, allowedIps: [], expiresAt: null }
const { service, set, project, tabs } = await startConsoleInBrowser()
const tab = await tabs.show(`/p/${project.id}/settings/keys`, { person: set.owner })

describe('roles and keys, in a browser', () => {
  afterEach(async () => expect(await tabs.close()).toEqual([]))

  const statusWith = async (key: string) =>
    (await fetch(`${service.url}/v1/calls`, { headers: { authorization: `Bearer ${key}` } })).status

  test('a key is opened, edited, and rotated into a pair of which both work', async () => {
    const { page, open } = tab
    const old = await service.services.keys.create(project.projectId, { ...plain, name: 'Agents' })
    await open(`/p/${project.id}/settings/keys`)
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    await page.getByText('A key’s access cannot be changed').waitFor()

    await page.getByLabel('Name', { exact: true }).fill('Our agents')
    await page.getByLabel('Allowed address 1', { exact: true }).fill('203.0.113.0/24')
    const save = page.getByRole('button', { name: 'Save' })
    await save.click()
    await page.getByRole('heading', { level: 1, name: 'Our agents' }).waitFor()
    expect(await statusWith(old.key)).toBe(403)
    await page.getByLabel('Allowed address 1', { exact: true }).fill('')
    await page.getByText('from any address', { exact: false }).waitFor()
    await save.click()
    await page.getByText('from any address').waitFor({ state: 'detached' })
    expect(await statusWith(old.key)).toBe(200)

    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    const made = await page.getByRole('dialog').getByLabel('Key', { exact: true }).inputValue()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('Replaces', { exact: true }).waitFor()
    expect([await statusWith(old.key), await statusWith(made)]).toEqual([200, 200])
    expect(await page.content()).not.toContain(made)
    await page.getByRole('link', { name: 'All keys' }).click()
    const rows = page.getByRole('row').filter({ hasText: 'Our agents' })
    await rows
      .nth(1)
      .getByText(/^Expires/)
      .waitFor()
    expect(await rows.nth(0).textContent()).toContain(made.slice(-4))
    expect(await rows.nth(1).textContent()).toContain(old.key.slice(-4))
  })

  test('another role is asked about first, and members delete only where the project lets them', async () => {
    const { page, open } = tab
    const person = await set.join(project, 'member')
    await open(`/p/${project.id}/settings/people`)
    const role = page.getByRole('combobox', { name: `Role of ${person.name}` })
    await role.click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    await page.getByRole('dialog').getByText('but change nothing', { exact: false }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await role.inputValue()).toBe('Member')

    await page.getByLabel('Members can delete calls and knowledge').click()
    await page.getByText('delete nothing', { exact: false }).first().waitFor()
    const { item } = await service.services.knowledge.add(project.projectId, {
      name: 'Hours',
      text: 'Nine to five.',
    })
    const theirs = await tabs.open({ person })
    await theirs.open(`/p/${project.id}/knowledge/${item.id}`)
    await theirs.page.getByRole('tab', { name: 'Edit' }).waitFor()
    expect(await theirs.page.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await theirs.page.getByRole('button', { name: 'Delete' }).hover()
    await theirs.page.getByText('Only owners can delete in this project.').waitFor()

    await role.click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make viewer' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await theirs.page.reload()
    await theirs.page.getByRole('tab', { name: 'Chunks' }).waitFor()
    expect(await theirs.page.getByRole('tab', { name: 'Edit' }).count()).toBe(0)
    await theirs.open(`/p/${project.id}/knowledge`)
    await theirs.page.getByRole('link', { name: 'Hours' }).waitFor()
    expect(await theirs.page.getByRole('button', { name: 'Upload files' }).isDisabled()).toBe(true)
  })

  test('an owner makes a sign-in link, which lets the person in with a new password', async () => {
    const { page, open } = tab
    const person = await set.join(project, 'member')
    await open(`/p/${project.id}/settings/people`)
    await page.getByRole('button', { name: `Create a sign-in link for ${person.name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('dialog').getByLabel('Link', { exact: true }).inputValue()
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(link)
    const theirs = await tabs.open()
    await theirs.page.goto(link)
    await theirs.page.getByLabel('New password').fill('quite another password')
    await theirs.page
      .getByRole('button', { name: /password|sign in/i })
      .last()
      .click()
    await theirs.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  test('a person turns on two-factor sign-in, and signs in with a code', async () => {
    const person = await set.join(project, 'member')
    const theirs = await tabs.open({ person })
    const { page } = theirs
    await theirs.open(`/p/${project.id}/settings/account`)
    await page.getByRole('button', { name: 'Set up' }).click()
    await page.getByLabel('Your password').fill(person.password)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: /^QR code/ }).waitFor()
    expect(await findings(page)).toEqual([])
    const secret = (await page.locator('.cb-mono', { hasText: /^[A-Z2-7]{16,}$/ }).textContent()) ?? ''
    await page.getByLabel('Code', { exact: true }).fill(totp(secret))
    await page.getByRole('button', { name: 'Turn on' }).click()
    const codes = page.getByRole('list', { name: 'Backup codes' })
    await codes.waitFor()
    const code = (await codes.getByRole('listitem').first().textContent()) ?? ''
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    expect(await page.content()).not.toContain(code)

    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByLabel('Email address').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Code', { exact: true }).waitFor()
    await page.getByText('Lost your app?', { exact: false }).waitFor()
    expect(await page.getByText('Forgot your password?', { exact: false }).count()).toBe(0)
    await page.reload()
    await page.getByText('Lost your app?', { exact: false }).waitFor()
    await page.getByLabel('Code', { exact: true }).fill('000 00')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('is wrong', { exact: false }).waitFor()
    await page.getByLabel('Code', { exact: true }).fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
})
