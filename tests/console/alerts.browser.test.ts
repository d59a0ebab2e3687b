import { afterEach, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { putCalls } from '../calls/put-calls.ts'
import { sidewaysOverflow } from '../support/accessibility.ts'
import { addFilter } from '../support/call-list.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { receiverEnv, startReceiver } from '../support/receiver.ts'
import type { TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** How far the service's clock is ahead. */
let aheadMs = 0
const now = () => Date.now() + aheadMs
const receiver = await startReceiver()
const { service, set, tabs } = await startConsoleInBrowser({
  env: receiverEnv,
  now: () => Date.now() + aheadMs,
  pagerDutyUrl: new URL('/pagerDuty', receiver.url).href,
})

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('alerts, in a browser', () => {
  const hoursAgo = (hours: number) => new Date(now() - hours * hourMs).toISOString()

  /** Of agent `desk` one call in ten days and three within an hour, of which two failed, and one of `night`. */
  async function projectWithCalls(): Promise<TestProject> {
    const project = await set.mintProject()
    const call = (id: string, agent: string, evaluation: string, hours: number) => ({
      id,
      createdAt: hoursAgo(hours),
      status: 'completed' as const,
      duration: 60,
      evaluation,
      details: { agent: { id: agent }, latencyMs: 900 },
    })
    await putCalls(service.services, project.projectId, [
      call('d1', 'desk', 'fail', 0.1),
      call('d2', 'desk', 'fail', 0.2),
      call('d3', 'desk', 'success', 0.3),
      call('d4', 'desk', 'success', 240),
      call('n1', 'night', 'success', 0.2),
    ])
    const hook = { url: new URL(`/hook/${project.projectId}`, receiver.url).href, events: ['alert.changed'] }
    expect((await set.owner.send('POST', `/projects/${project.id}/webhooks`, hook)).status).toBe(200)
    return project
  }

  const rulesOf = async (project: TestProject) =>
    (await (await set.owner.fetch(`/projects/${project.id}/alerts`)).json()).data
  const ids = (page: Page) =>
    page.locator('[data-call]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-call')).sort())
  const messages = (project: TestProject) =>
    receiver.received.filter(({ path }) => path === `/hook/${project.projectId}`)

  /** Counts what a person clicks. */
  function clicksOn() {
    let clicks = 0
    return {
      click: async (control: Locator) => {
        clicks++
        await control.click()
      },
      count: () => clicks,
    }
  }

  test('four clicks make an alert from a list, with its filters', async () => {
    const project = await projectWithCalls()
    const { page } = await tabs.show(
      `/p/${project.id}/calls?agentId=desk&evaluation=fail&date=yesterday&text=refund`,
      { person: set.owner },
    )
    const { click, count } = clicksOn()
    await click(page.getByRole('button', { name: 'More', exact: true }))
    await click(page.getByRole('menuitem', { name: 'Alert me when …' }))
    await page.getByText('Proposed from the last 30 days').waitFor()
    await click(page.getByLabel(/^Webhook/))
    await click(page.getByRole('button', { name: 'Create alert' }))
    await page.getByText('Created the alert').waitFor()
    expect(count()).toBe(4)
    expect(await rulesOf(project)).toMatchObject([
      {
        name: 'Calls above 0',
        filters: { agentId: ['desk'], evaluation: ['fail'] },
        of: 'calls',
        show: 'count',
        windowMinutes: 60,
        above: { alert: 0 },
        to: [{ webhook: expect.any(String) }],
      },
    ])
    await page.getByRole('cell', { name: /Calls above 0 in 1 hour.*Agent: desk/ }).waitFor()
  })

  test('three clicks make one from a chart and from a card of the overview, with their figure', async () => {
    const project = await projectWithCalls()
    const { page, open } = await tabs.open({ person: set.owner })
    const card = (title: string) =>
      page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) }).last()
    const ways = [
      [
        'overview/chart?of=success&show=failed&by=agentId&agentId=desk&date=last-14-days',
        () => page.getByRole('link', { name: 'Alert me when …' }),
        {
          name: 'Failed share above 50%',
          of: 'success',
          show: 'share',
          below: { alert: 0.5 },
          filters: { agentId: ['desk'] },
        },
      ],
      [
        'overview',
        () => card('Latency').getByRole('link', { name: 'Alert me when …' }),
        { name: 'P95 latency above 900 ms', of: 'latencyMs', show: 'p95', filters: {} },
      ],
    ] as const
    for (const [path, link, made] of ways) {
      const { click, count } = clicksOn()
      await open(`/p/${project.id}/${path}`)
      await click(link())
      await page.getByText('Proposed from the last 30 days').waitFor()
      await click(page.getByLabel(/^Webhook/))
      await click(page.getByRole('button', { name: 'Create alert' }))
      await page.getByText('Created the alert').waitFor()
      expect(count()).toBe(3)
      expect((await rulesOf(project)).at(-1)).toMatchObject(made)
    }
  })

  test('a rule is drawn over the last 30 days while it is edited, and changed, paused, tested and deleted', async () => {
    const project = await projectWithCalls()
    const { page } = await tabs.show(`/p/${project.id}/settings/alerts`, { person: set.owner })
    await page.getByRole('link', { name: 'The line is quiet' }).click()
    await page.getByText(/^Would have fired twice, for /).waitFor()
    await page.getByRole('textbox', { name: 'Limit' }).fill('0')
    await page.getByText('Would not have fired.').waitFor()
    await page.getByText('It is above').click()
    await page.getByText('Would have fired twice').waitFor()
    expect(await page.locator('rect[data-state="alert"]').count()).toBe(2)
    await addFilter(page, 'Duration')
    await page.getByLabel('At least, in seconds').fill('50')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Clear Duration' }).waitFor()
    await page.getByRole('textbox', { name: 'Warn sooner' }).fill('1')
    await page.getByText('Must be less than').waitFor()
    await page.getByRole('textbox', { name: 'Warn sooner' }).fill('')
    const create = page.getByRole('button', { name: 'Create alert' })
    expect(await create.isDisabled()).toBe(true)
    await page.getByLabel('Only show it here').check()
    expect(await create.isDisabled()).toBe(false)
    await page.getByRole('button', { name: 'Add Slack' }).click()
    expect(await page.getByLabel('Only show it here').count()).toBe(0)
    await page.getByLabel('Slack’s incoming webhook URL').fill('http://192.168.0.1/')
    await page.getByLabel('Name', { exact: true }).fill('Any call')
    await page.getByRole('button', { name: 'Create and send a test' }).click()
    await page
      .getByText(/address|https/i)
      .last()
      .waitFor()
    expect(await rulesOf(project)).toEqual([])
    const slack = new URL(`/slack/${project.projectId}/Wz4q`, receiver.url).href
    await page.getByLabel('Slack’s incoming webhook URL').fill(slack)
    await page.getByRole('button', { name: 'Create and send a test' }).click()
    await page.getByText('2 test messages').waitFor()
    const isOfSlack = ({ path }: { path: string }) => path === `/slack/${project.projectId}/Wz4q`
    await until(() => receiver.received.filter(isOfSlack).length === 2, 'two messages')

    await page.getByRole('link', { name: 'Any call' }).click()
    await page.getByRole('heading', { name: 'Any call', level: 1 }).waitFor()
    expect(await page.getByLabel(/^Slack/).isChecked()).toBe(true)
    expect(await page.content()).not.toContain(slack)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('is paused').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('At least one call')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'At least one call', level: 1 }).waitFor()
    expect(await rulesOf(project)).toMatchObject([
      { name: 'At least one call', filters: { minDuration: '50' }, to: [{ slack: '…Wz4q' }], paused: true },
    ])

    await page.getByRole('link', { name: 'All alerts' }).click()
    const menu = async (item: string) => {
      await page.getByRole('button', { name: 'Actions for At least one call' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await page.getByText('Paused', { exact: true }).waitFor()
    await menu('Resume')
    await page.getByText('is evaluated again').waitFor()
    expect(await rulesOf(project)).toMatchObject([{ paused: false }])
    await menu('Send a test message')
    await until(() => receiver.received.filter(isOfSlack).length === 4, 'four messages')
    await menu('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete alert' }).click()
    await page.getByText('No alerts yet').waitFor()
    expect(await rulesOf(project)).toEqual([])
  })

  test('what fired says when and for how long, and opens exactly the calls that were counted', async () => {
    const project = await projectWithCalls()
    const { data: offered } = await (
      await set.owner.fetch(`/projects/${project.id}/alerts/destinations`)
    ).json()
    const made = await set.owner.send('POST', `/projects/${project.id}/alerts`, {
      name: 'Desk fails',
      filters: { agentId: 'desk' },
      of: 'success',
      windowMinutes: 60,
      below: { alert: 0.6 },
      to: [{ webhook: offered[0].id }],
    })
    expect(made.status).toBe(200)
    const stateAfter = async (minutes: number, state: string) => {
      aheadMs += minutes * minuteMs
      await service.services.alertWatch.now()
      await until(async () => (await rulesOf(project))[0]?.state === state, state)
    }
    await stateAfter(1, 'alert')
    await until(() => messages(project).length === 1, 'a message')
    const { url } = messages(project)[0]?.data.alert ?? {}
    // Answered by the calls that succeed from now on.
    await putCalls(
      service.services,
      project.projectId,
      ['s1', 's2', 's3'].map((id) => ({
        id,
        createdAt: hoursAgo(0.01),
        status: 'completed',
        evaluation: 'success',
        details: { agent: { id: 'desk' } },
      })),
    )
    await stateAfter(5, 'ok')

    const { page } = await tabs.show(`/p/${project.id}/settings/alerts`, { person: set.owner })
    await page.getByRole('row', { name: /Desk fails.*OK/ }).waitFor()
    await page.getByRole('tab', { name: 'What fired' }).click()
    const row = page.getByRole('row', { name: /Alert Desk fails.*50%/ })
    await row.getByText('5m', { exact: true }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.setViewportSize({ width: 375, height: 800 })
    await page.getByRole('link', { name: /^4 calls of Desk fails/ }).click()
    await page.getByText('4 calls', { exact: true }).waitFor()
    expect(await ids(page)).toEqual(['d1', 'd2', 'd3', 'd4'])
    const parts = (address: string) => {
      const { pathname, searchParams } = new URL(address)
      return { pathname, ...Object.fromEntries(searchParams) }
    }
    expect(parts(page.url())).toEqual(parts(String(url)))
    expect(parts(page.url())).toMatchObject({ completedFrom: expect.any(String), agentId: 'desk' })
  })

  test('a viewer reads alerts and what they would have done, and changes nothing', async () => {
    const project = await projectWithCalls()
    const viewer = await set.join(project, 'viewer')
    const rule = {
      name: 'Any call',
      windowMinutes: 60,
      above: { alert: 0 },
      filters: { agentId: 'desk' },
      showOnly: true,
    }
    await set.owner.send('POST', `/projects/${project.id}/alerts`, rule)
    const { page, open } = await tabs.open({ person: viewer, width: 375, colorScheme: 'dark' })
    await open(`/p/${project.id}/settings/alerts`)
    await page.getByRole('link', { name: 'Any call' }).waitFor()
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'New alert' }).count()).toBe(0)
    expect(await sidewaysOverflow(page)).toEqual([])
    await page.getByRole('link', { name: 'Any call' }).click()
    await page.getByText('Calls above 0 in 1 hour.').waitFor()
    await page.getByText('Would have fired twice').waitFor()
    await page.getByText('Notifies nobody.').waitFor()
    expect(await page.getByRole('button', { name: /Save|Pause|Delete|test/ }).count()).toBe(0)
    expect(await sidewaysOverflow(page)).toEqual([])
    await open(`/p/${project.id}/settings/alerts/new`)
    await page.getByText('Viewers cannot make alerts').waitFor()
    for (const path of ['calls', 'overview', 'overview/chart']) {
      await open(`/p/${project.id}/${path}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      expect(await page.getByRole('link', { name: 'Alert me when …' }).count()).toBe(0)
    }
  })
})
