import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { newestFirst, putCalls, said } from '../calls/put-calls.ts'
import { addFilter, openListMenu, rowOf } from '../support/call-list.ts'
import { type OpenOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { hear } from '../support/recordings.ts'
import type { TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const callsCount = 120
const minuteMs = 60_000
const { service, set, project, tabs } = await startConsoleInBrowser()
const startedAt = Date.now()
await putCalls(
  service.services,
  project.projectId,
  Array.from({ length: callsCount }, (_, at) => ({
    id: `call-${1_000 + at}`,
    status: 'completed' as const,
    duration: 60 + at,
    evaluation: ['success', 'fail', 'unclear'][at % 3] ?? null,
    callerNumber: `+1555729${2_000 + at}`,
    calledNumber: '+15550100000',
    callAnalysis: { topic: at % 2 === 0 ? 'billing' : 'booking' },
    details: { agent: { id: `ag_${at % 2}`, name: at % 2 === 0 ? 'Front desk' : null } },
    createdAt: new Date(startedAt - (at + 1) * 20 * minuteMs).toISOString(),
    ...said(at === 7 ? 'My umbrella is blue. Where is it?' : `Where is my order ${at}? I want it.`),
  })),
)

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the list of calls, in a browser', () => {
  async function openTab(path: string, options: OpenOptions = {}, of = project): Promise<Page> {
    const address = `/p/${of.id}/${path}`
    if (of === project) return (await tabs.show(address, { person: set.owner, ...options })).page
    const tab = await tabs.open({ person: set.owner, ...options })
    const following = tab.page.waitForResponse((answer) => answer.url().endsWith('/changes'))
    await tab.open(address)
    await following
    return tab.page
  }

  const put = (of: TestProject, id: string, call: object) => of.send('PUT', `/ingest/calls/${id}`, call)
  const focused = (page: Page) =>
    page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-call]')?.dataset.call ?? null)
  const isInCall = (page: Page) => page.evaluate(() => document.activeElement?.closest('#call') !== null)

  test('the first call, live calls and the overview follow what happens, without a reload', async () => {
    const other = await set.mintProject()
    const page = await openTab('calls', {}, other)
    await page.getByText('No calls yet').waitFor()
    await put(other, 'first', { callerNumber: '+15557770001', ...said('Are you there?') })
    await rowOf(page, 'first').getByText('“Are you there?”').waitFor()
    await rowOf(page, 'first').getByText('Live').waitFor()
    const length = rowOf(page, 'first').locator('[data-cell="duration"]')
    const before = await length.textContent()
    await until(async () => (await length.textContent()) !== before)

    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('+1 555 777 0001').waitFor()
    await put(other, 'first', { status: 'completed', duration: 61 })
    await page.getByText('No live calls right now').waitFor()
    await put(other, 'first', { evaluation: 'fail' })
    await page.getByRole('link', { name: 'All failed calls' }).waitFor()
    await page.goto(`${service.url}/console/p/${other.id}/calls?status=live`)
    await page.getByText('No matching calls').waitFor()
    await put(other, 'second', said('And I am live.'))
    await rowOf(page, 'second').waitFor()
    await put(other, 'second', { status: 'completed' })
    await page.getByText('No matching calls').waitFor()
  })

  test('new calls announce themselves above a list that somebody reads, and move nothing', async () => {
    const other = await set.mintProject()
    const many = newestFirst(70, (at) => ({ id: `old-${at}` }))
    await putCalls(service.services, other.projectId, many)
    const page = await openTab('calls', {}, other)
    await rowOf(page, 'old-0').waitFor()
    const scroller = page.locator('#calls-list')
    await scroller.evaluate((element) => element.scrollTo({ top: 600 }))
    await rowOf(page, 'old-25').waitFor()
    const place = await rowOf(page, 'old-25').boundingBox()
    for (const at of [1, 2, 3]) await put(other, `new-${at}`, {})
    await page.getByRole('button', { name: '3 new calls' }).waitFor()
    expect(await rowOf(page, 'old-25').boundingBox()).toEqual(place)
    await page.getByRole('button', { name: '3 new calls' }).click()
    await rowOf(page, 'new-3').waitFor()
    expect(await page.getByText('73 calls', { exact: true }).count()).toBe(1)
  })

  test('keys go from the list into the call and back, and a call opens without moving its row', async () => {
    const page = await openTab('calls')
    await rowOf(page, 'call-1000').waitFor()
    await page.keyboard.press('j')
    await until(async () => (await focused(page)) === 'call-1000')
    expect(await page.locator('#calls-list tbody a[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await until(async () => (await focused(page)) === 'call-1001')
    const before = await rowOf(page, 'call-1001').boundingBox()
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Transcript' }).waitFor()
    const after = await rowOf(page, 'call-1001').boundingBox()
    expect(after?.y).toBe(before?.y)
    await page.keyboard.press('ArrowRight')
    await until(() => isInCall(page))
    await page.keyboard.press('Escape')
    await until(async () => (await focused(page)) === 'call-1001')
    await page.keyboard.press('Enter')
    await until(() => isInCall(page))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/calls$/)
    await until(async () => (await focused(page)) === 'call-1001')
  })

  test('one box finds numbers, ids, words and phrases; several values of a filter are chosen at once', async () => {
    const page = await openTab('calls')
    const box = page.getByRole('searchbox', { name: 'Search words, numbers, IDs' })
    for (const text of ['555 729 2007', 'call-1007', '"umbrella is blue"']) {
      await box.fill(text)
      await page.getByText('1 call', { exact: true }).waitFor()
      await rowOf(page, 'call-1007').waitFor()
    }
    await box.fill('"blue umbrella"')
    await page.getByText('No matching calls').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    await addFilter(page, 'Evaluation')
    await page.getByRole('menuitemcheckbox', { name: /Fail/ }).click()
    await page.getByRole('menuitemcheckbox', { name: /Unclear/ }).click()
    await page.waitForURL(/evaluation=fail&evaluation=unclear/)
    await page.getByText('80 calls', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${service.url}/console/p/${project.id}/calls?analysis.topic=booking&agentId=ag_1`)
    await page.getByText('60 calls', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'topic booking' }).waitFor()

    await page.goto(`${service.url}/console/p/${project.id}/calls?number=abc&callerNumber=%2B15557292007`)
    await page.getByText('“abc” is not a number').waitFor()
    await page.getByText('No matching calls').waitFor()
    await page.getByText('0 calls', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await rowOf(page, 'call-1007').waitFor()
    await page.getByRole('button', { name: 'Clear Caller' }).click()
    await page.getByText('120 calls', { exact: true }).waitFor()
  })

  test('at 1280 px the words that were found show, and labels are added to many calls', async () => {
    const page = await openTab('calls?text=umbrella', { width: 1280, height: 800 })
    const isWhole = async () => {
      const [mark, cell] = await Promise.all(
        ['mark', '[data-cell="summary"]'].map((part) =>
          rowOf(page, 'call-1007').locator(part).first().boundingBox(),
        ),
      )
      if (!mark || !cell) return false
      return mark.x + mark.width <= cell.x + cell.width && mark.y + mark.height <= cell.y + cell.height
    }
    await until(isWhole)
    await rowOf(page, 'call-1007').click()
    await page.getByRole('region', { name: 'Review' }).waitFor()
    await until(isWhole)
    await page.keyboard.press('x')
    await page.getByRole('region', { name: 'Selected calls' }).getByRole('button', { name: 'Label' }).click()
    await page.getByRole('combobox', { name: 'Add labels' }).fill('rain')
    await page.keyboard.press('Enter')
    // Suggestions do not cover the button, and do not make the page scroll.
    await page.getByRole('button', { name: 'Apply to 1 call' }).click()
    await page.getByText('1 call labeled').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollHeight > innerHeight)).toBe(false)
    await page.getByRole('button', { name: 'Close call' }).click()
    await openListMenu(page)
    await page.getByRole('menuitemcheckbox', { name: 'Labels' }).click()
    await rowOf(page, 'call-1007').getByText('rain').waitFor()
  })

  const summary =
    'The caller wanted to move her delivery to Saturday, which the agent did after it had checked the address.'
  const sideways = (page: Page) =>
    page.locator('#calls-list').evaluate((list) => list.scrollWidth - list.clientWidth)

  test('the summary has the room, nothing scrolls sideways, and beside an open call a row is two lines', async () => {
    const other = await set.mintProject()
    const many = newestFirst(40, (at) => ({
      id: `wide-${at}`,
      summary,
      evaluation: 'success',
      callerNumber: '+493055501234',
      details: { agent: { id: 'desk', name: 'Front desk' } },
    }))
    await putCalls(service.services, other.projectId, many)
    const page = await openTab('calls', {}, other)
    const cell = (name: string) => rowOf(page, 'wide-2').locator(`[data-cell="${name}"]`)
    const boxOf = async (name: string) =>
      (await cell(name).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    for (const { width, height, least } of [
      { width: 1_440, height: 900, least: 480 },
      { width: 1_280, height: 800, least: 360 },
      { width: 1_024, height: 768, least: 240 },
    ]) {
      await page.setViewportSize({ width, height })
      await until(
        async () => (await boxOf('summary')).width >= least,
        `${least} px of summary at ${width} px`,
      )
      expect([width, await sideways(page), (await boxOf('summary')).height]).toEqual([width, 0, 34])
    }
    for (const width of [1_440, 1_280]) {
      await page.setViewportSize({ width, height: 800 })
      if (width === 1_440) await rowOf(page, 'wide-2').click()
      await page.getByRole('button', { name: 'Close call' }).waitFor()
      await until(async () => (await boxOf('summary')).y > (await boxOf('caller')).y, 'a second line')
      expect((await boxOf('when')).y).toBe((await boxOf('caller')).y)
      expect(await sideways(page)).toBe(0)
      expect(await rowOf(page, 'wide-2').evaluate((row) => row.clientHeight)).toBeLessThan(60)
    }
  })

  test('all calls that are loaded are printed, and fit the sheet', async () => {
    const page = await openTab('calls')
    await rowOf(page, 'call-1000').waitFor()
    const rows = page.locator('[data-call]')
    expect(await rows.count()).toBeLessThan(50)
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    expect(await rows.count()).toBeGreaterThanOrEqual(50)
    expect(await rows.nth(49).isVisible()).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false)
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
    await page.emulateMedia({ media: null })
    await until(async () => (await rows.count()) < 50)
  })

  test('the other party is the caller, a summary keeps its beginning, and a silent call does not count up', async () => {
    const other = await set.mintProject()
    const createdAt = (minutes: number) => new Date(Date.now() - minutes * minuteMs).toISOString()
    await putCalls(service.services, other.projectId, [
      {
        id: 'out',
        status: 'completed',
        callerNumber: '+15550100000',
        calledNumber: '+493055501234',
        summary: `ביקשה להעביר את המשלוח ליום שבת. ${'אחר כך שאלה על הכתובת. '.repeat(12)}`,
        details: { direction: 'outbound' },
        createdAt: createdAt(1),
      },
      { id: 'quiet', callerNumber: '+15557770001', createdAt: createdAt(100), ...said('Hello?') },
    ])
    await service.services.database.write.run(
      sql`update calls set heard_at = created_at + 600000 where project_id = ${other.projectId} and id = 'quiet'`,
    )
    const page = await openTab('calls', {}, other)
    const caller = rowOf(page, 'out').locator('[data-cell="caller"]')
    await caller.getByText('+49 30 55501234').waitFor()
    await caller.getByTitle('+493055501234 called from +15550100000').waitFor()
    await rowOf(page, 'quiet').getByText('Silent').waitFor()
    await rowOf(page, 'quiet').getByText('10:00', { exact: true }).waitFor()
    const isSeen = await rowOf(page, 'out')
      .locator('[data-cell="summary"]')
      .evaluate((cell) => {
        const [text] = [cell.querySelector('span')?.firstChild]
        const range = document.createRange()
        if (!text) return false
        range.setStart(text, 0)
        range.setEnd(text, 1)
        const [first, whole] = [range.getBoundingClientRect(), cell.getBoundingClientRect()]
        return first.left >= whole.left && first.right <= whole.right
      })
    expect(isSeen).toBe(true)
  })

  test('every column can be switched off, and a row still opens its call', async () => {
    const page = await openTab('calls')
    const columns = async () => (await page.getByRole('columnheader').allTextContents()).slice(1).join()
    await rowOf(page, 'call-1003').waitFor()
    const standard = await columns()
    await page.getByRole('button', { name: 'More', exact: true }).hover()
    await page.getByRole('tooltip').waitFor()
    await openListMenu(page)
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    expect(standard).toBe('Time,Caller,Duration,Conversation,Evaluation,Review,Agent,Summary')
    await openListMenu(page)
    const names = standard.split(',')
    for (const name of names.slice(0, -1)) await page.getByRole('menuitemcheckbox', { name }).click()
    expect(await columns()).toBe('Summary')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await until(async () => (await focused(page)) === 'call-1000')
    await page.keyboard.press('Enter')
    await page.waitForURL(/call-1000$/)
    await page.getByRole('button', { name: 'Close call' }).click()
    await openListMenu(page)
    await page.getByRole('menuitemcheckbox', { name: 'Summary' }).click()
    // A list without columns would be none.
    expect(await columns()).toBe(standard)
  })

  test('what was heard has columns and filters', async () => {
    const other = await set.mintProject()
    const completed = (id: string) => ({ id, status: 'completed' as const })
    await putCalls(service.services, other.projectId, ['slow', 'quick', 'unheard'].map(completed))
    await hear(service, other.projectId, 'slow', [
      [[0, 5]],
      [
        [1, 3],
        [9.2, 10],
      ],
    ])
    await hear(service, other.projectId, 'quick', [[[0, 1]], [[1.4, 3]]])
    const page = await openTab('calls', {}, other)
    await rowOf(page, 'slow').waitFor()
    await openListMenu(page)
    for (const name of ['Waited longest', 'Dead air', 'Talked over'])
      await page.getByRole('menuitemcheckbox', { name }).click()
    await page.keyboard.press('Escape')
    const cells = (id: string) =>
      Promise.all(
        ['wait', 'deadAir', 'talkOver'].map((name) =>
          rowOf(page, id).locator(`[data-cell="${name}"] > span`).first().textContent(),
        ),
      )
    expect(await cells('slow')).toEqual(['4.2 s', '4.2 s', '2 s'])
    expect(await cells('quick')).toEqual(['400 ms', '0 ms', '0 ms'])
    expect(await cells('unheard')).toEqual(Array(3).fill(expect.stringContaining('–')))
    await addFilter(page, 'Waited longest')
    await page.getByRole('menuitemradio', { name: 'at least 3 s' }).click()
    await page.waitForURL(/minResponseMs=3000/)
    await page.getByRole('button', { name: 'Waited longest at least 3 s' }).waitFor()
    await page.getByText('1 call', { exact: true }).waitFor()
    await page.goto(`${service.url}/console/p/${other.id}/calls?minDeadAirSeconds=4.2&minTalkOverSeconds=3`)
    await page.getByRole('button', { name: 'Dead air at least 4.2 s' }).waitFor()
    await page.getByText('0 calls', { exact: true }).waitFor()
  })

  test('one menu searches filters and their values, and only what is set is a pill', async () => {
    const page = await openTab('calls')
    const search = page.getByRole('search')
    const add = search.getByRole('button', { name: 'Filter', exact: true })
    const pills = async () => (await search.getByRole('button').allTextContents()).filter(Boolean)
    await rowOf(page, 'call-1000').waitFor()
    expect(await pills()).toEqual(['Filter'])
    await add.click()
    await page.getByRole('searchbox', { name: 'Search filters and their values' }).fill('front')
    await page.getByRole('menuitem', { name: 'Agent: Front desk' }).click()
    await page.waitForURL(/agentId=ag_0/)
    await search.getByRole('button', { name: 'Agent Front desk' }).waitFor()
    await page.getByText('60 calls', { exact: true }).waitFor()

    await addFilter(page, 'Evaluation')
    // Also how many calls nobody has evaluated.
    await page.getByRole('menuitemcheckbox', { name: 'Not evaluated 0' }).waitFor()
    await page.getByRole('menuitemcheckbox', { name: /Unclear/ }).click()
    await page.waitForURL(/evaluation=unclear/)
    await page.keyboard.press('Escape')
    await search.getByRole('button', { name: 'Evaluation Unclear' }).waitFor()
    // One that is opened and not set leaves nothing behind, and the focus where it was.
    await addFilter(page, 'Status')
    await page.getByRole('menuitemradio', { name: 'Silent' }).waitFor()
    await page.keyboard.press('Escape')
    await search.getByRole('button', { name: 'Status' }).waitFor({ state: 'detached' })
    expect(await add.evaluate((button) => button === document.activeElement)).toBe(true)

    await page.goto(`${service.url}/console/p/${project.id}/calls?number=abc&order=length`)
    await page
      .getByText('Cannot be read: Number “abc” is not a number; Order “length” is not an order.')
      .waitFor()
    await page.getByRole('button', { name: 'Remove them' }).click()
    await page.getByText('120 calls', { exact: true }).waitFor()
  })

  test('a viewer is not offered to review, and told why', async () => {
    const viewer = await set.join(project, 'viewer')
    const page = await openTab('calls', { person: viewer })
    const review = page.getByRole('button', { name: 'Review', exact: true })
    expect(await review.getAttribute('aria-disabled')).toBe('true')
    await review.press('Enter')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await review.getAttribute('aria-description')).toContain('You are a viewer')
  })

  test('a call far down the list keeps its neighbours after a reload', async () => {
    const page = await openTab('calls/call-1100')
    const next = page.getByRole('button', { name: 'Next call' })
    await until(() => next.isEnabled())
    await page.keyboard.press('j')
    await page.waitForURL(/call-1101$/)
    const previous = page.getByRole('button', { name: 'Previous call' })
    await until(() => previous.isEnabled())
    await page.keyboard.press('k')
    await page.waitForURL(/call-1100$/)
  })

  test('the list is sorted by duration, and pages, neighbours and new calls keep to it', async () => {
    const other = await set.mintProject()
    const many = newestFirst(70, (at) => ({ id: `of-${at}`, duration: (at * 37) % 70 }))
    await putCalls(service.services, other.projectId, many)
    const page = await openTab('calls', {}, other)
    const head = page.getByRole('columnheader', { name: 'Duration' })
    const ids = () => page.locator('[data-call]').evaluateAll((rows) => rows.map((row) => row.dataset.call))
    const byLength = many.toSorted((a, b) => b.duration - a.duration).map(({ id }) => id)
    await head.getByRole('button').click()
    await page.waitForURL(/order=-duration/)
    await until(async () => (await ids()).slice(0, 5).join() === byLength.slice(0, 5).join())
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    await page.setViewportSize({ width: 1280, height: 800 })
    const summary = page.getByRole('columnheader', { name: 'Summary' })
    await until(async () => ((await summary.boundingBox())?.width ?? 0) > 150)

    await put(other, 'longest', { status: 'completed', duration: 1_000 })
    await page.getByRole('button', { name: '1 new call' }).waitFor()
    await page.getByText('71 calls', { exact: true }).waitFor()
    expect((await ids()).slice(0, 5)).toEqual(byLength.slice(0, 5))
    await page.getByRole('button', { name: '1 new call' }).click()
    await rowOf(page, 'longest').waitFor()
    await rowOf(page, byLength[2] ?? '').click()
    await page.getByRole('button', { name: 'Previous call' }).click()
    await page.waitForURL(new RegExp(`${byLength[1]}\\?order=-duration$`))

    await page.goto(`${service.url}/console/p/${other.id}/calls?order=-duration`)
    await head.getByRole('button').click()
    await page.waitForURL(/order=duration/)
    await until(async () => (await ids())[0] === 'of-0')
    expect(await head.getAttribute('aria-sort')).toBe('ascending')
    await page.getByRole('columnheader', { name: 'Time' }).getByRole('button').click()
    await page.waitForURL((url) => !url.search.includes('order'))
  })

  test('changed and deleted calls follow far down the list', async () => {
    const other = await set.mintProject()
    const many = newestFirst(90, (at) => ({ id: `far-${at}`, summary: 'As it was.' }))
    await putCalls(service.services, other.projectId, many)
    const page = await openTab('calls', {}, other)
    await rowOf(page, 'far-0').waitFor()
    const bottom = () => page.locator('#calls-list').evaluate((list) => list.scrollTo({ top: 1e6 }))
    await until(async () => {
      await bottom()
      return await rowOf(page, 'far-89').isVisible()
    })
    await put(other, 'far-85', { summary: 'As it is.' })
    await rowOf(page, 'far-85').getByText('As it is.').waitFor()
    await other.send('DELETE', '/v1/calls/far-86', undefined)
    await rowOf(page, 'far-86').waitFor({ state: 'detached' })
    await rowOf(page, 'far-87').waitFor()
    await page.getByText('89 calls', { exact: true }).waitFor()
  })

  test('what is shown is exported', async () => {
    const other = await set.mintProject()
    await putCalls(
      service.services,
      other.projectId,
      ['a-1', 'b-2', 'c-3'].map((id) => ({ id, ...said(`I am ${id}.`) })),
    )
    const page = await openTab('calls?text=b-2', {}, other)
    await rowOf(page, 'b-2').waitFor()
    await openListMenu(page)
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: /JSONL/ }).click()
    const text = await new Response((await (await downloading).createReadStream()) as never).text()
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['b-2'])
  })

  test('a lost service is told, and found again', async () => {
    const { page, open } = await tabs.open({ person: set.owner })
    let isLost = true
    await page.route('**/changes', (route) => (isLost ? route.abort() : route.fallback()))
    await open(`/p/${project.id}/calls`)
    await rowOf(page, 'call-1000').waitFor()
    await page.getByText('No connection. Last updated at').waitFor()
    isLost = false
    await page.getByText('No connection. Last updated at').waitFor({ state: 'detached' })
  })
})
