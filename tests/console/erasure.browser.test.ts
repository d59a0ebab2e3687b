import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { findings } from '../support/accessibility.ts'
import { browserPath } from '../support/browser.ts'
import type { TestConsole } from '../support/console.ts'
import { type ConsolePage, type ConsoleTabs, startConsoleInBrowser } from '../support/console-page.ts'
import type { TestProject } from '../support/service.ts'

setDefaultTimeout(60_000)

describe.if(browserPath !== null)('erasing a person, in a browser', () => {
  let set: TestConsole
  let project: TestProject
  let tabs: ConsoleTabs
  let tab: ConsolePage

  beforeAll(async () => {
    ;({ set, project, tabs } = await startConsoleInBrowser({ env: { ERASE_WITHIN_MS: '500' } }))
    tab = await tabs.open({ person: set.owner })
  })
  afterEach(() => expect(tab.complaints).toEqual([]))
  afterAll(() => tabs.end())

  test('a hold is set, the count says what it keeps, and the rest is erased with a receipt', async () => {
    const { page, open } = tab
    for (const id of ['a', 'b', 'c'])
      await project.send('PUT', `/ingest/calls/${id}`, { callerNumber: '+1 555 729 4053' })
    await open(`/p/${project.id}/settings/privacy`)
    await page.getByText('A call', { exact: true }).click()
    await page.getByLabel('Call ID').fill('c')
    await page.getByLabel('Reason').fill('Court order 7')
    await page.getByRole('button', { name: 'Put on hold' }).click()
    await page.getByRole('button', { name: 'Lift the hold on c' }).waitFor()

    await page.getByLabel('Phone number', { exact: true }).fill('+15557294053')
    await page.getByRole('button', { name: 'Count calls' }).click()
    await page.getByText('2 calls of this number. 1 call on hold will stay.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Erase 2 calls' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('2')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page
      .getByText(/^Erased 2 calls\. The last byte of them was gone .* 1 call on hold stayed\.$/)
      .waitFor()
    // The address is in the history of the browser.
    expect(page.url()).not.toContain('555')

    await page.getByRole('button', { name: 'Lift the hold on c' }).click()
    await page.getByRole('button', { name: 'Lift hold' }).click()
    await page.getByText('Nothing is on hold.').waitFor()
    const list = await (await project.fetch('/v1/calls?fields=id')).json()
    expect(list.data).toEqual([{ id: 'c' }])
  })
})
