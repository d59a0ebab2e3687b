import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { findings } from '../support/accessibility.ts'
import { browserPath } from '../support/browser.ts'
import type { TestConsole } from '../support/console.ts'
import { type ConsolePage, type ConsoleTabs, startConsoleInBrowser } from '../support/console-page.ts'
import type { TestProject, TestService } from '../support/service.ts'

setDefaultTimeout(60_000)

describe.if(browserPath !== null)('kept questions, in a browser', () => {
  let service: TestService
  let set: TestConsole
  let project: TestProject
  let tabs: ConsoleTabs
  let tab: ConsolePage

  beforeAll(async () => {
    ;({ service, set, project, tabs } = await startConsoleInBrowser())
    tab = await tabs.open({ person: set.owner })
  })
  afterEach(() => expect(tab.complaints).toEqual([]))
  afterAll(() => tabs.end())

  test('lead from what was not found to a new item and to the playground', async () => {
    const { page, open } = tab
    await open(`/p/${project.id}/knowledge`)
    await page.getByRole('link', { name: 'Questions' }).click()
    await page.getByText('Questions are not kept').waitFor()
    await service.services.settings.change(project.projectId, { keepQuestionsDays: 30 })
    const ask = (query: string) => project.send('POST', '/v1/knowledge/search', { query, timeoutMs: 10_000 })
    for (const query of ['Do you ship to Norway?', 'do you ship to norway?', 'Is there parking?'])
      await ask(query)
    await project.send('POST', '/v1/knowledge', { name: 'Refunds', text: 'We refund any order.' })
    await ask('Can I have a refund?')
    await ask('zyxwv qrstu')
    await service.services.questions.flush()

    await page.reload()
    await page.getByRole('tab', { name: 'Nothing found 3' }).waitFor()
    const row = page.getByRole('row').filter({ hasText: /ship to norway/i })
    expect(await row.getByRole('cell').nth(1).textContent()).toBe('2')
    expect(await page.getByRole('table').getByRole('row').count()).toBe(3)
    expect(await findings(page)).toEqual([])
    await page.getByRole('tab', { name: 'Found 1' }).click()
    await page.getByRole('row').filter({ hasText: 'Refunds' }).click()
    await page.getByText('Can I have a refund?').waitFor()
    await page.getByRole('tab', { name: 'Weak matches 1' }).click()
    await page.getByText('zyxwv qrstu').waitFor()

    await page.getByRole('tab', { name: 'Nothing found 3' }).click()
    await page.getByRole('row').filter({ hasText: 'parking' }).getByText('Try it').click()
    await page.getByRole('button', { name: 'Ask' }).waitFor()
    expect(await page.getByLabel('Question', { exact: true }).inputValue()).toBe('Is there parking?')
    await page.getByRole('article', { name: 'Passage 1' }).waitFor()
    await page.goBack()
    await page.getByRole('row').filter({ hasText: 'parking' }).getByText('Write an item').click()
    await page.getByRole('heading', { name: 'New item' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('## Is there parking?\n\n')
  })
})
