import { afterEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { CallChange, CallDetails } from '../../src/calls/schemas.ts'
import { findings } from '../support/accessibility.ts'
import { boxOf } from '../support/call-list.ts'
import { type ShowOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { until } from '../support/until.ts'

const turnCount = 600
const caller = '+15557294053'

const printedOf = (page: Page) => page.locator('ol[aria-label="Whole conversation"]')

const call: CallChange = {
  status: 'completed',
  duration: 12,
  evaluation: 'success',
  callerNumber: caller,
  summary: 'Moved the booking to Friday.',
  transcript: [
    { role: 'assistant', content: 'Good morning, how can I help?' },
    { role: 'user', content: 'Can I move my booking to Friday?' },
    { role: 'assistant', content: 'It is moved.' },
  ],
  details: { timeline: [0, 3, 8].map((atSeconds, turn) => ({ atSeconds, kind: 'turn', turn })) },
}
const long: CallChange = {
  status: 'completed',
  transcript: Array.from({ length: turnCount }, (_, n) => ({
    role: n % 2 ? 'user' : 'assistant',
    content: `This is turn ${n}.`,
  })),
}
const { service, set, project, tabs } = await startConsoleInBrowser()
const inputs = [
  ...['one', 'two', 'three'].map((id) => ({ id, change: call })),
  { id: 'labelled', change: { ...call, callerNumber: null } },
  { id: 'long', change: long },
]
for (const result of await service.services.ingest.putAll(project.projectId, inputs))
  if (result instanceof Error) throw result

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('work on a call, in a browser', () => {
  async function openCall(path: string, options: ShowOptions = {}): Promise<Page> {
    const { page } = await tabs.show(`/p/${project.id}/calls/${path}`, { person: set.owner, ...options })
    await page.getByRole('region', { name: 'Review' }).waitFor()
    return page
  }

  async function focused(page: Page, tag: string): Promise<void> {
    await until(() => page.evaluate((name) => document.activeElement?.tagName === name, tag))
  }

  /** Chooses from the menu of the call. */
  async function choose(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: 'More for this call' }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }

  async function reviewOf(id: string): Promise<CallDetails['review']> {
    return (await (await project.fetch(`/v1/calls/${id}/details`)).json()).review
  }

  test('is evaluated, labelled and noted by keys, and the platform stays visible', async () => {
    const page = await openCall('one')
    await page.getByRole('heading', { name: '+1 555 729 4053' }).waitFor()
    await page.keyboard.press('e')
    await page.getByRole('menuitem', { name: 'Failed' }).click()
    await until(async () => (await reviewOf('one'))?.evaluation === 'fail')
    await page.getByText('Platform:').waitFor()
    await page.getByRole('button', { name: 'Reviewed', exact: true }).waitFor()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.keyboard.press('l')
    await focused(page, 'INPUT')
    await page.keyboard.type('needs call')
    await page.keyboard.press('Enter')
    await until(async () => (await reviewOf('one'))?.labels[0] === 'needs call')
    await page.keyboard.press('Escape')
    await page.getByLabel('Labels').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Flag this turn' }).nth(1).click()
    await until(async () => (await reviewOf('one'))?.flaggedTurns?.[0] === 1)
    await page.keyboard.press('n')
    await focused(page, 'TEXTAREA')
    await page.keyboard.type('Ring back on Monday, e.g. at noon.')
    // Kept although its field goes away while it is written.
    await page.goBack()
    await until(async () => (await reviewOf('one'))?.note === 'Ring back on Monday, e.g. at noon.')
    await page.goForward()
    await page.reload()
    const notes = page.getByRole('region', { name: 'Written by people' })
    await notes.getByText('needs call').waitFor()
    await notes.getByText('Ring back on Monday, e.g. at noon.').click()
    expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe(
      'Ring back on Monday, e.g. at noon.',
    )
    await page.keyboard.press('Escape')
    await notes.getByTitle('Go to turn 2').click()
    await page.locator('li[data-target]', { hasText: 'Friday' }).waitFor()
    await notes.getByRole('button', { name: 'Remove the flag of turn 2' }).click()
    await until(async () => (await reviewOf('one'))?.flaggedTurns?.length === 0)
    await page.getByRole('button', { name: 'Flag this turn', pressed: true }).waitFor({ state: 'detached' })
  })

  test('takes labels that are typed before their field is loaded', async () => {
    const { page, open } = await tabs.open({ person: set.owner })
    const loading = Promise.withResolvers<void>()
    await page.route('**/assets/call-popups-*', async (route) => {
      await loading.promise
      await route.continue()
    })
    await open(`/p/${project.id}/calls/labelled`)
    await page.getByRole('region', { name: 'Review' }).waitFor()
    await page.keyboard.press('l')
    await focused(page, 'INPUT')
    await page.keyboard.type('late')
    await page.keyboard.press('Enter')
    await until(async () => (await reviewOf('labelled'))?.labels[0] === 'late')
    await page.keyboard.type('ne')
    loading.resolve()
    await page.getByRole('combobox', { name: 'Labels' }).waitFor()
    await page.keyboard.type('wer')
    await page.keyboard.press('Enter')
    await until(async () => (await reviewOf('labelled'))?.labels[1] === 'newer')
  })

  test('l and n open a small field over the call: nothing moves, and nothing stays open for the next call', async () => {
    const page = await openCall('long#turn-400')
    const named = page.locator('li[data-target]')
    const panel = page.getByRole('region', { name: /^Call / })
    const places = async () => [await boxOf(named), await panel.evaluate((element) => element.scrollTop)]
    await until(async () => (await panel.evaluate((element) => element.scrollTop)) > 1_000)
    const before = await places()
    for (const name of ['Labels', 'Note']) {
      const field = page.locator(`#call [aria-label="${name}"]`)
      await page.keyboard.press(name === 'Labels' ? 'l' : 'n')
      await until(() => field.evaluate((element) => element === document.activeElement))
      expect(await places()).toEqual(before)
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'detached' })
      expect(await places()).toEqual(before)
    }
    const short = await openCall('two')
    const first = short.locator('#call li[data-role]').first()
    const top = await boxOf(first)
    await short.keyboard.press('n')
    await focused(short, 'TEXTAREA')
    await short.keyboard.press('Escape')
    await short.keyboard.press('i')
    await until(async () => (await boxOf(first)).y > top.y + 100)
    await openCall('three')
    expect(await boxOf(first)).toEqual(top)
  })

  test('is linked to, as a whole, at a turn and at a moment, also by the palette', async () => {
    const page = await openCall('two', { isNew: true })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const address = `${service.url}/console/p/${project.id}/calls/two`
    const copied = (link: string) =>
      until(async () => (await page.evaluate(() => navigator.clipboard.readText())) === link)
    await choose(page, 'Copy link to this call')
    await copied(address)
    await page.locator('li[data-role]').nth(1).getByRole('link', { name: 'Copy link to this turn' }).click()
    await copied(`${address}#turn-2`)
    expect(new URL(page.url()).hash).toBe('')
    const strip = page.getByRole('slider', { name: 'Position in the call' })
    const { width = 0 } = (await strip.boundingBox()) ?? {}
    await strip.click({ position: { x: width * 0.5, y: 20 } })
    await page.waitForURL(/\?t=[56]#turn-2$/)
    const [, t] = /t=(\d)/.exec(page.url()) ?? []
    await choose(page, `Copy link to 0:0${t}`)
    await copied(`${address}?t=${t}`)
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Copy link to turn 2' }).click()
    await copied(`${address}#turn-2`)
  })

  test('keeps its place while it is live, grows long and is printed', async () => {
    const grow = async (turns: number) => {
      const change = { ...long, status: 'live', transcript: long.transcript?.slice(0, turns) }
      await project.send('PUT', '/ingest/calls/live', change)
    }
    await grow(198)
    const page = await openCall('live#turn-5')
    await page.locator('li[data-target]').waitFor()
    const search = page.getByRole('searchbox', { name: 'Search this transcript' })
    await search.fill('turn 7.')
    await page.locator('mark[data-current]').waitFor()
    const panel = page.getByRole('region', { name: 'Call live' })
    const top = () => panel.evaluate((element) => element.scrollTop)
    await panel.evaluate((element) => element.scrollTo({ top: 4_000 }))
    for (const turns of [200, 204]) {
      await grow(turns)
      await page.getByText(`This is turn ${turns - 1}.`).waitFor()
    }
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
    await printedOf(page).waitFor({ state: 'attached' })
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
    await printedOf(page).waitFor({ state: 'detached' })
    expect(await top()).toBe(4_000)
    // The only match is found again.
    await search.press('Enter')
    await until(async () => (await top()) < 2_000)
    await panel.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
    await grow(240)
    const last = page.getByText('This is turn 239.')
    await last.waitFor()
    await until(async () => ((await last.boundingBox())?.y ?? 900) < 900)
  })

  test('shows every match, also in a turn that is longer than the screen', async () => {
    const content = Array.from({ length: 1_500 }, (_, n) => (n % 1_400 === 50 ? 'needle' : 'straw')).join(' ')
    const { transcript = [] } = long
    for (const turns of [20, 400]) {
      const change = { ...long, transcript: transcript.slice(0, turns).with(3, { role: 'user', content }) }
      await project.send('PUT', `/ingest/calls/turns-${turns}`, change)
      const page = await openCall(`turns-${turns}`, { width: 667, height: 375 })
      const search = page.getByRole('searchbox', { name: 'Search this transcript' })
      await search.fill('needle')
      await page.getByText('1 of 2').waitFor()
      for (const key of ['Enter', 'Enter', 'Shift+Enter']) {
        await search.press(key)
        await until(() =>
          page.evaluate(() => {
            const match = document.querySelector('mark[data-current]')
            const { x, y } = match?.getBoundingClientRect() ?? { x: -9, y: -9 }
            return match !== null && document.elementFromPoint(x + 2, y + 2) === match
          }),
        )
      }
    }
  })

  test('is gone from the page when it is deleted elsewhere', async () => {
    await project.send('PUT', '/ingest/calls/deleted', call)
    const page = await openCall('deleted')
    await page.getByText('It is moved.').waitFor()
    await project.fetch('/v1/calls/deleted', { method: 'DELETE' })
    await page.getByText('Call not found').waitFor()
    expect(await page.getByText('It is moved.').count()).toBe(0)
    expect(await page.title()).toBe('Call deleted · Callbook')
  })

  test('is put on hold by an owner, whose reason it shows until the hold is lifted', async () => {
    const page = await openCall('two')
    await choose(page, 'Put on hold')
    const dialog = page.getByRole('dialog')
    const submit = dialog.getByRole('button', { name: 'Put on hold' })
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('Complaint of 3 March')
    await submit.click()
    await dialog.waitFor({ state: 'detached' })
    const reason = page.getByText('On hold: Complaint of 3 March')
    await reason.waitFor()
    await page.getByRole('button', { name: 'More for this call' }).click()
    await page.getByText('On hold: it cannot be deleted').waitFor()
    expect(await page.getByRole('menuitem', { name: 'Delete call' }).count()).toBe(0)
    await page.getByRole('menu').locator(':focus').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    const lift = page.getByRole('button', { name: 'Lift', exact: true })
    await lift.click()
    await dialog.getByText('The reason of this hold is erased').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await service.services.holds.list(project.projectId)).toHaveLength(1)
    await reason.waitFor()
    await lift.click()
    await dialog.getByRole('button', { name: 'Lift hold' }).click()
    await reason.waitFor({ state: 'detached' })
    // The button that had the focus is gone: the keyboard goes on from there, not from the top of the page.
    await until(async () => await page.evaluate<boolean>('document.activeElement?.closest("#call") !== null'))
    expect(await service.services.holds.list(project.projectId)).toEqual([])
  })

  test('that somebody else put on hold is not deleted, and Escape closes the question alone', async () => {
    await project.send('PUT', '/ingest/calls/held', { ...call, callerNumber: null })
    const page = await openCall('held', { isNew: true })
    await choose(page, 'Delete call')
    await service.services.holds.set(project.projectId, { callId: 'held', reason: 'Court' })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete call' }).click()
    await dialog.getByRole('alert').getByText('Call is on hold').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('It is moved.').waitFor()
    expect(page.url()).toContain('/calls/held')
    // The next one goes to the list, the last one closes the call.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/calls$/)
  })

  test('shows both notes when two people write at once', async () => {
    const other = await set.join(project, 'member')
    const page = await openCall('three')
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Note' }).fill('Mine')
    await other.send('PATCH', `/projects/${project.id}/calls/three/review`, { note: 'Theirs' })
    await page.getByRole('textbox', { name: 'Note' }).press('Escape')
    const unsaved = page.getByRole('alert').filter({ hasText: 'Your note is not saved' })
    await unsaved.getByRole('blockquote').getByText('Mine').waitFor()
    await unsaved.getByText(other.name).waitFor()
    expect((await reviewOf('three'))?.note).toBe('Theirs')
    await page.getByRole('button', { name: 'Note: Theirs' }).waitFor()
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click()
    await unsaved.waitFor({ state: 'detached' })
    await until(async () => (await reviewOf('three'))?.note === 'Mine')
  })

  test('keeps a note that the service did not take', async () => {
    const page = await openCall('long', { isNew: true })
    await page.getByRole('button', { name: 'Add a note' }).click()
    await page.context().setOffline(true)
    await page.getByRole('textbox', { name: 'Note' }).fill('Written on a train')
    await page.getByRole('textbox', { name: 'Note' }).press('Escape')
    const unsaved = page.getByRole('alert').filter({ hasText: 'Your note is not saved' })
    await unsaved.getByRole('blockquote').getByText('Written on a train').waitFor()
    await page.context().setOffline(false)
    await unsaved.getByRole('button', { name: 'Save again' }).click()
    await unsaved.waitFor({ state: 'detached' })
    await until(async () => (await reviewOf('long'))?.note === 'Written on a train')
  })

  test('leads to the other calls of its number', async () => {
    const page = await openCall('three', { width: 375, height: 812 })
    await page.getByRole('button', { name: 'All details' }).click()
    await page.getByText('2 other calls of this number').click()
    expect(await findings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false)
    await page.locator('details', { hasText: 'of this number' }).locator('li a').first().click()
    await page.waitForURL(/\/calls\/(one|two)$/)
    await page.getByRole('region', { name: 'Review' }).waitFor()
  })

  test('is printed whole and without the frame', async () => {
    const page = await openCall('long', { isNew: true })
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    await page.getByText(`This is turn ${turnCount - 1}.`).waitFor()
    expect(await printedOf(page).locator('li').count()).toBe(turnCount)
    expect(await page.getByRole('navigation').locator('visible=true').count()).toBe(0)
    expect(await page.locator('#calls-list').isVisible()).toBe(false)
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
    await printedOf(page).waitFor({ state: 'detached' })
  })
})
