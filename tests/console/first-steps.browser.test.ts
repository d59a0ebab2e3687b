import { afterEach, describe, expect, test } from 'bun:test'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { readDays } from '../support/days.ts'
import { until } from '../support/until.ts'

const { service, set, tabs } = await startConsoleInBrowser()
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the first minutes, in a browser', () => {
  async function newProject(): Promise<string> {
    const answer = await set.owner.send('POST', '/projects', { name: 'Harbour Clinic' })
    return (await answer.json()).id
  }

  test('a key made on the overview is in the command, which works; each step ticks itself', async () => {
    const project = await newProject()
    const { page } = await tabs.show(`/p/${project}/overview`, { person: set.owner })
    await page.getByRole('button', { name: 'Create an ingest key' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const steps = page.getByRole('region', { name: 'First steps' })
    expect(await page.getByRole('list', { name: 'Calls', exact: true }).count()).toBe(0)
    const command = await steps.locator('pre').textContent()
    const [, key] = /Bearer (ck_ingest_\w+)'/.exec(command ?? '') ?? []

    const body = /-d '([\s\S]*)'$/.exec(command ?? '')?.[1] ?? ''
    const sent = await fetch(`${service.url}/ingest/calls/first-call`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
    expect(sent.status).toBe(201)
    await steps.getByText('Send your first call: done').waitFor()
    await page.getByRole('list', { name: 'Calls', exact: true }).waitFor()
    const item = { name: 'Hours', description: '', text: 'We open at nine.' }
    await set.owner.send('POST', `/projects/${project}/knowledge`, item)
    await steps.getByText('Add your first knowledge item: done').waitFor()
    // What is ticked leads to what it has made.
    await steps.getByRole('link', { name: 'Add your first knowledge item' }).click()
    await page.getByRole('heading', { name: 'Hours' }).waitFor()
    await page.goBack()
    await steps.getByRole('link', { name: 'Send your first call' }).click()
    await page.waitForURL(/calls\/first-call/)
    await page.goBack()
    await steps.getByText('Send your first call: done').waitFor()
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

  test('an example is made and opened', async () => {
    const { id: empty } = await set.mintProject()
    const { page } = await tabs.show(`/p/${empty}/overview`, { person: set.owner })
    await page.getByRole('button', { name: 'Fill with an example' }).click()
    await page.getByRole('link', { name: /^Success rate/ }).waitFor()
    await page.getByText('Criteria passed').waitFor()
    await service.services.demo.remove()
  })

  test('the list of calls is there after at most 22 requests', async () => {
    const { id: project } = await set.mintProject()
    const { page, open } = await tabs.open({ person: set.owner, isFresh: true })
    const paths: string[] = []
    page.on('request', (request) => paths.push(new URL(request.url()).pathname))
    // Once it is open, the list is asked for anew.
    await page.route('**/changes', () => undefined)
    await open(`/p/${project}/calls`)
    await page.getByText('No calls yet').waitFor()
    expect(paths.length).toBeLessThanOrEqual(22)
    // The page asks for them before its program runs, which takes those answers.
    for (const path of ['/console/api/session', `/console/api/projects/${project}/calls`])
      expect([path, paths.filter((one) => one === path).length]).toEqual([path, 1])
    expect(await page.evaluate('document.fonts.check("13px Inter")')).toBe(true)
  })

  test('every bar, figure and reason of the overview leads to exactly the calls that it counts', async () => {
    const project = await set.mintProject()
    const now = Date.now()
    const call = (at: number) => ({
      status: 'completed',
      // One just below the bound of a bar, and one on it.
      duration: [45, 9.9996, 10, 2_000][at % 4],
      evaluation: [undefined, 'fail', 'success', 'B+', 'fail'][at % 5],
      isEngaged: at % 3 === 0,
      endedReason: ['caller_hung_up', 'agent_hung_up', 'none', undefined][at % 4],
      createdAt: new Date(now - (at % 3) * 86_400_000).toISOString(),
      details: { agent: { id: `agent-${at % 2}` } },
    })
    const { ingest } = service.services
    for (let at = 0; at < 13; at += 1)
      await ingest.putEvent(project.projectId, `c${at}`, call(at), at % 3 ? 'vapi' : 'retell')
    await project.send('PUT', '/ingest/calls/live', {
      evaluation: 'fail',
      createdAt: new Date(now).toISOString(),
    })

    const days = [6, 0].map((ago) => new Date(now - ago * 86_400_000).toLocaleDateString('en-CA'))
    const { page } = await tabs.show(`/p/${project.id}/overview?from=${days[0]}&to=${days[1]}`, {
      person: set.owner,
    })
    const agent = page.getByRole('listitem').getByRole('link', { name: 'agent-1' })
    await agent.waitFor()
    await until(async () => (await page.locator('#content [aria-busy="true"]').count()) === 0)
    const links = await page.locator('#content a[href*="/calls?"]').evaluateAll((all) =>
      all.map((link) => ({
        href: link.getAttribute('href') ?? '',
        text: link.getAttribute('aria-label') ?? link.textContent ?? '',
        // What stands beside a bar: its calls, if its value is something else.
        beside: [...(link.closest('li')?.children ?? [])].map((part) => part.textContent ?? ''),
      })),
    )
    const period = new URLSearchParams(links.find(({ text }) => text === 'Calls')?.href.split('?')[1])
    const query = Object.fromEntries(period)
    const engaged = await service.services.figures.readBox(project.projectId, { ...query, by: 'isEngaged' })
    const all = await readDays(service.services, project.projectId, query)
    const sum = (kind: 'success' | 'fail') => all.reduce((sum, day) => sum + day[kind], 0)
    const figures: Record<string, number> = {
      Calls: engaged.total,
      'Success rate': sum('success'),
      'Median duration': 13,
      Engagement: engaged.data.find(({ key }) => key === 'true')?.calls ?? 0,
      'All failed calls': sum('fail'),
    }
    const counted = links.map(({ href, text, beside }) => {
      const said = /(?:: |^)(\d+) call/.exec(text) ?? /(?:^|\n)(\d+) call/.exec(beside.join('\n'))
      const count = figures[text] ?? Number(said?.[1] ?? /(\d+)$/.exec(beside.join('\n'))?.[1])
      return { href, text, count }
    })
    expect(counted.filter(({ count }) => count > 0)).toHaveLength(22)
    for (const { href, text, count } of counted) {
      const answer = await set.owner.fetch(`/projects/${project.id}/calls?${href.split('?')[1]}`)
      expect([text, (await answer.json()).total]).toEqual([text, count])
    }
    // The list reads each kind of link as the service does.
    const clicked = counted.filter(({ text }) => /^(Success|under 10s|No reason|Vapi)/.test(text))
    expect(clicked).toHaveLength(4)
    for (const { href, count } of clicked) {
      await page.locator(`#content a[href="${href}"]`).click()
      await page
        .getByRole('status')
        .filter({ hasText: new RegExp(`^${count} calls$`) })
        .waitFor()
      await page.goBack()
      await agent.waitFor()
    }
  })

  test('days and times are those of the project, as the person writes them, and calendars need no mouse', async () => {
    const project = await set.mintProject()
    const call = { status: 'completed', createdAt: '2026-03-02T11:30:00Z', duration: 12_000 }
    await project.send('PUT', '/ingest/calls/late', call)
    const { page, open } = await tabs.open({
      person: set.owner,
      locale: 'de-DE',
      timezoneId: 'America/Los_Angeles',
    })
    await open(`/p/${project.id}/settings/general`)
    await page.getByRole('combobox', { name: 'Time zone of the project' }).fill('auckl')
    await page.getByRole('option', { name: 'Pacific/Auckland' }).click()
    await page.locator('section', { hasText: 'Time zone' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('The time zone has been changed.').waitFor()

    await open(`/p/${project.id}/overview?from=2026-03-02&to=2026-03-03`)
    await page.getByText('Times in Pacific/Auckland').waitFor()
    await page.getByRole('link', { name: /^Mon.? 2 Mar: 0 calls/ }).waitFor()
    await page.getByRole('button', { name: 'Custom' }).click()
    const calendar = page.getByRole('dialog', { name: 'Custom' })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-day'))
    await until(async () => (await focused()) === '2026-03-03')
    expect(await calendar.locator('th').first().textContent()).toBe('Mon')
    for (const [key, day] of [
      ['End', '2026-03-08'],
      ['PageUp', '2026-02-08'],
      ['ArrowLeft', '2026-02-07'],
      ['Shift+PageUp', '2025-02-07'],
      ['Shift+PageDown', '2026-02-07'],
      ['PageDown', '2026-03-07'],
      ['Home', '2026-03-02'],
      ['ArrowRight', '2026-03-03'],
    ] as const) {
      await page.keyboard.press(key)
      await until(async () => (await focused()) === day)
    }
    const wasFirst = calendar.locator('[data-day="2026-03-02"][data-selected]')
    expect(await wasFirst.count()).toBe(1)
    await page.keyboard.press('Enter')
    await wasFirst.waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/overview?from=2026-03-03&to=2026-03-03')

    await page.getByRole('link', { name: /^3 Mar, 00:00: 1 call/ }).click()
    await page.getByText('1 call · Times in Pacific/Auckland').waitFor()
    await page.getByRole('rowheader', { name: /^Tue.? 3 Mar$/ }).waitFor()
    await page.locator('[data-call="late"]').getByText('00:30').waitFor()
    await page.getByRole('button', { name: /3 Mar, 00:00 – 3 Mar, 01:00$/ }).waitFor()
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
