import { describe, expect, test } from 'bun:test'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { until } from '../support/until.ts'

const { set, tabs } = await startConsoleInBrowser()
const tab = await tabs.open({ person: set.owner })

describe('privacy, in a browser', () => {
  test('switching retention on asks for how many calls go, and the audit trail shows what went', async () => {
    const project = await set.mintProject()
    const times = { createdAt: '2020-01-01T00:00:00Z', occurredAt: '2020-01-01T00:05:00Z' }
    for (const id of ['a', 'b']) {
      const call = { status: 'completed', ...times }
      expect((await project.send('PUT', `/ingest/calls/${id}`, call)).status).toBe(201)
    }
    const { page, open } = tab
    await open(`/p/${project.id}/settings/privacy`)
    await page.getByLabel('Days to keep calls').fill('ninety')
    await page.keyboard.press('Enter')
    await page.getByText('Enter a whole number of days').waitFor()
    await page.getByLabel('Days to keep calls').fill('90')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 calls of this project were completed more than 90 days ago.').waitFor()
    const confirm = dialog.getByRole('button', { name: 'Delete 2 calls' })
    await dialog.getByLabel('Type 2 to confirm').fill('3')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Type 2 to confirm').fill('2')
    await confirm.click()
    await page.getByText('Retention saved.').waitFor()
    await page.getByText(/2 calls completed before/).waitFor()

    await page.getByLabel('After 7 days').click()
    await page.getByText('Silent call setting saved.').waitFor()

    await page.getByLabel('Record in the audit trail who opens').click()
    await page.getByText('Access logging setting saved.').waitFor()
    await page.getByLabel('Phone numbers').click()
    await page.getByText('Redaction saved.').waitFor()
    await page.getByLabel('Country').fill('Xx')
    await page.keyboard.press('Tab')
    await page.getByText(/must be a two-letter country code/).waitFor()
    await page.getByLabel('Country').fill('us')
    await page.keyboard.press('Tab')
    await page.getByText('Redaction saved.').nth(1).waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)

    // In a project that redacts, recordings are silenced unless somebody says otherwise.
    const silences = page.getByLabel('Silence the turns in which something is redacted')
    expect([await silences.isEnabled(), await silences.isChecked()]).toEqual([false, false])
    await page.getByLabel('Keep the recordings that platforms make').click()
    await page.getByText('Recordings saved.').waitFor()
    expect([await silences.isEnabled(), await silences.isChecked()]).toEqual([true, true])
    await page.getByLabel('Phone numbers').click()
    await until(async () => !(await silences.isEnabled()))
    expect(await page.getByLabel('Keep the recordings that platforms make').isChecked()).toBe(false)

    await page.getByRole('link', { name: 'View all in the audit trail' }).click()
    await page.getByRole('table', { name: 'Audit trail' }).getByText('Calls deleted by retention').waitFor()
    expect(new URL(page.url()).searchParams.get('action')).toBe('calls_expired')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('cell', { name: 'Redaction: phone', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'Country: US', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'Silent calls completed after: 7d', exact: true }).waitFor()
    // Of the many actions, one is searched for.
    await page.getByRole('button', { name: 'Action' }).click()
    await page.getByLabel('Search Action').fill('settings')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/action=settings_changed/)
    expect(tab.complaints.filter((line) => !/400/.test(line))).toEqual([])
  })
})
