import { afterEach, describe, expect, test } from 'bun:test'
import { findings, sidewaysOverflow } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { totp } from '../support/totp.ts'

const { service, set, project, tabs } = await startConsoleInBrowser()
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the operator’s page, in a browser', () => {
  test('shows the service, in light and dark, on a wide and a narrow screen, and to its owner alone', async () => {
    await project.fetch('/v1/calls')
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 375],
    ] as const) {
      const { page, open } = await tabs.open({ person: set.owner, colorScheme, width })
      await open(`/p/${project.id}/settings/service`)
      await page.getByText('A file on this machine').waitFor()
      await page.getByText('None from this folder yet').waitFor()
      await page
        .getByRole('table', { name: 'Projects' })
        .getByText('test', { exact: false })
        .first()
        .waitFor()
      await page.getByRole('table', { name: 'Second factors' }).getByText('None').first().waitFor()
      expect(await findings(page)).toEqual([])
      expect(await sidewaysOverflow(page)).toEqual([])
    }
    const other = await set.join(project, 'owner')
    const theirs = await tabs.open({ person: other })
    await theirs.open(`/p/${project.id}/settings/general`)
    await theirs.page.getByRole('link', { name: 'Audit trail' }).waitFor()
    await theirs.page.getByRole('button', { name: /^Signed in as/ }).click()
    await theirs.page.getByRole('menuitem', { name: 'Account' }).waitFor()
    expect(await theirs.page.getByRole('menuitem', { name: 'Service' }).count()).toBe(0)
    await theirs.open(`/p/${project.id}/settings/service`)
    await theirs.page.getByText('Only the owner of the console can see this').waitFor()
  })

  test('a rule that is refused says why', async () => {
    const { page, open } = await tabs.open({ person: set.owner })
    await open(`/p/${project.id}/settings/service`)
    await page.getByLabel('Require a second factor for everyone').click()
    await page.getByText('This needs a second factor of your own first', { exact: false }).waitFor()
    expect(await page.getByLabel('Require a second factor for everyone').isChecked()).toBe(false)
  })

  test('a person without a second factor sets it up before anything else, and goes on where they were', async () => {
    const member = await set.join(project, 'member')
    const { page, open } = await tabs.open({ person: member })
    await open(`/p/${project.id}/knowledge`)
    await page.getByRole('heading', { name: 'Knowledge', exact: true }).waitFor()
    await service.services.console.twoFactorRule.change(true)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Set up two-factor sign-in' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByLabel('Your password').fill(member.password)
    await page.getByRole('button', { name: 'Continue' }).click()
    const secret = await page.getByText(/^[A-Z2-7]{16,}$/).textContent()
    await page.getByRole('textbox', { name: 'Code' }).fill(totp(secret ?? ''))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await service.services.console.twoFactorRule.change(false)
  })
})
