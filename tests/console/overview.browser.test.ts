import { afterEach, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { putCalls } from '../calls/put-calls.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { hear } from '../support/recordings.ts'
import { until } from '../support/until.ts'

const { service, set, tabs } = await startConsoleInBrowser()
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the overview, in a browser', () => {
  test('shows every end reason and agent on request, and each leads to its calls', async () => {
    const project = await set.mintProject()
    const createdAt = new Date().toISOString()
    await putCalls(
      service.services,
      project.projectId,
      Array.from({ length: 112 }, (_, n) => ({
        id: `call-${n}`,
        createdAt,
        status: 'completed' as const,
        duration: 60,
        evaluation: n % 2 ? 'fail' : 'success',
        endedReason: `reason-${String(n).padStart(3, '0')}`,
        details: { agent: { id: `agent-${n % 9}` } },
      })),
    )
    await service.services.knowledge.add(project.projectId, {
      name: 'prices',
      text: 'A table costs nothing.',
    })
    const { page, open } = await tabs.open({ person: set.owner })
    const ofKeys: string[] = []
    page.on('request', (request) => request.url().endsWith('/keys') && ofKeys.push(request.url()))
    await open(`/p/${project.id}/overview`)
    const card = (title: string) =>
      page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) }).last()
    const reasons = page.getByRole('listitem').getByRole('link', { name: /^Reason / })
    await card('End reasons').getByRole('button', { name: 'Show 104 more' }).waitFor()
    expect(await reasons.count()).toBe(8)
    await page.getByRole('button', { name: 'Show 104 more' }).click()
    await reasons.nth(111).waitFor()
    // No first step is left to do.
    expect(ofKeys).toEqual([])
    await card('Calls by agent').getByRole('link', { name: 'agent-8' }).waitFor()
    await card('Durations').getByRole('button', { name: 'Show as table' }).press('Enter')
    await page.getByRole('link', { name: '1m to 2m' }).click()
    await page.getByText('112 calls', { exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Show 104 more' }).click()
    await page.getByRole('link', { name: 'Reason 111' }).click()
    await page.getByText('1 call', { exact: true }).waitFor()
    expect(await page.locator('[data-call]').getAttribute('data-call')).toBe('call-111')
  })

  test('is charts that each person arranges, and each opens as a chart of the same calls', async () => {
    const project = await set.mintProject()
    await putCalls(service.services, project.projectId, [
      {
        id: 'a',
        createdAt: new Date().toISOString(),
        status: 'completed',
        duration: 20,
        details: { costUsd: 1 },
      },
    ])
    const ada = await set.join(project, 'viewer')
    const { page, open } = await tabs.open({ person: ada })
    const titles = () =>
      page.getByRole('region', { name: 'Charts' }).getByRole('heading', { level: 2 }).allTextContents()
    await open(`/p/${project.id}/overview`)
    await page.getByRole('link', { name: 'Open the chart Cost' }).click()
    await page.getByRole('heading', { name: 'Total cost by day', level: 1 }).waitFor()
    expect(new URL(page.url()).searchParams.get('date')).toBe('last-30-days')
    await page.goBack()
    const before = [
      'Charts',
      'Calls',
      'Durations',
      'End reasons',
      'Cost',
      'Latency',
      'Criteria passed',
      'Knowledge',
    ]
    await until(async () => (await titles()).join() === before.join())
    await page.getByRole('button', { name: 'Arrange' }).click()
    await page.getByRole('button', { name: 'Move Cost back' }).click()
    await page.getByRole('button', { name: 'Hide Latency' }).click()
    await page.getByRole('button', { name: 'Show Latency' }).waitFor()
    const after = ['Charts', 'Calls', 'Durations', 'Cost', 'End reasons', 'Criteria passed', 'Knowledge']
    await page.getByRole('button', { name: 'Done' }).click()
    await until(async () => (await titles()).join() === after.join())
    await page.reload()
    await until(async () => (await titles()).join() === after.join())
    await page.getByRole('button', { name: 'Arrange' }).click()
    await page.getByRole('button', { name: 'Show Latency' }).click()
    await page.getByRole('button', { name: 'Restore the defaults' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await until(async () => (await titles()).join() === before.join())
    // It is theirs alone.
    const views = await (await ada.fetch(`/projects/${project.id}/views`)).json()
    expect(views.overview).toEqual({ order: [], hidden: [] })
  })

  test('has a chart of answers heard, and says of how many calls they are', async () => {
    const project = await set.mintProject()
    const calls = ['a', 'b', 'c'].map((id) => ({ id, status: 'completed' as const }))
    await putCalls(service.services, project.projectId, calls)
    const { page, open } = await tabs.open({ person: set.owner })
    await open(`/p/${project.id}/overview`)
    await page.getByRole('heading', { name: 'Latency', exact: true }).waitFor()
    expect(await page.getByRole('heading', { name: 'Answers heard' }).count()).toBe(0)
    await hear(service, project.projectId, 'a', [[[0, 1]], [[1.8, 3]]])
    await hear(service, project.projectId, 'b', 'mono')
    await page.reload()
    await page.getByText('Sound measured of 1 of 3 calls; 1 with one channel').waitFor()
    await page.getByRole('link', { name: 'Open the chart Answers heard' }).click()
    await page.getByRole('heading', { name: 'Median wait for answers by day', level: 1 }).waitFor()
    await page.getByText('800 ms').first().waitFor()
  })

  test('of a day is by its hours, and prints in the colours of the screen, with every row', async () => {
    const project = await set.mintProject()
    const createdAt = new Date(Date.now() - 86_400_000).toISOString()
    const calls = Array.from({ length: 30 }, (_, n) => ({
      id: `call-${n}`,
      createdAt,
      status: 'completed' as const,
      duration: 20,
      endedReason: `reason-${n}`,
    }))
    await putCalls(service.services, project.projectId, calls)
    const { page, open } = await tabs.open({ person: set.owner })
    await open(`/p/${project.id}/overview?date=yesterday`)
    const hours = page.getByRole('list', { name: 'Calls', exact: true }).getByRole('link')
    await until(async () => [23, 24, 25].includes(await hours.count()))
    await page.getByRole('link', { name: 'Open the chart Calls', exact: true }).click()
    await page.getByRole('heading', { name: 'Calls by hour and evaluation', level: 1 }).waitFor()
    expect(new URL(page.url()).searchParams.get('date')).toBe('yesterday')
    await page.goBack()
    await page.getByRole('button', { name: 'Show 22 more' }).click()
    await page.emulateMedia({ media: 'print' })
    const list = page.getByRole('list', { name: 'End reasons' })
    const cut = await list.evaluate((element) => {
      const card = element.closest('[aria-busy]') ?? element
      return {
        height: card.scrollHeight - card.clientHeight,
        colours: getComputedStyle(element).printColorAdjust,
      }
    })
    expect(cut).toEqual({ height: 0, colours: 'exact' })
    expect(await page.locator('#content button:visible').count()).toBe(0)
    await page.emulateMedia({ media: null })
  })

  test('has no empty card higher than its sentence, and no labels that overlap on a phone', async () => {
    const project = await set.mintProject()
    const createdAt = new Date().toISOString()
    await putCalls(service.services, project.projectId, [{ id: 'live', createdAt }])
    const { page, open } = await tabs.open({ person: set.owner, width: 375 })
    await open(`/p/${project.id}/overview`)
    const none = page.getByText('No completed calls in this period.')
    await none.waitFor()
    const durations = page.locator('section').filter({ has: none }).last()
    expect((await durations.boundingBox())?.height).toBeLessThan(110)
    expect(await page.getByRole('heading', { name: /^Calls by/ }).count()).toBe(0)

    const call = { id: 'one', createdAt, status: 'completed' as const, duration: 60 }
    await putCalls(service.services, project.projectId, [{ ...call, details: { agent: { id: 'desk' } } }])
    await page.getByRole('heading', { name: 'Calls by agent' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Calls by source' }).count()).toBe(0)
    const bars = page.getByRole('list', { name: 'Calls', exact: true }).getByRole('listitem')
    await bars.first().waitFor()
    for (const days of [7, 30, 90]) {
      await page.getByRole('link', { name: `${days} days` }).click()
      await until(async () => (await bars.count()) === days)
      expect(await overlappingLabels(page)).toEqual([])
    }
  })

  test('shows yesterday in one click, and on a phone its choices and the heads of charts take one line', async () => {
    const project = await set.mintProject()
    const dayMs = 86_400_000
    const calls = [0, 1, 2].map((daysAgo) => ({
      id: `call-${daysAgo}`,
      createdAt: new Date(Date.now() - daysAgo * dayMs).toISOString(),
      status: 'completed' as const,
      duration: 60,
      evaluation: 'fail',
      summary: `Failed ${daysAgo} days ago`,
    }))
    await putCalls(service.services, project.projectId, calls)
    const chart = {
      name: 'A long name of a chart of failures',
      query: '?of=calls&by=day',
      page: 'chart',
      isShared: false,
    }
    expect((await set.owner.send('POST', `/projects/${project.id}/views`, chart)).ok).toBe(true)
    const { page, open } = await tabs.open({ person: set.owner, width: 375 })
    await open(`/p/${project.id}/overview`)
    const yesterday = page.getByRole('link', { name: 'Yesterday' })
    await yesterday.click()
    await page.getByText('Failed 1 days ago').waitFor()
    await page.getByText('Failed 2 days ago').waitFor({ state: 'detached' })
    expect(await yesterday.getAttribute('aria-current')).toBeTruthy()
    expect(new URL(page.url()).searchParams.get('date')).toBe('yesterday')
    await page.evaluate('document.fonts.ready')
    const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? 0
    const custom = page.getByRole('button', { name: 'Custom' })
    expect(await topOf(custom)).toBe(await topOf(yesterday))
    const kept = page.locator('section', { has: page.getByRole('heading', { name: chart.name }) }).last()
    await kept.getByRole('link', { name: `Open the chart ${chart.name}` }).waitFor()
    const icons = await kept.locator('header > div > *').evaluateAll((parts) =>
      parts.map((part) => {
        const { top, bottom } = part.getBoundingClientRect()
        return Math.round((top + bottom) / 2)
      }),
    )
    expect(new Set(icons).size).toBe(1)
  })

  test('hovering a link to a call does not request the call, which would be audited as opening it', async () => {
    const project = await set.mintProject()
    const [createdAt, evaluation] = [new Date().toISOString(), 'fail']
    const failed = { status: 'completed' as const, duration: 60, createdAt, evaluation }
    const transcript = [{ role: 'user' as const, content: 'Nobody called back.' }]
    await putCalls(service.services, project.projectId, [{ id: 'failed', ...failed, transcript }])
    const { page, open } = await tabs.open({ person: set.owner })
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await open(`/p/${project.id}/overview`)
    const link = page.locator('a[href*="/calls/failed"]').first()
    await link.waitFor()
    const code = page.waitForResponse((response) => /\/assets\/call-view-\w+\.js$/.test(response.url()))
    await link.hover()
    await code
    expect(requested.filter((path) => path.includes('/calls/failed'))).toEqual([])
    await link.click()
    await page.locator('#call li p', { hasText: 'Nobody called back.' }).waitFor()
    expect(requested.filter((path) => path.endsWith('/calls/failed'))).toHaveLength(1)
  })
})

/** Labels below bars that begin before the one on their left ends. */
async function overlappingLabels(page: Page): Promise<string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('ul:has([data-at])')].flatMap((chart) => {
      const labels = [...chart.querySelectorAll('[data-at]')].filter((label) => label.checkVisibility())
      const boxes = labels.map((label) => label.getBoundingClientRect())
      return labels.flatMap((label, at) =>
        (boxes[at]?.left ?? 0) < (boxes[at - 1]?.right ?? 0) ? [label.textContent] : [],
      )
    }),
  )
}
