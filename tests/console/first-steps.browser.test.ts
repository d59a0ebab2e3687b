import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { findings } from '../support/accessibility.ts'
import { browserPath, openBrowser, type TestBrowser } from '../support/browser.ts'
import { startConsole, type TestConsole } from '../support/console.ts'
import { buildPage, ConsoleTabs } from '../support/console-page.ts'
import { startService, type TestService } from '../support/service.ts'

setDefaultTimeout(90_000)

describe.if(browserPath !== null)('the first minutes, in a browser', () => {
  let service: TestService
  let set: TestConsole
  let opened: TestBrowser
  let tabs: ConsoleTabs

  beforeAll(async () => {
    await buildPage()
    service = await startService()
    set = await startConsole(service)
    opened = await openBrowser()
    tabs = new ConsoleTabs(opened, service)
  })
  afterEach(async () => expect(await tabs.close()).toEqual([]))
  afterAll(async () => {
    await opened.close()
    await service.stop()
  })

  async function newProject(): Promise<string> {
    const answer = await set.owner.send('POST', '/projects', { name: 'Harbour Clinic' })
    return (await answer.json()).id
  }

  test('a key made on the overview is in the command, which works; each step ticks itself', async () => {
    const project = await newProject()
    const { page, open } = await tabs.open({ person: set.owner })
    await open(`/p/${project}/overview`)
    await page.getByRole('button', { name: 'Create an ingest key' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const steps = page.getByRole('region', { name: 'First steps' })
    const command = await steps.locator('pre').textContent()
    const [, key] = /Bearer (ck_ingest_\w+)'/.exec(command ?? '') ?? []
    expect(await findings(page, 'moderate')).toEqual([])

    const body = /-d '([\s\S]*)'$/.exec(command ?? '')?.[1] ?? ''
    const sent = await fetch(`${service.url}/ingest/calls/first-call`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
    expect(sent.status).toBe(201)
    await steps.getByText('Send your first call: done').waitFor()
    const item = { name: 'Hours', description: '', text: 'We open at nine.' }
    await set.owner.send('POST', `/projects/${project}/knowledge`, item)
    await steps.getByText('Add your first knowledge item: done').waitFor()
    await fetch(`${service.url}/ingest/calls/second-call`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ details: { agent: { id: 'front-desk' } } }),
    })
    await page.reload()
    await page.getByRole('link', { name: /^Success rate/ }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await steps.count()).toBe(0)
  })

  test('the list of calls is there after at most 20 requests', async () => {
    const { id: project } = await set.mintProject()
    const { page, open } = await tabs.open({ person: set.owner })
    const paths: string[] = []
    page.on('request', (request) => paths.push(new URL(request.url()).pathname))
    await open(`/p/${project}/calls`)
    await page.getByText('No calls yet').waitFor()
    expect(paths.length).toBeLessThanOrEqual(20)
    expect(await page.evaluate('document.fonts.check("13px Inter")')).toBe(true)
  })

  test('a bar of the overview leads to the calls of its day', async () => {
    const project = await set.mintProject()
    await project.send('PUT', '/ingest/calls/failed', {
      status: 'completed',
      duration: 45,
      evaluation: 'fail',
    })
    const { page, open } = await tabs.open({ person: set.owner })
    await open(`/p/${project.id}/overview`)
    await page.getByRole('link', { name: /: 1 call · 1 failed$/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
    const { searchParams } = new URL(page.url())
    expect(Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')).toBe(
      86_400_000,
    )
    await page.locator('a[href*="/calls/failed"]').waitFor()
  })

  test('the right link works in a tab that opened a truncated one, and an unknown address has a page', async () => {
    const project = await set.mintProject()
    const answer = await set.owner.send('POST', `/projects/${project.id}/invitations`, { role: 'member' })
    const { link } = await answer.json()
    const { page } = await tabs.open()
    await page.goto(link.slice(0, -4))
    await page.getByText('This link does not work').first().waitFor()
    await page.goto(link)
    await page.getByRole('heading', { name: `Join ${project.name}` }).waitFor()

    const lost = await page.goto(`${service.url}/console/p/none/other/prices.md`)
    expect(lost?.status()).toBe(404)
    await page.goto(`${service.url}/console/nowhere`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.goto(service.url)
    expect(new URL(page.url()).pathname).toStartWith('/console')
    expect((await fetch(`${service.url}/console/nowhere`)).headers.get('content-type')).toContain(
      'problem+json',
    )
  })
})
