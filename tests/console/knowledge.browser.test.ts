import { afterEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { findings, sidewaysOverflow } from '../support/accessibility.ts'
import { type ShowOptions, startConsoleInBrowser } from '../support/console-page.ts'
import type { TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const { service, set, tabs } = await startConsoleInBrowser({ env: { KNOWLEDGE_TEXT_MAX_BYTES: '20000' } })
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('knowledge, in a browser', () => {
  const items = {
    Refunds: '# Refunds\n\nWe refund every parcel within thirty days.',
    Parking: '# Parking\n\nThe garage below the house takes forty cars.',
    Hours: '# Hours\n\nWe open at nine.',
  }

  /** A project with three items. */
  async function filled(): Promise<TestProject> {
    const project = await set.mintProject()
    for (const [name, text] of Object.entries(items))
      await project.send('POST', '/v1/knowledge', { name, text })
    return project
  }

  async function openTab({ id }: TestProject, path: string, options: ShowOptions = {}): Promise<Page> {
    return (await tabs.show(`/p/${id}/${path}`, { person: set.owner, ...options })).page
  }

  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
  const fileOf = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  const upload = (page: Page, ...files: ReturnType<typeof fileOf>[]) =>
    page.locator('input[type=file]').first().setInputFiles(files)

  test('an item is found by the words of its text, in any of their forms', async () => {
    const page = await openTab(await filled(), 'knowledge')
    await rowOf(page, 'Parking').getByText('by key').waitFor()
    await page.getByLabel('Find by name or text').fill('garages car')
    const hits = page.getByRole('region', { name: 'In texts' })
    await hits.getByRole('link', { name: 'Parking' }).waitFor()
    expect(await hits.getByRole('listitem').count()).toBe(1)
    expect(await hits.locator('mark').allTextContents()).toEqual(['garage', 'cars'])
    await page.waitForURL(/find=garages/)
    expect(await findings(page)).toEqual([])
    await hits.getByRole('link', { name: 'Parking' }).click()
    await page.getByText('takes forty cars').waitFor()
    await page.goBack()
    await page.getByLabel('Find by name or text').fill('zebra')
    await page.getByText('No item has this in its name or text').waitFor()
  })

  test('the list says how often questions found an item, where they are kept', async () => {
    const project = await filled()
    const page = await openTab(project, 'knowledge')
    await rowOf(page, 'Hours').waitFor()
    expect(await page.getByText('“Found” counts').count()).toBe(0)
    await service.services.settings.change(project.projectId, { keepQuestionsDays: 30 })
    const ask = (query: string) => project.send('POST', '/v1/knowledge/search', { query, timeoutMs: 10_000 })
    for (const query of ['refund a parcel', 'refunds', 'where is the garage']) await ask(query)
    await service.services.questions.flush()
    await page.reload()
    await page.getByText('asked in the last 30 days').waitFor()
    const found = async (name: string) => (await rowOf(page, name).locator('td').allTextContents()).at(-2)
    expect([await found('Refunds'), await found('Parking'), await found('Hours')]).toEqual(['2', '1', '0'])
  })

  test('tags stand under the names of items, limit the list, and are given to many at once', async () => {
    const page = await openTab(await filled(), 'knowledge')
    for (const name of ['Parking', 'Hours']) await page.getByLabel(`Select ${name}`).click()
    await page.getByRole('button', { name: 'Tag', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Add').fill('Visitors')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Change tags' }).click()
    await page.getByText('2 items changed.').waitFor()
    await rowOf(page, 'Parking').getByRole('listitem').getByText('visitors').waitFor()
    await page.getByLabel('Tags').first().click()
    await page.getByRole('option', { name: 'visitors' }).click()
    await page.waitForURL(/tags=/)
    await rowOf(page, 'Refunds').waitFor({ state: 'detached' })
    expect(await findings(page)).toEqual([])
    await page.getByRole('link', { name: 'Hours' }).click()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByLabel('Tags').and(page.locator('input:not([type=hidden])')).fill('daily')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved “Hours”').waitFor()
    await page.getByRole('listitem').getByText('daily').waitFor()
  })

  test('many items are deleted after a question that names and counts them', async () => {
    const project = await filled()
    const page = await openTab(project, 'knowledge')
    await page.getByLabel('Select Parking').click()
    await page.getByText('1 selected').waitFor()
    await page.getByLabel('Find by name or text').fill('h')
    await rowOf(page, 'Parking').waitFor({ state: 'detached' })
    expect(await page.getByText('1 selected').count()).toBe(0)
    await page.getByLabel('Find by name or text').fill('')
    await page.getByLabel('Select Refunds').click()
    await page.getByLabel('Select Hours').click()
    await page.getByText('2 selected').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('region', { name: 'Selected items' }).getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 2 items?' })
    await dialog.getByText('Refunds').waitFor()
    await dialog.getByRole('button', { name: 'Delete 2 items' }).click()
    await rowOf(page, 'Hours').waitFor({ state: 'detached' })
    await rowOf(page, 'Parking').waitFor()
    const left: { name: string }[] = await (await project.fetch('/v1/knowledge')).json()
    expect(left.map(({ name }) => name)).toEqual(['Parking'])
    const viewer = await set.join(project, 'viewer')
    const theirs = await openTab(project, 'knowledge', { person: viewer })
    await rowOf(theirs, 'Parking').waitFor()
    expect(await theirs.getByRole('checkbox').count()).toBe(0)
  })

  test('a file whose text is there already waits for an answer; one too long says so in plain words', async () => {
    const project = await filled()
    const page = await openTab(project, 'knowledge')
    await rowOf(page, 'Hours').waitFor()
    await upload(page, fileOf('opening.txt', items.Hours), fileOf('long.txt', 'x '.repeat(12_500)))
    await page.getByText('Imported 0 of 2, 1 failed, 1 to decide').waitFor()
    await page.getByText('The text has 25 kB, more than one item can hold.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Keep both' }).click()
    await page.getByText('Imported 1 of 2, 1 failed', { exact: true }).waitFor()
    await page.getByText('4 items', { exact: true }).waitFor()
    await upload(page, fileOf('garage.txt', items.Parking))
    await page.getByRole('button', { name: 'Replace' }).click()
    await page.getByText('Imported 2 of 3, 1 failed', { exact: true }).waitFor()
    await page.getByText('4 items', { exact: true }).waitFor()
  })

  test('a new item with the text of another is stored after a choice, and Knowledge is lit meanwhile', async () => {
    const project = await filled()
    const page = await openTab(project, 'new-item')
    const navigation = page.getByRole('navigation', { name: 'Main' })
    await navigation.locator('[aria-current=page]').waitFor()
    expect(await navigation.locator('[aria-current=page]').allTextContents()).toEqual(['Knowledge'])
    await page.getByLabel('Name').fill('Car park')
    await page.getByRole('textbox', { name: 'Text' }).fill(items.Parking)
    await page.getByText('Rendered').click()
    await page.getByRole('region', { name: 'Preview' }).getByRole('heading', { name: 'Parking' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('has this text already.').waitFor()
    await page.getByRole('button', { name: 'Replace' }).click()
    await page.waitForURL(/\/knowledge\/kn_/)
    await page.getByText(`by ${set.owner.name}`).waitFor()
    const names = (await (await project.fetch('/v1/knowledge')).json()).map(
      ({ name }: { name: string }) => name,
    )
    expect(names).toEqual(['Hours', 'Car park', 'Refunds'])
  })

  test('a name and a text from right to left are shown so, also while they are written', async () => {
    const project = await set.mintProject()
    const item = { name: 'שעות פתיחה', text: 'אנחנו פותחים בתשע.' }
    const { id } = await (await project.send('POST', '/v1/knowledge', item)).json()
    const page = await openTab(project, 'knowledge')
    const directionOf = (text: string) =>
      page
        .getByText(text)
        .first()
        .evaluate((element) => getComputedStyle(element).direction)
    await page.getByText(item.name).waitFor()
    expect(await directionOf(item.name)).toBe('rtl')
    await page.goto(`${page.url()}/${id}?tab=chunks`)
    await page.getByText(item.text).waitFor()
    expect([await directionOf(item.text), await directionOf('Chunks')]).toEqual(['rtl', 'ltr'])
    expect(
      await page.getByRole('heading', { level: 1 }).evaluate((h1) => getComputedStyle(h1).direction),
    ).toBe('rtl')
    await page.getByRole('tab', { name: 'Edit' }).click()
    const field = page.getByRole('textbox', { name: 'Text' })
    expect(await field.getAttribute('dir')).toBe('auto')
  })

  test('a page that failed heals when the service is back', async () => {
    const project = await filled()
    const tab = await tabs.open({ person: set.owner })
    await tab.open(`/p/${project.id}/knowledge`)
    await rowOf(tab.page, 'Hours').waitFor()
    await tab.context.setOffline(true)
    await tab.page.getByLabel('Find by name or text').fill('refund')
    await tab.page.getByText('could not be loaded').waitFor()
    await tab.context.setOffline(false)
    await rowOf(tab.page, 'Refunds').waitFor()
    expect(await tab.page.getByText('could not be loaded').count()).toBe(0)
    tab.complaints.length = 0
  })

  test('the monospaced typeface is loaded where something is set in it, and not before', async () => {
    const project = await filled()
    const tab = await tabs.open({ person: set.owner, isFresh: true })
    const asked: string[] = []
    tab.context.on('request', (request) => asked.push(request.url()))
    await tab.open(`/p/${project.id}/knowledge`)
    await rowOf(tab.page, 'Hours').waitFor()
    await tab.page.waitForLoadState('networkidle')
    const isMono = (url: string) => url.includes('jetbrains-mono')
    expect(asked.filter(isMono)).toEqual([])
    await tab.page.getByRole('link', { name: 'Hours' }).click()
    await until(() => asked.some(isMono))
  })

  test('a rendered text has space around its headings', async () => {
    const project = await set.mintProject()
    await project.send('PUT', '/v1/knowledge/hours', {
      name: 'Hours',
      text: '# Hours\n\nNine.\n\n## Parking\n\nYes.',
    })
    const page = await openTab(project, 'knowledge/hours')
    const heading = page.getByRole('heading', { level: 2, name: 'Parking' })
    await heading.waitFor()
    const space = () =>
      heading.evaluate((element) => {
        const { marginTop, marginBottom } = getComputedStyle(element)
        return [marginTop, marginBottom].map(Number.parseFloat)
      })
    expect(Math.min(...(await space()))).toBeGreaterThan(0)
  })

  test('the list and the form fit a phone', async () => {
    const project = await filled()
    for (const path of ['knowledge', 'knowledge?find=parcel', 'new-item']) {
      const page = await openTab(project, path, { width: 375, height: 740 })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      expect(await sidewaysOverflow(page)).toEqual([])
    }
  })
})
