import { afterEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { putCalls } from '../calls/put-calls.ts'
import { findings, sidewaysOverflow } from '../support/accessibility.ts'
import { addFilter, openListMenu, saveView } from '../support/call-list.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import type { TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const dayMs = 86_400_000
const { service, set, tabs } = await startConsoleInBrowser()
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('charts of metrics, in a browser', () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString()

  /** Of agent `desk` 3 of 4 calls failed, of `night` 1 of 2; one of each is older than 14 days. */
  async function projectWithCalls(): Promise<TestProject> {
    const project = await set.mintProject()
    const call = (id: string, agent: string, evaluation: string, days: number, costUsd: number) => ({
      id,
      createdAt: daysAgo(days),
      status: 'completed' as const,
      duration: 60,
      evaluation,
      endedReason: 'hangup',
      details: { agent: { id: agent }, costUsd, latencyMs: 800 + days },
    })
    await putCalls(service.services, project.projectId, [
      call('d1', 'desk', 'fail', 0, 0.5),
      call('d2', 'desk', 'fail', 1, 0.25),
      call('d3', 'desk', 'success', 1, 0.25),
      call('d4', 'desk', 'fail', 40, 2),
      call('n1', 'night', 'success', 3, 1),
      call('n2', 'night', 'fail', 40, 2),
      // So old that each period has one before it.
      call('old', 'night', 'success', 200, 0.5),
    ])
    return project
  }

  const ids = (page: Page) =>
    page.locator('[data-call]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-call')).sort())
  const search = (page: Page) => new URL(page.url()).searchParams
  const failedShare = 'overview/chart?of=success&show=failed&by=agentId&date=last-14-days'

  test('a chart is made, kept, renamed, shown on the overview and deleted; a click on a bar opens exactly its calls', async () => {
    const project = await projectWithCalls()
    const { page } = await tabs.show(`/p/${project.id}/overview`, { person: set.owner })
    await page.getByRole('link', { name: 'New chart' }).click()
    await page.getByRole('heading', { name: 'Failed share by agent', level: 1 }).waitFor()
    const desk = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'desk' }) })
    await desk.getByText('66.7%').waitFor()
    await desk.getByText('3 calls').waitFor()

    await page.getByRole('button', { name: 'Save chart' }).press('Enter')
    const name = page.getByLabel('Put it on the overview as')
    expect(await name.inputValue()).toBe('Failed share by agent, last 14 days')
    await name.fill('Who')
    await name.press('Enter')
    await page.getByRole('heading', { name: 'Who', level: 1, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Rename' }).click()
    const renamed = page.getByRole('dialog').getByLabel('Name')
    expect(await renamed.inputValue()).toBe('Who')
    await renamed.fill('Who fails')
    await renamed.press('Enter')
    await page.getByRole('heading', { name: 'Who fails', level: 1 }).waitFor()
    await page.goBack()
    const kept = page
      .locator('section', { has: page.getByRole('heading', { name: 'Who fails', level: 2 }) })
      .last()
    await kept.getByText('Failed share by agent · Last 14 days').waitFor()
    await kept.getByRole('link', { name: 'desk' }).press('Enter')
    await page.getByRole('status').getByText('3 calls', { exact: true }).waitFor()
    expect(await ids(page)).toEqual(['d1', 'd2', 'd3'])
    await page.goBack()
    await kept.getByRole('link', { name: 'Open the chart Who fails' }).click()
    await page.getByRole('button', { name: 'Delete chart' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete chart' }).click()
    await page.getByRole('button', { name: 'Save chart' }).waitFor()
    const views = await (await set.owner.fetch(`/projects/${project.id}/views`)).json()
    expect(views.data).toEqual([])
  })

  test('choices and filters are in the address, and each point of a line leads to its day', async () => {
    const project = await projectWithCalls()
    const { page, open } = await tabs.show(`/p/${project.id}/${failedShare}`, { person: set.owner })
    await page.getByRole('combobox', { name: 'Measure' }).click()
    await page.getByRole('option', { name: 'Cost' }).click()
    await page.getByRole('combobox', { name: 'Value' }).click()
    await page.getByRole('option', { name: 'Total' }).click()
    await page.getByRole('combobox', { name: 'Group by' }).click()
    await page.getByRole('option', { name: 'Day', exact: true }).click()
    await addFilter(page, 'Agent')
    await page.getByRole('menuitemcheckbox', { name: /^desk/ }).click()
    await page.keyboard.press('Escape')
    const wanted = { of: 'costUsd', show: 'sum', by: 'day', agentId: 'desk', date: 'last-14-days' }
    await until(() => search(page).get('agentId') !== null)
    expect(Object.fromEntries(search(page))).toEqual(wanted)

    const days = page.getByRole('list', { name: 'Total cost by day' }).getByRole('link')
    await until(async () => (await days.count()) === 14)
    const yesterday = days.nth(12)
    expect(await yesterday.getAttribute('aria-label')).toMatch(/: \$0\.50 · 2 calls$/)
    await days.last().focus()
    await page.keyboard.press('ArrowLeft')
    expect(await yesterday.evaluate((link) => link === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByText('2 calls', { exact: true }).waitFor()
    expect(await ids(page)).toEqual(['d2', 'd3'])
    expect(search(page).has('date')).toBe(false)

    await page.goBack()
    await page.getByRole('button', { name: 'Show as table' }).press('Enter')
    const row = page.getByRole('row').filter({ hasText: '$0.50' }).first()
    expect(await row.getByRole('cell').allTextContents()).toEqual(['$0.50', '2'])
    expect(await findings(page, 'moderate')).toEqual([])
    await page.goto(page.url().replace('of=costUsd', 'of=mood'))
    await page.getByText('could not be loaded').waitFor()
    await open(`/p/${project.id}/overview/chart?of=calls&by=hour&from=2020-01-01&to=2026-01-01`)
    await page.getByText('more than 1,000 groups').waitFor()
  })

  test('the calls of a list are charted with their filters', async () => {
    const project = await projectWithCalls()
    const { page } = await tabs.show(`/p/${project.id}/calls?agentId=desk&date=last-7-days&order=duration`, {
      person: set.owner,
    })
    await openListMenu(page)
    await page.getByRole('menuitem', { name: 'Chart these calls' }).click()
    await page.getByRole('heading', { name: 'Calls by day', level: 1 }).waitFor()
    await page.getByRole('link', { name: '3 calls', exact: true }).waitFor()
    expect(Object.fromEntries(search(page))).toEqual({ agentId: 'desk', date: 'last-7-days' })
  })

  test('a viewer sees the charts that are shared, keeps one for themselves, and deletes no other', async () => {
    const project = await projectWithCalls()
    const view = { page: 'chart', query: '?of=calls&by=source' }
    for (const [name, isShared] of [
      ['Ours', true],
      ['Mine', false],
    ] as const)
      expect(
        (await set.owner.send('POST', `/projects/${project.id}/views`, { ...view, name, isShared })).ok,
      ).toBe(true)
    const viewer = await set.join(project, 'viewer')
    const { page, open } = await tabs.open({ person: viewer, width: 375, colorScheme: 'dark' })
    await open(`/p/${project.id}/overview`)
    const kept = page.locator('section', { has: page.getByRole('heading', { name: 'Ours' }) }).last()
    await kept.waitFor()
    expect(await page.getByRole('heading', { name: 'Mine' }).count()).toBe(0)
    await kept.getByText('4', { exact: true }).waitFor()
    expect(await sidewaysOverflow(page)).toEqual([])
    await kept.getByRole('link', { name: 'Open the chart Ours' }).click()
    await page.getByRole('heading', { name: 'Ours', level: 1 }).waitFor()
    expect(await page.getByRole('button', { name: /Delete chart|Rename/ }).count()).toBe(0)

    await open(`/p/${project.id}/${failedShare}`)
    await page.getByRole('button', { name: 'Save chart' }).click()
    expect(await page.getByLabel('Share with everyone in the project').isDisabled()).toBe(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Save chart' }).click()
    await page.getByRole('button', { name: 'Delete chart' }).waitFor()
    expect(await sidewaysOverflow(page)).toEqual([])
    // The list has no tab for it.
    await open(`/p/${project.id}/calls`)
    await page.locator('[data-call]').first().waitFor()
    expect(await page.getByText('Ours').count()).toBe(0)
  })

  test('the overview shows cost, latency and criteria of its period, and says how to get them', async () => {
    const project = await projectWithCalls()
    const { page, open } = await tabs.open({ person: set.owner })
    const card = (title: string) =>
      page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) }).last()
    await open(`/p/${project.id}/overview?date=last-30-days`)
    await card('Cost').getByText('$2.00', { exact: true }).waitFor()
    await card('Cost').getByText('was $4.00').waitFor()
    await card('Latency').getByText('803 ms', { exact: true }).waitFor()
    await card('Criteria passed').getByRole('link', { name: 'Write a rubric' }).waitFor()
    await card('Latency').getByText('was 840 ms, now 801 ms').waitFor()
    await card('Cost').getByText('was $2.00, now $1.00').waitFor()
    // All calls ended for one reason, which explains nothing.
    expect(await card('Cost').getByText('End reason').count()).toBe(0)
    await card('Cost').getByRole('link', { name: 'desk' }).click()
    await page.getByText('3 calls', { exact: true }).waitFor()
    expect(await ids(page)).toEqual(['d1', 'd2', 'd3'])
    await page.goBack()
    await card('Cost').getByText('was $2.00, now $1.00').waitFor()

    const criteria = [{ id: 'price', name: 'Named the price', question: 'Did the agent say what it costs?' }]
    const rubric = { criteria, fields: [], evaluation: ['price'] }
    expect((await set.owner.send('PUT', `/projects/${project.id}/analysis/rubric`, rubric)).status).toBe(200)
    const review = (id: string, verdict: string) =>
      set.owner.send('PATCH', `/projects/${project.id}/calls/${id}/review`, { criteria: { price: verdict } })
    expect((await review('d1', 'fail')).status).toBe(200)
    expect((await review('d3', 'pass')).status).toBe(200)
    await page.reload()
    await card('Criteria passed').getByText('50%', { exact: true }).waitFor()
    await card('Criteria passed')
      .getByRole('link', { name: /^Named the price/ })
      .click()
    await page.getByText('1 call', { exact: true }).waitFor()
    expect(await ids(page)).toEqual(['d1'])

    const empty = await set.mintProject()
    await putCalls(service.services, empty.projectId, [{ id: 'a', createdAt: daysAgo(0) }])
    await open(`/p/${empty.id}/overview`)
    await card('Cost').getByText('details.costUsd').waitFor()
    await card('Latency').getByText('details.latencyMs').waitFor()
  })

  test('a project that is younger than the period before is not compared with it', async () => {
    const project = await set.mintProject()
    const createdAt = daysAgo(40)
    await putCalls(service.services, project.projectId, [
      { id: 'first', createdAt },
      { id: 'second', createdAt: daysAgo(1) },
      { id: 'third', createdAt: daysAgo(1) },
    ])
    const { page } = await tabs.show(`/p/${project.id}/overview`, { person: set.owner })
    await page.getByText('with no earlier period to compare: the first call was on').waitFor()
    await page.getByText('2', { exact: true }).first().waitFor()
    expect(await page.getByText(/^was |compared with the/).count()).toBe(0)
    await page.getByRole('link', { name: '7 days' }).click()
    await page.getByText('compared with the previous 7 days').waitFor()
  })

  test('two groupings are stacked bars or a heat map, and the share of engaged calls is a measure', async () => {
    const project = await set.mintProject()
    const calls = [
      { id: 'a', evaluation: 'fail', isEngaged: true },
      { id: 'b', evaluation: 'success', isEngaged: true },
      { id: 'c', evaluation: 'success', isEngaged: false },
    ].map((call, at) => ({
      ...call,
      // On a Monday, at nine and at ten.
      createdAt: `2026-03-02T${at === 2 ? '10' : '09'}:30:00Z`,
      status: 'completed' as const,
      details: { agent: { id: 'desk' } },
    }))
    await putCalls(service.services, project.projectId, calls)
    await service.services.settings.change(project.projectId, { timeZone: 'UTC' })
    const { page, open } = await tabs.open({ person: set.owner })
    const chart = (query: string) =>
      open(`/p/${project.id}/overview/chart?from=2026-03-02&to=2026-03-04&${query}`)
    await chart('by=day')
    await page.getByRole('combobox', { name: 'Then by' }).click()
    await page.getByRole('option', { name: 'Evaluation' }).click()
    const days = page.getByRole('list', { name: 'Calls by day and evaluation' }).getByRole('link')
    await days.first().waitFor()
    expect(search(page).get('by')).toBe('day,evaluation')
    expect(await days.first().getAttribute('aria-label')).toEndWith('3 calls · 1 failed · 2 success')
    expect(
      await days
        .first()
        .locator('[data-kind]')
        .evaluateAll((parts) => parts.map((part) => part.getAttribute('data-kind'))),
    ).toEqual(['fail', 'success'])
    // Days without calls are there, too.
    expect(await days.count()).toBe(2)
    await page.getByRole('button', { name: 'Show as table' }).press('Enter')
    const row = page.getByRole('row').nth(1)
    expect(await row.getByRole('cell').allTextContents()).toEqual(['1', '2', '3'])

    await chart('by=agentId,evaluation')
    const bar = page.getByRole('list', { name: 'Calls by agent and evaluation' }).getByRole('listitem')
    await bar.getByRole('link', { name: 'desk' }).waitFor()
    expect(
      await bar.locator('[data-kind="fail"]').evaluate((part) => Number.parseFloat(part.style.width)),
    ).toBeCloseTo(33.3, 0)

    await chart('by=weekday,hourOfDay')
    const map = page.getByRole('table', { name: 'Calls by weekday and hour of the day' })
    await map.getByRole('rowheader', { name: 'Monday' }).waitFor()
    expect([await map.getByRole('columnheader').count(), await map.getByRole('rowheader').count()]).toEqual([
      25, 7,
    ])
    await map.getByText('Monday, 09:00: 2 calls').waitFor({ state: 'attached' })
    const heats = await map
      .locator('[style]')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('style')))
    expect(heats.filter((style) => style !== '--cb-heat: 0%;')).toEqual([
      '--cb-heat: 100%;',
      '--cb-heat: 50%;',
    ])

    await page.getByRole('combobox', { name: 'Measure' }).click()
    await page.getByRole('option', { name: 'Engagement' }).click()
    await page
      .getByRole('heading', { name: 'Engaged share by weekday and hour of the day', level: 1 })
      .waitFor()
    await page.getByText('Monday, 10:00: 0% · 1 call').waitFor({ state: 'attached' })
    await chart('of=latencyMs&show=p95&by=day,agentId')
    await page.getByRole('rowheader', { name: 'desk' }).waitFor()
  })

  test('a card whose metrics fail says so, and the others stay', async () => {
    const project = await projectWithCalls()
    const { page, open } = await tabs.open({ person: set.owner })
    await page.route(/\/metrics\?.*of=costUsd/, (route) =>
      route.fulfill({ status: 400, json: { code: 'x', title: 'Bad' } }),
    )
    await open(`/p/${project.id}/overview`)
    await page.getByText('Cost could not be loaded').waitFor()
    await page.getByText('803 ms', { exact: true }).waitFor()
    await page.getByRole('list', { name: 'Calls', exact: true }).waitFor()
  })

  test('a relative date stays in the address of the list, of its calls and of a saved view', async () => {
    const project = await projectWithCalls()
    const { page, open } = await tabs.show(`/p/${project.id}/calls`, { person: set.owner })
    await addFilter(page, 'Date')
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.getByText('4 calls', { exact: true }).waitFor()
    expect(search(page).toString()).toBe('date=last-7-days')
    await page.getByRole('button', { name: /^Date\s*Last 7 days/ }).waitFor()
    await saveView(page, 'This week')
    const { data } = await (await set.owner.fetch(`/projects/${project.id}/views`)).json()
    expect(data).toMatchObject([{ name: 'This week', page: 'calls', query: '?date=last-7-days' }])
    await page.locator('[data-call="n1"]').click()
    await until(() => page.url().includes('/calls/n1'))
    expect(search(page).get('date')).toBe('last-7-days')
    await open(`/p/${project.id}/calls?date=soon`)
    await page.getByText('“soon” is not').waitFor()
    expect(await ids(page)).toEqual([])
  })

  test.each([
    { whose: 'the browser', timeZone: null, first: 'a,b', second: 'c' },
    { whose: 'the project', timeZone: 'Pacific/Kiritimati', first: 'b,c', second: 'd' },
  ])(
    'a view of yesterday shows another day tomorrow, in the zone of $whose',
    async ({ timeZone, first, second }) => {
      const project = await set.mintProject()
      const at = (hour: number) => new Date(Date.UTC(2026, 5, 9, hour)).toISOString()
      const calls = { a: 8, b: 12, c: 33, d: 57 }
      await putCalls(
        service.services,
        project.projectId,
        Object.entries(calls).map(([id, hour]) => ({ id, createdAt: at(hour) })),
      )
      await service.services.settings.change(project.projectId, { timeZone })
      const { page, open } = await tabs.open({ person: set.owner, timezoneId: 'Europe/Berlin' })
      const dated = page.getByRole('button', { name: /^Date\s*Yesterday/ })
      await page.clock.setFixedTime(at(39))
      await open(`/p/${project.id}/calls`)
      await addFilter(page, 'Date')
      await page.getByRole('button', { name: 'Yesterday' }).click()
      await dated.waitFor()
      await until(async () => (await ids(page)).join() === first, 'calls of yesterday')
      await saveView(page, 'The day before')

      await page.clock.setFixedTime(at(63))
      await open(`/p/${project.id}/calls`)
      await page.getByRole('link', { name: 'The day before', exact: true }).click()
      await dated.waitFor()
      await until(async () => (await ids(page)).join() === second, 'calls of another day')
    },
  )
})

test('versions are compared in words and by a bar, each value leads to its calls, and what it cannot say stands there', async () => {
  const project = await set.mintProject()
  const made = (version: string, daysAgo: number, successes: number) =>
    Array.from({ length: 60 }, (_, n) => ({
      id: `${version}-${n}`,
      createdAt: new Date(Date.now() - daysAgo * dayMs - n * 1_000).toISOString(),
      status: 'completed' as const,
      evaluation: n < successes ? 'success' : 'fail',
      details: {
        agent: { id: 'desk', name: null, version },
        latencyMs: 800 + n,
        costUsd: n < 20 ? 0.1 : null,
      },
    }))
  await putCalls(service.services, project.projectId, [...made('v9', 12, 48), ...made('v10', 0, 24)])
  const { page } = await tabs.show(`/p/${project.id}/overview`, { person: set.owner })
  await page.getByRole('link', { name: 'Compare' }).click()
  await page.getByRole('heading', { name: 'v10 against v9' }).waitFor()
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  expect(await row('Success share').textContent()).toMatch(
    /80%v10: 40%−40 points \(−5\d(\.\d)? to −2\d.*Worse/,
  )
  expect(await row('Median latency').textContent()).toMatch(/829 ms0 ms \(−.+Not sure yet/)
  expect(await row('Average cost').textContent()).toMatch(/20 of 60 calls.+Not sure yet too few calls/)
  const text = await page.getByRole('main').textContent()
  expect(text).toContain('so whatever else changed between them is in the differences, too.')
  expect(text).toContain('Many calls of v10 are of the last hour.')
  expect(text).toContain(
    'the first figure shows a difference by chance in 1 of 20 comparisons, and so do the others together.',
  )
  await row('Success share').getByRole('link', { name: 'v10: 40%' }).click()
  await page.waitForURL(/agentVersion=v10/)
  await page.getByText('60 calls').first().waitFor()
  const address = new URL(page.url()).searchParams
  expect([address.get('agentId'), address.get('status')]).toEqual(['desk', 'completed'])

  await page.goBack()
  await page.getByText('Two groups of calls').click()
  await page.getByText('Choose a filter for A and one for B').waitFor()
  const { page: groups } = await tabs.show(
    `/p/${project.id}/overview/compare?by=filters&a=agentVersion%3Dv10&b=agentVersion%3Dv9&of=success`,
    { person: set.owner },
  )
  await groups.getByRole('heading', { name: 'B against A' }).waitFor()
  expect(await groups.getByRole('listitem').filter({ hasText: 'Success share' }).textContent()).toContain(
    'Better',
  )
})
