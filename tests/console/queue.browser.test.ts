import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { putCalls, said } from '../calls/put-calls.ts'
import { findings } from '../support/accessibility.ts'
import { browserPath } from '../support/browser.ts'
import type { TestConsole } from '../support/console.ts'
import { type ConsoleTabs, type OpenOptions, startConsoleInBrowser } from '../support/console-page.ts'
import type { TestProject, TestService } from '../support/service.ts'

setDefaultTimeout(60_000)
const minuteMs = 60_000
const keysPerCallMax = 3

describe.if(browserPath !== null)('reviewing, in a browser', () => {
  let service: TestService
  let set: TestConsole
  let tabs: ConsoleTabs

  beforeAll(async () => {
    ;({ service, set, tabs } = await startConsoleInBrowser())
  })
  afterEach(async () => expect(await tabs.close()).toEqual([]))
  afterAll(() => tabs.end())

  /** A project with failed calls `f0`, `f1`, … and as many others in between, the newest first. */
  async function projectWith(failed: number): Promise<TestProject> {
    const project = await set.mintProject()
    const calls = Array.from({ length: 2 * failed }, (_, at) => ({
      id: `${at % 2 === 0 ? 'f' : 's'}${Math.floor(at / 2)}`,
      status: 'completed' as const,
      duration: 60 + at,
      evaluation: at % 2 === 0 ? 'fail' : 'success',
      callerNumber: `+1415555${String(1_000 + at)}`,
      calledNumber: '+493055501234',
      createdAt: new Date(Date.now() - (at + 1) * minuteMs).toISOString(),
      ...said(`Where is order ${at}?`, 'It is on its way.'),
    }))
    await putCalls(service.services, project.projectId, calls)
    return project
  }

  async function openTab({ id }: TestProject, path: string, options: OpenOptions = {}): Promise<Page> {
    const tab = await tabs.open({ person: set.owner, ...options })
    await tab.open(`/p/${id}/${path}`)
    await tab.page.locator('[data-call]').first().waitFor({ state: 'attached' })
    return tab.page
  }

  /** Waits until the keys are those of this call. */
  const shown = (page: Page, id: string) =>
    page
      .getByRole('region', { name: `Call ${id}`, exact: true })
      .getByRole('region', { name: 'Queue' })
      .waitFor()
  const rowOf = (page: Page, id: string) => page.locator(`[data-call="${id}"]`)

  test('twenty failed calls are reviewed with the hands on the keys, one key each', async () => {
    const project = await projectWith(20)
    const page = await openTab(project, 'calls?evaluation=fail')
    let keys = 0
    const press = async (key: string) => {
      keys += 1
      await page.keyboard.press(key)
    }
    await page.getByRole('button', { name: 'Review', exact: true }).click()
    await page.getByRole('button', { name: 'Review 20 calls' }).click()
    await page.getByText('0 of 20').first().waitFor()
    for (let at = 0; at < 20; at++) {
      await shown(page, `f${at}`)
      await page
        .getByText(`Where is order ${2 * at}?`)
        .first()
        .waitFor()
      await press(['s', 'd', 'r'][at % 3] ?? '')
    }
    await page.getByText('All reviewed').waitFor()
    await page.getByText('20 of 20').first().waitFor()
    expect(keys).toBeLessThanOrEqual(20 * keysPerCallMax)
    const { data } = await (await project.fetch('/v1/calls?reviewed=true&limit=100&details=include')).json()
    const reviews = data.map(({ id, details }: { id: string; details: { review: object } }) => [
      id,
      details.review,
    ])
    expect(reviews).toHaveLength(20)
    expect(Object.fromEntries(reviews)).toMatchObject({
      f0: { evaluation: 'success', reviewed: true, by: set.owner.name },
      f1: { evaluation: 'fail', reviewed: true },
      f2: { evaluation: null, reviewed: true },
    })
    await rowOf(page, 'f0').getByTitle(`Reviewed by ${set.owner.name}`).waitFor()
    expect(await rowOf(page, 's0').count()).toBe(0)
  })

  test('back leads to the last one judged, whose new verdict goes on where the person was', async () => {
    const project = await projectWith(4)
    const page = await openTab(project, 'calls?evaluation=fail')
    await page.getByRole('button', { name: 'Review', exact: true }).click()
    await page.getByRole('button', { name: 'Review 4 calls' }).click()
    await shown(page, 'f0')
    await page.keyboard.press('s')
    await shown(page, 'f1')
    await page.keyboard.press('s')
    await shown(page, 'f2')
    await page.keyboard.press('b')
    await shown(page, 'f1')
    await page.keyboard.press('b')
    await shown(page, 'f0')
    await page.keyboard.press('d')
    await shown(page, 'f2')
    // A call that was skipped comes at the end, and one that was deleted does not come.
    await page.keyboard.press('j')
    await shown(page, 'f3')
    await page.getByText('2 of 4').first().waitFor()
    await page.keyboard.press('r')
    await shown(page, 'f2')
    await project.fetch('/v1/calls/f3', { method: 'DELETE' })
    await page.getByText('2 of 3').first().waitFor()
    expect(await findings(page)).toEqual([])
    // A page of the navigation is gone to, and nothing is judged.
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.waitForURL(/settings/)
    await page.goBack()
    await page.getByText('2 of 3').first().waitFor()
    await page.keyboard.press('?')
    await page.getByText('In a queue of reviews').waitFor()
    await page.keyboard.press('Escape')
    const { data } = await (await project.fetch('/v1/calls?evaluation=fail&fields=id')).json()
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['f0', 'f2'])
  })
})
