import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { browserPath } from '../support/browser.ts'
import type { TestConsole } from '../support/console.ts'
import { type ConsolePage, type ConsoleTabs, startConsoleInBrowser } from '../support/console-page.ts'

setDefaultTimeout(60_000)

describe.if(browserPath !== null)('privacy, in a browser', () => {
  let set: TestConsole
  let tabs: ConsoleTabs
  let tab: ConsolePage

  beforeAll(async () => {
    ;({ set, tabs } = await startConsoleInBrowser())
    tab = await tabs.open({ person: set.owner })
  })
  afterAll(() => tabs.end())

  test('switching retention on asks for how many calls go, and the audit trail shows what went', async () => {
    const project = await set.mintProject()
    const times = { createdAt: '2020-01-01T00:00:00Z', occurredAt: '2020-01-01T00:05:00Z' }
    for (const id of ['a', 'b']) {
      const call = { status: 'completed', ...times }
      expect((await project.send('PUT', `/ingest/calls/${id}`, call)).status).toBe(201)
    }
    const { page, open } = tab
    await open(`/p/${project.id}/settings/privacy`)
    await page.getByLabel('Days to keep a call').fill('90')
    await page.getByRole('button', { name: 'Save' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 calls of this project were completed more than 90 days ago.').waitFor()
    const confirm = dialog.getByRole('button', { name: 'Delete 2 calls' })
    await dialog.getByLabel('Type 2 to confirm').fill('3')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Type 2 to confirm').fill('2')
    await confirm.click()
    await page.getByText('The retention has been changed.').waitFor()
    await page.getByText(/2 calls completed before/).waitFor()

    await page.getByLabel('Note in the audit trail who opens a call').check()
    await page.getByLabel('Phone numbers').check()
    await page.getByLabel('Country').fill('Xx')
    await page.locator('form', { hasText: 'Replace before' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText(/must be a country of two letters/).waitFor()
    await page.getByLabel('Country').fill('us')
    await page.locator('form', { hasText: 'Replace before' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('The redaction has been changed.').waitFor()

    await page.getByRole('link', { name: 'All in the audit trail' }).click()
    await page.getByRole('table', { name: 'Audit trail' }).getByText('Calls deleted by retention').waitFor()
    expect(new URL(page.url()).searchParams.get('action')).toBe('calls_expired')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('redact: phone; country: US', { exact: true }).waitFor()
    expect(tab.complaints.filter((line) => !/400/.test(line))).toEqual([])
  })
})
