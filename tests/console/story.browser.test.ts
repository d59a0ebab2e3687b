import { afterEach, describe, expect, test } from 'bun:test'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { startInBrowser } from '../support/console-page.ts'

const { service, tabs } = await startInBrowser()
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the first five minutes, in a browser', () => {
  test('from the link of the first start to the receipt of an erasure', async () => {
    const { setupToken } = await bootstrap(service.services)
    const { page, open } = await tabs.open()
    const menu = page.getByRole('navigation', { name: 'Main' })
    const button = (name: string) => page.getByRole('button', { name, exact: true })

    await open(`/setup#${setupToken}`)
    await page.getByLabel('Name').fill('Ada Lovelace')
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('textbox', { name: 'Password' }).fill('a long row of words')
    await button('Create account').click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

    await menu.getByRole('link', { name: 'Calls' }).click()
    await button('Create an ingest key').click()
    await button('Create key').click()
    await button('I have stored it').click()
    await page.getByText('Run this command, and the call appears here:').waitFor()
    const command = (await page.locator('pre').textContent()) ?? ''
    expect(await answerTo(command)).toBe(201)

    // It appears without a reload.
    const row = page.locator('[data-call="first-call"]')
    await row.getByText('Asked when the shop opens.').waitFor()
    await row.getByRole('link').first().click()
    await page.getByRole('heading', { name: '+1 202 555 0143' }).waitFor()
    await page.keyboard.press('e')
    await page.getByRole('menuitem', { name: 'Failed' }).click()
    await page.getByText('Platform:').waitFor()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Note' }).fill('Closed on Mondays: say so.')
    await page.keyboard.press('Escape')
    await row.getByText('Failed').waitFor()

    await page.getByLabel('Search words, numbers, IDs').fill('tomorrow')
    await row.locator('mark', { hasText: 'tomorrow' }).waitFor()

    await menu.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'Privacy', exact: true }).click()
    await page.getByLabel('Phone number', { exact: true }).fill('+12025550143')
    await button('Open the person').click()
    await button('Erase 1 call').click()
    await page.getByRole('dialog').getByRole('textbox').fill('1')
    await button('Erase for good').click()
    await page.getByText(/^Erased 1 call\. The last byte was gone /).waitFor()
    await page.getByRole('link', { name: 'Open the receipt' }).waitFor()
    await menu.getByRole('link', { name: 'Calls' }).click()
    await page.getByText('No calls yet').waitFor()
    expect(await tabs.close()).toEqual([])
  })

  /** Sends what the command on the page would. */
  async function answerTo(command: string): Promise<number> {
    const [, method = '', url = ''] = /^curl -X (\w+) (\S+)/.exec(command) ?? []
    const headers = Object.fromEntries(
      [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
    )
    const [, body = ''] = /-d '([\s\S]*)'$/.exec(command) ?? []
    return (await fetch(url, { method, headers, body })).status
  }
})
