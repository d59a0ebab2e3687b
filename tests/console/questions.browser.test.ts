import { afterEach, describe, expect, test } from 'bun:test'
import { findings } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'

const { service, set, project, tabs } = await startConsoleInBrowser()
const tab = await tabs.show(`/p/${project.id}/questions`, { person: set.owner })

describe('questions, in a browser', () => {
  afterEach(async () => expect(await tabs.close()).toEqual([]))

  const ask = async (query: string, callId?: string) => {
    const headers = { 'content-type': 'application/json', ...(callId && { 'x-call-id': callId }) }
    const body = JSON.stringify({ query, timeoutMs: 10_000 })
    await project.fetch('/v1/knowledge/search', { method: 'POST', headers, body })
    await service.services.questions.flush()
  }
  const checked = async () => {
    service.services.questionChecks.schedule(project.projectId)
    await service.services.questionChecks.finish()
  }
  const row = (text: string) => tab.page.getByRole('row').filter({ hasText: text })
  const button = (name: string) => tab.page.getByRole('button', { name, exact: true })

  test('say how to keep them, and lead from a gap to a new item and to the playground', async () => {
    const { page, open } = tab
    await open(`/p/${project.id}/knowledge`)
    await page.getByRole('link', { name: 'Questions' }).click()
    await page.getByText('Questions are not kept').waitFor()
    await page.getByText(`bun callbook project set ${project.id} --keep-questions 30`).waitFor()
    // The link leads to the choice itself, which is saved as it is made.
    await page.getByRole('link', { name: 'Settings → Privacy' }).click()
    await page.getByLabel('Not at all').last().and(page.locator(':focus')).waitFor()
    await page.getByLabel('For 30 days').check()
    await page.getByText('Question setting saved.').waitFor()
    expect((await service.services.settingsOf(project.projectId)).keepQuestionsDays).toBe(30)
    await open(`/p/${project.id}/questions`)
    await project.send('PUT', '/v1/knowledge/refunds', { name: 'Refunds', text: 'We refund any order.' })
    for (const query of [
      'Do you ship to Norway?',
      'do you ship to norway',
      'Is there parking?',
      'zyxwv qrstu',
    ])
      await ask(query)
    await ask('Do you refund any order?')

    await page.reload()
    await page.getByRole('tab', { name: 'Gaps 3' }).waitFor()
    const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current]')
    expect(await current.allTextContents()).toEqual(['Knowledge'])
    await row('norway').click()
    await page.getByText('The best passage covers').waitFor()
    expect(await row('norway').getByRole('cell').nth(4).textContent()).toBe('2')
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByRole('button', { name: 'Ask' }).waitFor()
    expect(await page.getByLabel('Question', { exact: true }).inputValue()).toBe('do you ship to norway')
    await page.goBack()
    await page.getByRole('link', { name: 'Write an item' }).click()
    await page.getByRole('heading', { name: 'New item' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('do you ship to norway')
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('')
    expect(await current.allTextContents()).toEqual(['Knowledge'])
  })

  test('open one after the other as they are marked, and can be taken back and assigned', async () => {
    const { page, open } = tab
    const member = await set.join(project, 'member')
    await open(`/p/${project.id}/questions`)
    await row('norway').click()
    await button('Dismiss').focus()
    await page.keyboard.press('Escape')
    await button('Dismiss').waitFor({ state: 'detached' })
    expect(await row('norway').evaluate((it) => it === document.activeElement)).toBe(true)
    await row('norway').click()
    await button('Dismiss').waitFor()
    await row('norway').click()
    await button('Dismiss').waitFor({ state: 'detached' })
    await row('norway').click()
    await button('Dismiss').click()
    await page.getByRole('tab', { name: 'Gaps 2' }).waitFor()
    // The next one is open, and has the focus: a key is enough.
    await page.locator('tr[data-selected]:focus').getByText('zyxwv').waitFor()
    await page.keyboard.press('a')
    await page.getByRole('tab', { name: 'Gaps 1' }).waitFor()
    await page.locator('tr[data-selected]:focus').getByText('parking').waitFor()
    await page.getByRole('combobox', { name: 'Assigned to' }).last().click()
    await page.getByRole('option', { name: member.name }).click()
    await row('parking').getByText(member.name).waitFor()
    await page.getByRole('combobox', { name: 'Assigned to' }).first().click()
    await page.getByRole('option', { name: 'Assigned to me' }).click()
    await page.getByText('No question is assigned like this').waitFor()
    await page.getByRole('tab', { name: 'Answered 2' }).click()
    await row('zyxwv').click()
    await page.getByText(`Marked as answered by ${set.owner.name}`).waitFor()
    const closed = Promise.withResolvers<void>()
    await page.route('**/questions/asked/*', async (route) => {
      if (route.request().method() === 'PATCH') await closed.promise
      await route.continue()
    })
    await button('Clear mark').click()
    await row('zyxwv').click()
    await button('Clear mark').waitFor({ state: 'detached' })
    closed.resolve()
    await page.getByRole('tab', { name: 'Gaps 2' }).waitFor()
    await row('zyxwv').waitFor({ state: 'detached' })
    // It was closed before the answer came, and no other one opens.
    expect(await page.locator('tr[data-selected]').count()).toBe(0)
    await page.getByRole('tab', { name: 'Dismissed 1' }).click()
    await row('norway').click()
    await button('Reopen').click()
    await page.getByRole('tab', { name: 'Gaps 3' }).waitFor()
    await page.getByText('No question is dismissed').waitFor()
  })

  test('close when an item answers them, below the limit that the owner sets', async () => {
    const { page, open } = tab
    await project.send('PUT', '/v1/knowledge/parking', {
      name: 'Parking',
      text: 'There is parking behind us.',
    })
    await checked()
    await open(`/p/${project.id}/questions?tab=answered`)
    await row('parking').click()
    await page.getByText('Answered since').last().waitFor()
    await button('Gap threshold: 50%').click()
    await page.getByLabel('A question is a gap below').fill('0')
    await button('Save').click()
    await button('Gap threshold: 0%').waitFor()
    await page.getByRole('tab', { name: 'Gaps 0' }).waitFor()
    await service.services.settings.change(project.projectId, { gapCoverage: 0.5 })
  })

  test('name the gaps that are alike, which open from there', async () => {
    const { page, open } = tab
    const own = await set.mintProject()
    await service.services.settings.change(own.projectId, { keepQuestionsDays: 30 })
    await own.send('PUT', '/v1/knowledge/refunds', { name: 'Refunds', text: 'We refund any order.' })
    for (const query of ['zyxwv open', 'zyxwv, please', 'Which monks lived here?'])
      await own.send('POST', '/v1/knowledge/search', { query })
    await service.services.questions.flush()
    await open(`/p/${own.id}/questions`)
    await row('zyxwv open').click()
    await page.getByText('1 similar gap', { exact: true }).click()
    expect(await findings(page)).toEqual([])
    await page.getByRole('link', { name: 'zyxwv, please' }).click()
    await page.locator('tr[data-selected]').getByText('zyxwv, please').waitFor()
    await page.goBack()
    await page.locator('tr[data-selected]').getByText('zyxwv open').waitFor()
  })

  test('are asked again once an item is written for them, and the page asks where its text covers too little', async () => {
    const { page, open } = tab
    for (const query of ['Do you sell gift vouchers?', 'Is the lift working today?']) await ask(query)
    const write = async (question: string, text: string) => {
      await row(question).click()
      await page.getByRole('link', { name: 'Write an item' }).click()
      expect(await page.getByLabel('Name').inputValue()).toBe(question)
      await page.getByRole('textbox', { name: 'Text' }).fill(text)
      await button('Save').click()
    }
    await open(`/p/${project.id}/questions`)
    await write('Do you sell gift vouchers?', 'Yes, we sell gift vouchers. Do you want one? Ask at the desk.')
    await page.getByText(/^Answered, \d+%\.$/).waitFor()
    expect(await findings(page)).toEqual([])
    await button('Next question').and(page.locator(':focus')).click()
    await page.locator('tr[data-row][data-selected]').waitFor()
    // The name repeats the question, but the text says nothing about it.
    await write('Is the lift working today?', 'Nobody has written this yet.')
    await page.getByText('too little to close it').waitFor()
    await checked()
    await page.getByRole('tab', { name: /^Gaps/ }).click()
    await row('Is the lift working').waitFor()
    await page.goBack()
    await button('Yes, it answers it').click()
    await page.locator('tr[data-row]', { hasText: 'Is the lift working' }).waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: /^Answered/ }).click()
    await row('Is the lift working').waitFor()
  })

  test('of a call ask before they are kept as golden, and lead to the item that is wrong', async () => {
    const { page, open } = tab
    await project.send('PUT', '/ingest/calls/mine', { status: 'completed' })
    await ask('Do you refund my order from abroad?', 'mine')
    service.services.recordedSearch.noteRead(project.projectId, 'parking', 'mine')
    await service.services.questions.flush()
    await open(`/p/${project.id}/calls/mine`)
    await button('All details').click()
    await page.getByText('Knowledge: 1 question').click()
    await page.getByText('We refund any order.').waitFor()
    await page.getByText('Read whole: Parking').waitFor()
    expect(await findings(page)).toEqual([])
    await button('Wrong answer').click()
    await page.getByText('These words were said in a call').waitFor()
    expect(await findings(page)).toEqual([])
    await button('Keep until the call is erased').click()
    await page.getByRole('tab', { name: 'Edit', selected: true }).waitFor()
    await page.getByRole('heading', { name: 'Refunds' }).waitFor()
    await open(`/p/${project.id}/questions`)
    await row('from abroad').click()
    await page.getByText('Marked as not answered').waitFor()
    await page.getByRole('button', { name: 'Is a golden question' }).waitFor()
    await page.getByRole('tab', { name: 'Golden' }).click()
    await page.getByText('Kept until its call is erased').waitFor()
  })

  test('are kept from the playground in one’s own words, asked on demand, edited and deleted', async () => {
    const { page, open } = tab
    await open(`/p/${project.id}/playground?q=zyxwv+house+of+qrstu`)
    // How much of the question is covered, and what an agent is told of that.
    await page.getByText(/^\d+% of the question is covered/).waitFor()
    await page.getByText('“No passage covers this question well.”', { exact: false }).waitFor()
    await open(`/p/${project.id}/playground?q=Do+you+refund+my+order+from+abroad`)
    await page.getByRole('article', { name: 'Passage 1' }).waitFor()
    await button('Save as golden').click()
    const dialog = page.getByRole('dialog')
    // The page does not know that it was said in a call, but the service does.
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click()
    await dialog.getByText('These words were said in a call').waitFor()
    await dialog.getByLabel('Question').fill('Can an order from abroad be refunded?')
    await dialog.getByText('These words were said in a call').waitFor({ state: 'hidden' })
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click()
    await page.getByText('Golden question kept.').waitFor()
    await open(`/p/${project.id}/questions?tab=golden`)
    await button('Ask all now').click()
    await page.getByText('Found first').waitFor()
    await row('Can an order').getByText('First').waitFor()
    await row('Can an order').getByRole('button', { name: 'Edit question' }).click()
    await dialog.getByLabel('Question').fill('Do you refund orders from abroad?')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row('Do you refund orders').getByRole('button', { name: 'Delete question' }).click()
    await dialog.getByRole('button', { name: 'Delete question' }).click()
    await row('Do you refund orders').waitFor({ state: 'detached' })
    expect(await page.getByRole('row').count()).toBe(2)
  })

  test('of a file show it and are changed there alone; gaps are handed to a coding agent', async () => {
    const { page, open } = tab
    const [item] = await (await project.fetch('/v1/knowledge')).json()
    await service.services.golden.keepOfFiles(project.projectId, {
      prefix: item.id,
      files: [{ path: 'guide/orders.md', itemId: item.id, questions: ['Who answers from a file?'] }],
      isThere: () => true,
    })
    await open(`/p/${project.id}/questions?tab=golden`)
    await row('Who answers from a file?').getByText('guide/orders.md').waitFor()
    expect(await row('Who answers from a file?').getByRole('button').count()).toBe(0)
    await open(`/p/${project.id}/questions`)
    await button('Hand to a coding agent').click()
    await page.getByRole('dialog').getByText('/docs/guide/knowledge#close-gaps-with-a-coding-agent').waitFor()
  })

  test('can be seen by a viewer, who changes nothing', async () => {
    const viewer = await tabs.open({ person: await set.join(project, 'viewer') })
    await viewer.open(`/p/${project.id}/questions`)
    const norway = viewer.page.getByRole('row').filter({ hasText: 'norway' })
    await norway.click()
    const write = viewer.page.getByRole('link', { name: 'Write an item' })
    expect(await write.getAttribute('aria-disabled')).toBe('true')
    const dismiss = viewer.page.getByRole('button', { name: 'Dismiss' })
    expect(await dismiss.getAttribute('aria-disabled')).toBe('true')
    await viewer.page.keyboard.press('d')
    await viewer.page.getByRole('tab', { name: 'Golden' }).click()
    expect(await viewer.page.getByRole('button', { name: 'Ask all now' }).getAttribute('aria-disabled')).toBe(
      'true',
    )
    await viewer.page.getByRole('tab', { name: /^Gaps/ }).click()
    await norway.waitFor()
  })
})
