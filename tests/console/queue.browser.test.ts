import { afterEach, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { newestFirst, putCalls, said } from '../calls/put-calls.ts'
import { findings } from '../support/accessibility.ts'
import { addFilter, openListMenu, rowOf } from '../support/call-list.ts'
import { type OpenOptions, startConsoleInBrowser } from '../support/console-page.ts'
import type { TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const keysPerCallMax = 3

type Box = Awaited<ReturnType<Locator['boundingBox']>>
const { service, set, tabs } = await startConsoleInBrowser()
afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('reviewing, in a browser', () => {
  /** A project with failed calls `f0`, `f1`, … and as many others in between, the newest first. */
  async function projectWith(failed: number): Promise<TestProject> {
    const project = await set.mintProject()
    const calls = newestFirst(2 * failed, (at) => ({
      id: `${at % 2 === 0 ? 'f' : 's'}${Math.floor(at / 2)}`,
      duration: 60 + at,
      evaluation: at % 2 === 0 ? 'fail' : 'success',
      callerNumber: `+1415555${String(1_000 + at)}`,
      calledNumber: '+493055501234',
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
  const selected = (page: Page) => page.getByRole('region', { name: 'Selected calls' })
  /** Begins to review the list, which has so many calls. */
  const begin = async (page: Page, calls: number) => {
    await page.getByRole('button', { name: 'Review', exact: true }).click()
    await page.getByRole('button', { name: `Review ${calls} calls` }).click()
    await shown(page, 'f0')
  }
  const bottomOf = (box: Box) => (box?.y ?? 0) + (box?.height ?? 0)
  const rightOf = (box: Box) => (box?.x ?? 0) + (box?.width ?? 0)

  test('twenty failed calls are reviewed with the hands on the keys, one key each', async () => {
    const project = await projectWith(20)
    const page = await openTab(project, 'calls?evaluation=fail')
    let keys = 0
    const press = async (key: string) => {
      keys += 1
      await page.keyboard.press(key)
    }
    await begin(page, 20)
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
    await begin(page, 4)
    await page.keyboard.press('s')
    await shown(page, 'f1')
    // Of two keys at once the first one counts, and a key that is held judges one call.
    await page.evaluate(() => {
      for (const key of ['s', 'd'])
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    })
    await shown(page, 'f2')
    await page.evaluate(() => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 's', repeat: true, bubbles: true }))
    })
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

  test('going back from a queue leads to the list where it was begun', async () => {
    const project = await projectWith(3)
    const page = await openTab(project, 'calls?evaluation=fail')
    await begin(page, 3)
    await page.keyboard.press('s')
    await shown(page, 'f1')
    await page.getByRole('button', { name: 'Continue' }).click()
    // What is next is asked first.
    await page.waitForLoadState('networkidle')
    await page.goBack()
    await page.waitForURL(/\/calls\?evaluation=fail$/)
    await page.getByRole('button', { name: 'Clear filters' }).waitFor()
  })

  test('all calls that match are selected at the count shown, and what is done to them can be undone', async () => {
    const project = await projectWith(60)
    await set.owner.send('POST', `/projects/${project.id}/holds`, { callId: 'f3', reason: 'Court' })
    const page = await openTab(project, 'calls?evaluation=fail')
    const bar = selected(page)
    const selectAll = async () => {
      await page.getByRole('checkbox', { name: 'Select all loaded calls' }).click()
      await bar.getByRole('button', { name: 'Select all 60 calls' }).click()
      await bar.getByText('60 selected').waitFor()
    }
    const assigned = async () => {
      const name = encodeURIComponent(set.owner.name)
      const answer = await project.fetch(`/v1/calls?assignee=${name}&limit=100&fields=id`)
      return (await answer.json()).data.length
    }
    await selectAll()
    await bar.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('menuitem', { name: `${set.owner.name} (you)` }).click()
    const message = page.getByRole('alert').filter({ hasText: '60 calls assigned' })
    await message.waitFor()
    expect(await findings(page)).toEqual([])
    expect(await assigned()).toBe(60)
    await message.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('alert').filter({ hasText: '60 calls back as before' }).waitFor()
    expect(await assigned()).toBe(0)

    await bar.getByRole('button', { name: 'Export' }).click()
    const href = await page.getByRole('menuitem', { name: 'JSONL' }).getAttribute('href')
    expect(href).toMatch(/calls\.jsonl\?set=set_/)
    await page.keyboard.press('Escape')

    await bar.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 60 calls?' })
    await dialog.getByRole('button', { name: 'Delete 60 calls' }).click()
    const outcome = page.getByRole('alert').filter({ hasText: '59 calls were deleted' })
    await outcome.getByText('1 call is on hold and was not deleted').waitFor()
    await page.getByText('1 call', { exact: true }).waitFor()
    await rowOf(page, 'f3').waitFor()
  })

  test('of more than a thousand the first are selected, and all that match are deleted after a count', async () => {
    const project = await projectWith(1_001)
    await set.owner.send('POST', `/projects/${project.id}/holds`, { callId: 'f3', reason: 'Court' })
    const page = await openTab(project, 'calls?evaluation=fail')
    await page.getByRole('checkbox', { name: 'Select all loaded calls' }).click()
    const bar = selected(page)
    await bar.getByRole('button', { name: 'Select the first 1,000' }).click()
    await bar.getByText('1,000 selected, the first of those that match').waitFor()
    await bar.getByRole('button', { name: 'Delete all that match' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 1,000 calls?' })
    await dialog.getByText('1 call is on hold and stays.').waitFor()
    await dialog.getByRole('button', { name: 'Delete 1,000 calls' }).click()
    await page.getByText('1 call', { exact: true }).waitFor()
    await rowOf(page, 'f3').waitFor()
  })

  test('chosen calls are evaluated and reviewed together, and make a queue of their own', async () => {
    const project = await projectWith(3)
    const page = await openTab(project, 'calls')
    for (const id of ['s0', 's2']) await rowOf(page, id).getByRole('checkbox').click()
    const bar = selected(page)
    await bar.getByRole('button', { name: 'Evaluate' }).click()
    await page.getByRole('menuitem', { name: 'Failed' }).click()
    const message = page.getByRole('alert').filter({ hasText: '2 calls evaluated' })
    await message.waitFor()
    expect(bottomOf(await message.boundingBox())).toBeLessThan((await bar.boundingBox())?.y ?? 0)
    await rowOf(page, 's0').getByText('Failed').waitFor()
    await bar.getByRole('button', { name: 'Review' }).click()
    await page.getByText('All reviewed').waitFor()
    await page.getByText('2 of 2').first().waitFor()
    await page.getByRole('button', { name: 'End queue' }).click()
    await rowOf(page, 'f0').waitFor()
    expect((await (await set.owner.fetch(`/projects/${project.id}/call-sets`)).json()).data).toEqual([])
  })

  test('views are tabs, which are renamed and moved, and one of which the list begins with', async () => {
    const project = await projectWith(2)
    for (const [name, query] of [
      ['Failed', '?evaluation=fail'],
      ['Good', '?evaluation=success'],
    ])
      await set.owner.send('POST', `/projects/${project.id}/views`, { name, query, isShared: false })
    const page = await openTab(project, 'calls')
    const tabsOf = page.getByRole('navigation', { name: 'Views' })
    await rowOf(page, 's0').getByRole('checkbox').click()
    const bar = selected(page)
    await bar.waitFor()
    await tabsOf.getByRole('link', { name: 'Good' }).click()
    await page.waitForURL(/evaluation=success/)
    await rowOf(page, 'f0').waitFor({ state: 'detached' })
    // What was selected in another list is not.
    expect(await bar.count()).toBe(0)
    const act = async (item: string) => {
      await tabsOf.getByRole('button', { name: /^Change the view/ }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await act('Rename')
    await page.getByRole('textbox', { name: 'Name of the view' }).fill('Went well')
    await page.keyboard.press('Enter')
    await tabsOf.getByRole('link', { name: 'Went well' }).waitFor()
    await act('Move left')
    await until(
      async () => (await tabsOf.getByRole('link').allTextContents()).join() === 'All calls,Went well,Failed',
    )
    await act('Make default')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.waitForURL(/overview/)
    await until(async () => {
      const href = await page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: 'Calls' })
        .getAttribute('href')
      return href?.includes('evaluation=success') ?? false
    })
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.waitForURL(/evaluation=success/)
    await tabsOf.getByRole('link', { name: 'All calls' }).click()
    await rowOf(page, 'f0').waitFor()
  })

  test('chosen columns are all there, menus count what other filters leave, and low windows show rows', async () => {
    const project = await projectWith(30)
    const page = await openTab(project, 'calls?minDuration=90', { width: 1_280, height: 800 })
    await addFilter(page, 'Evaluation')
    await page.getByRole('menuitemcheckbox', { name: 'Failed 15' }).waitFor()
    await page.keyboard.press('Escape')
    await openListMenu(page)
    const chosen = ['Cost', 'Latency', 'Criteria', 'Source', 'End reason', 'Labels', 'Assigned to', 'Engaged']
    for (const name of chosen) await page.getByRole('menuitemcheckbox', { name }).click()
    await page.keyboard.press('Escape')
    for (const name of [...chosen, 'Conversation', 'Review'])
      expect([name, await page.getByRole('columnheader', { name, exact: true }).isVisible()]).toEqual([
        name,
        true,
      ])
    await rowOf(page, 'f15').getByTitle('+14155551030 called +493055501234').waitFor()
    await page.getByRole('columnheader', { name: 'Cost' }).getByRole('button').click()
    await page.waitForURL(/order=-cost/)
    await page.close()

    // As 1440 × 900 at 200 % zoom.
    const low = await openTab(project, 'calls', { width: 720, height: 450 })
    await rowOf(low, 'f0').waitFor()
    const seen = async () =>
      await low
        .locator('[data-call]')
        .evaluateAll((rows) => rows.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length)
    await until(async () => (await seen()) >= 6)
  })

  test('two filters and the button that clears them fit on one line, and menus have one scrollbar at most', async () => {
    const project = await projectWith(2)
    await set.owner.send('PATCH', `/projects/${project.id}/calls/f0/review`, { addLabels: ['billing'] })
    const page = await openTab(project, 'calls?evaluation=fail&date=last-7-days')
    const search = page.getByRole('searchbox', { name: 'Search words, numbers, IDs' })
    const clear = page.getByRole('button', { name: 'Clear filters' })
    expect((await clear.boundingBox())?.y).toBeLessThan(bottomOf(await search.boundingBox()))
    await rowOf(page, 'f0').getByRole('checkbox').click()
    const bar = selected(page)
    await bar.getByRole('button', { name: 'Label' }).click()
    await page.getByRole('option', { name: 'billing' }).first().waitFor()
    const scrolls = page.locator('.mantine-ScrollArea-viewport:visible').first()
    expect(await scrolls.evaluate((element) => getComputedStyle(element).scrollbarWidth)).toBe('none')
  })

  test('on a phone the chosen filters are on the first line, a summary fills its line, and a selection fits', async () => {
    const project = await projectWith(2)
    const page = await openTab(project, 'calls?label=none', { width: 375, height: 812 })
    const pill = page.getByRole('button', { name: 'Label No label' })
    expect(rightOf(await pill.boundingBox())).toBeLessThanOrEqual(375)
    const cell = (name: string) => rowOf(page, 'f0').locator(`[data-cell="${name}"]`)
    const [summary, duration] = [await cell('summary').boundingBox(), await cell('duration').boundingBox()]
    expect((duration?.x ?? 0) - rightOf(summary)).toBeLessThan(24)
    await rowOf(page, 'f0').getByRole('checkbox').click()
    const bar = selected(page)
    await bar.getByRole('button', { name: 'Clear selection' }).waitFor()
    expect(await bar.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    expect(await findings(page)).toEqual([])
  })

  test('on a phone a found line has no hole below it, and the keys of a queue are buttons', async () => {
    const project = await projectWith(3)
    const page = await openTab(project, 'calls?text=order&evaluation=fail', { width: 375, height: 812 })
    await rowOf(page, 'f0').locator('mark').first().waitFor()
    const heightOf = async (id: string) => (await rowOf(page, id).boundingBox())?.height ?? 0
    await until(async () => (await heightOf('f0')) < 70)
    await begin(page, 3)
    await page.getByRole('region', { name: 'Queue' }).getByRole('button', { name: 'Success' }).click()
    await shown(page, 'f1')
    expect(await findings(page)).toEqual([])
  })
})
