import { afterEach, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import type { CallChange, TimelineEntry } from '../../src/calls/schemas.ts'
import { findings } from '../support/accessibility.ts'
import { boxOf } from '../support/call-list.ts'
import { type ShowOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { madeWav } from '../support/recordings.ts'
import { until } from '../support/until.ts'

const large = { width: 1440, height: 900 }
const small = { width: 1280, height: 720 }
const barPx = 48

const said: [role: 'assistant' | 'user', content: string, atSeconds: number, latencyMs?: number][] = [
  ['assistant', 'Good morning, how can I help?', 0.4],
  ['user', 'Can I move my booking?', 4.2],
  ['user', 'To Friday.', 7.5],
  ['assistant', 'One moment.', 10.1, 700],
  ['user', 'Sure.', 13.3],
  ['assistant', 'The booking system is slow today.', 30.2, 2_400],
  ['user', 'No problem.', 36],
  ['assistant', 'It is moved.', 41.7, 720],
]
const timeline: TimelineEntry[] = [
  ...said.map(([, , atSeconds, total], turn) => ({
    atSeconds,
    kind: 'turn' as const,
    turn,
    interrupted: turn === 5,
    ...(total ? { latencyMs: { total, endOfTurn: 280, model: total / 2, voice: 120 } } : {}),
  })),
  { atSeconds: 15, kind: 'tool_call', name: 'find_booking', text: '{"name":"Lovelace"}' },
  { atSeconds: 16, kind: 'tool_result', name: 'find_booking', text: '{"id":42,"seats":[3,4]}' },
  { atSeconds: 26, kind: 'tool_call', name: 'move_booking', text: '{"id":42}' },
  {
    atSeconds: 29.1,
    kind: 'tool_result',
    name: 'move_booking',
    text: '{"error":{"code":503,"message":"The booking system did not answer."}}',
  },
  { atSeconds: 39, kind: 'tool_call', name: 'move_booking', text: '{"id":42}' },
  { atSeconds: 39.5, kind: 'tool_result', name: 'move_booking', text: 'Error: the slot is taken' },
]
const call: CallChange = {
  status: 'completed',
  duration: 45,
  evaluation: 'success',
  callerNumber: '+15557294053',
  calledNumber: '+15550100000',
  summary: 'Moved the booking under Lovelace to Friday and told the caller about the cancellation policy.',
  callAnalysis: { intent: 'reschedule' },
  metadata: { campaign: 'winter', crm: { id: 4711 } },
  transcript: said.map(([role, content]) => ({ role, content })),
  details: {
    agent: { id: 'agent-7', name: 'Front desk' },
    direction: 'inbound',
    costUsd: 0.12,
    latencyMs: 720,
    timeline,
  },
}
const many: CallChange = {
  status: 'completed',
  duration: 4_000,
  transcript: Array.from({ length: 1_200 }, (_, n) => ({
    role: n % 2 ? 'user' : 'assistant',
    content: `This is turn ${n + 1}.`,
  })),
}
const timed: CallChange = {
  status: 'completed',
  duration: 1_500,
  transcript: many.transcript?.slice(0, 300),
  details: {
    timeline: Array.from({ length: 300 }, (_, turn) => ({ atSeconds: turn * 5, kind: 'turn', turn })),
  },
}
const { service, set, project, tabs } = await startConsoleInBrowser()
const earlier = Array.from({ length: 20 }, (_, n) => ({
  id: `earlier-${n}`,
  change: { status: 'completed', details: { latencyMs: 600 + n * 20 } } satisfies CallChange,
}))
const inputs = [
  { id: 'all', change: call },
  { id: 'heard', change: call },
  { id: 'bare', change: { status: 'completed', transcript: call.transcript } satisfies CallChange },
  { id: 'anonymous', change: { ...call, callerNumber: 'anonymous' } },
  { id: 'many', change: many },
  { id: 'timed', change: timed },
  ...earlier,
]
for (const result of await service.services.ingest.putAll(project.projectId, inputs))
  if (result instanceof Error) throw result
const body = madeWav(44 + 45 * 32_000)
await project.fetch('/ingest/calls/heard/recording', { method: 'PUT', body })
await service.services.peaksBacklog.idle()

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the page of a call, in a browser', () => {
  async function openCall(path: string, options: ShowOptions = {}): Promise<Page> {
    const { page } = await tabs.show(`/p/${project.id}/calls/${path}`, { person: set.owner, ...options })
    await page.locator('#call li[data-role]').first().waitFor()
    await page.locator('#call [role="slider"]').waitFor()
    return page
  }

  const topOf = async (page: Page) => (await boxOf(page.locator('#call li[data-role]').first())).y
  const widthOf = async (page: Page) => (await boxOf(page.locator('#call'))).width
  const facts = (page: Page) => page.getByRole('complementary', { name: 'Facts' })
  const strip = (page: Page) => page.getByRole('slider')
  const momentOf = async (page: Page) => await strip(page).getAttribute('aria-valuetext')

  test.each(['all', 'heard', 'bare', 'many'])('the first turn of %s stands high', async (id) => {
    for (const size of [large, small]) {
      const page = await openCall(`${id}?view=page`, size)
      await until(async () => (await topOf(page)) < 300)
      const panel = await openCall(id, size)
      await until(async () => (await topOf(panel)) < Math.min(300 + barPx, size.height / 2 + 1))
    }
  })

  test('is a page of its own by f and by its address, and Escape leaves it', async () => {
    const page = await openCall('all')
    expect(await page.locator('#calls-list').isVisible()).toBe(true)
    await page.keyboard.press('f')
    await page.waitForURL(/view=page/)
    expect(await page.locator('#calls-list').isVisible()).toBe(false)
    expect(await widthOf(page)).toBeGreaterThan(large.width - 250)
    const rail = await boxOf(facts(page))
    expect(rail.width).toBe(320)
    expect((await boxOf(page.locator('#call ol').first())).x).toBeLessThan(rail.x)
    // The call before it in the list is a page, too.
    await page.keyboard.press('k')
    await page.waitForURL(/calls\/(?!all)[^?]+\?view=page/)
    await page.goBack()
    const again = await openCall('all?view=page')
    await again.keyboard.press('f')
    await again.locator('#calls-list').waitFor()
    expect(again.url()).not.toContain('view=')
    await again.keyboard.press('f')
    await again.keyboard.press('Escape')
    await again.waitForURL(/\/calls$/)
  })

  test('the rail folds, and the panel is dragged wider; both are remembered', async () => {
    const page = await openCall('all?view=page', { isNew: true })
    await facts(page).getByText('Front desk').waitFor()
    await page.getByRole('button', { name: 'Facts' }).click()
    await facts(page).getByText('Front desk').waitFor({ state: 'detached' })
    await page.reload()
    await strip(page).waitFor()
    expect(await facts(page).getByText('Front desk').count()).toBe(0)
    expect(await topOf(page)).toBeLessThan(300)
    await page.keyboard.press('i')
    await facts(page).getByText('Front desk').waitFor()

    await page.keyboard.press('f')
    await page.locator('#calls-list').waitFor()
    const before = await boxOf(page.locator('#call'))
    await page.mouse.move(before.x + 3, 500)
    await page.mouse.down()
    await page.mouse.move(before.x - 97, 500, { steps: 4 })
    await page.mouse.up()
    await until(async () => Math.abs((await widthOf(page)) - before.width - 100) < 8)
    const wide = await widthOf(page)
    await page.reload()
    await strip(page).waitFor()
    expect(Math.abs((await widthOf(page)) - wide)).toBeLessThan(2)
    const edge = page.getByRole('separator', { name: 'Width of the call' })
    await until(async () => (await edge.getAttribute('aria-valuenow')) === String(Math.round(wide)))
    await edge.focus()
    await page.keyboard.press('ArrowRight')
    await until(async () => (await widthOf(page)) < wide - 20)
    for (let n = 0; n < 40; n++) await page.keyboard.press('ArrowLeft')
    // The list keeps its room.
    expect((await boxOf(page.locator('#calls-list'))).width).toBe(360)
  })

  test('a short turn is 44 px tall, and says who speaks once per run', async () => {
    const page = await openCall('many?view=page')
    const [first, second] = await page.locator('#call li[data-role]').all()
    if (!first || !second) throw new Error('There are no turns')
    expect((await boxOf(second)).y - (await boxOf(first)).y).toBe(44)
    const all = await openCall('all?view=page')
    const visible = await all.locator('#call li[data-role]').evaluateAll((turns) =>
      turns.map((turn) => {
        const name = [...turn.querySelectorAll('span')].find((span) =>
          /^(Caller|Agent)$/.test(span.textContent),
        )
        return (name?.offsetWidth ?? 0) > 1 ? name?.textContent : null
      }),
    )
    expect(visible).toEqual(['Agent', 'Caller', null, 'Agent', 'Caller', 'Agent', 'Caller', 'Agent'])
  })

  test('the timeline leads through the call: clicks, turns, failed tools and silences', async () => {
    const page = await openCall('all?view=page')
    const { width = 0 } = (await strip(page).boundingBox()) ?? {}
    await strip(page).click({ position: { x: width * (37 / 45), y: 20 } })
    await page.locator('li[data-target]', { hasText: 'No problem.' }).waitFor()
    expect(await momentOf(page)).toMatch(/^0:3[67]\.\d of 0:45\.0$/)
    await page.getByRole('link', { name: '0:10.1' }).click()
    await page.locator('li[data-target]', { hasText: 'One moment.' }).waitFor()
    expect(await momentOf(page)).toBe('0:10.1 of 0:45.0')
    for (const at of ['0:26.0', '0:39.0', '0:26.0']) {
      await page.keyboard.press('t')
      await page.locator('li[data-shown]', { hasText: at }).waitFor()
      expect(await momentOf(page)).toBe(`${at} of 0:45.0`)
    }
    await page.getByRole('button', { name: 'Next silence' }).click()
    await page.locator('li[data-target]', { hasText: 'The booking system is slow' }).waitFor()
    await strip(page).focus()
    await page.keyboard.press('Home')
    expect(await momentOf(page)).toBe('0:00.0 of 0:45.0')
    const marked = page.locator('#call svg path[data-mark="failed"]')
    expect((await marked.getAttribute('d'))?.match(/M/g)).toHaveLength(2)
  })

  test('with a recording the same timeline plays, and a failed tool is a moment of it', async () => {
    const page = await openCall('heard?view=page')
    await page.keyboard.press('t')
    await until(async () => (await momentOf(page)) === '0:26.0 of 0:45.0')
    await page.locator('li[data-shown]').getByText('move_booking failed').waitFor()
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
    expect(await strip(page).getAttribute('aria-label')).toBe('Position in the recording')
  })

  test('a failed tool is red, with its time and answer; JSON folds and is copied', async () => {
    const page = await openCall('all?view=page')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const failed = page.locator('li[data-index]', { hasText: 'move_booking failed' }).first()
    await failed.getByText('The booking system did not answer.').waitFor()
    expect(await failed.textContent()).toMatch(/3\.1 sat 0:26\.0/)
    const colorOf = (element: Locator) => element.evaluate((shown) => getComputedStyle(shown).color)
    const fine = page.getByText('find_booking', { exact: true })
    expect(await colorOf(failed.getByText('move_booking failed'))).toBe('rgb(189, 35, 41)')
    expect(await colorOf(fine)).not.toBe('rgb(189, 35, 41)')
    await fine.click()
    const returned = page.getByRole('region', { name: 'Returned' })
    await returned.getByText('42').waitFor()
    const number = await colorOf(returned.getByText('42'))
    expect(number).not.toBe(
      await colorOf(page.getByRole('region', { name: 'Received' }).getByText('Lovelace')),
    )
    await returned.getByText('seats').click()
    await returned.getByText('[2]').waitFor()
    expect(await returned.getByText('3', { exact: true }).count()).toBe(0)
    await returned.getByRole('button', { name: 'Copy what it returned' }).click()
    await until(async () => /"seats":\[3,4\]/.test(await page.evaluate(() => navigator.clipboard.readText())))
    expect(await findings(page)).toEqual([])
  })

  test('tells what the caller waited for, and which answers are slow in this project', async () => {
    const page = await openCall('all?view=page')
    const slow = page.locator('li[data-role]', { hasText: 'The booking system is slow' })
    await slow.getByText('2.4 s, slow').waitFor()
    const words = 'end of turn 280 ms, model 1.2 s, voice 120 ms'
    await slow.getByText(words).waitFor()
    await slow.getByText('Interrupted').waitFor()
    const usual = page.locator('li[data-role]', { hasText: 'One moment.' })
    expect(await usual.textContent()).toMatch(/700 ms(?!, slow)/)
    // Elsewhere the parts are said on hover.
    const usualWords = 'end of turn 280 ms, model 350 ms, voice 120 ms'
    expect((await boxOf(usual.getByText(usualWords))).width).toBeLessThan(2)
    await usual.locator('p[data-hint]').hover()
    await page.getByRole('tooltip').getByText(usualWords).waitFor()
    // One scale for all bars: two seconds fill them.
    const bars = async (turn: Locator) =>
      await turn.locator('p[data-hint] > [aria-hidden]').evaluate((bar) => ({
        whole: bar.getBoundingClientRect().width,
        parts: [...bar.children].map((part) => Math.round(part.getBoundingClientRect().width)),
      }))
    expect(await bars(usual)).toEqual({ whole: 72, parts: [10, 13, 4, -2].map((px) => Math.max(0, px)) })
    expect((await bars(slow)).whole).toBe(72)
    const figures = facts(page).locator('dd [title^="Medians"] .cb-figure')
    await facts(page).getByText('End of turn').waitFor()
    const ends = await figures.evaluateAll((all) =>
      all.slice(1).map((figure) => {
        const range = document.createRange()
        range.selectNodeContents(figure)
        return Math.round(range.getBoundingClientRect().right)
      }),
    )
    expect(ends.length).toBe(3)
    expect(new Set(ends).size).toBe(1)
  })

  test('shows and hands out all that is known: metadata, details and analysis', async () => {
    const page = await openCall('all?view=page')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await facts(page).getByRole('region', { name: 'Metadata' }).getByText('4711').waitFor()
    await page.getByRole('tab', { name: 'Raw' }).click()
    const raw = page.getByRole('region', { name: 'The call as JSON' })
    await raw.getByText('recording', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy JSON' }).click()
    const copied = async () => JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))
    const [whole, details] = await Promise.all(
      ['', '/details'].map(async (part) => (await project.fetch(`/v1/calls/all${part}`)).json()),
    )
    const analysis = await (await project.fetch('/v1/calls/all/analysis')).json()
    await until(async () => (await copied().catch(() => null))?.id === 'all')
    expect(await copied()).toEqual({ ...whole, details, analysis })
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download', exact: true }).click()
    expect((await waiting).suggestedFilename()).toBe('all.json')
  })

  test('a hit in the summary is marked there, and the transcript says so', async () => {
    const page = await openCall('all?text=cancellation')
    await page.locator('#call mark', { hasText: 'cancellation' }).waitFor()
    await page.locator('#call').getByText('In the summary').waitFor()
    expect(await page.locator('#call').getByText('Not found').count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Search this transcript' }).fill('zeppelin')
    await page.getByText('Not found').waitFor()
  })

  test('an evaluation moves nothing, and the time stays on its line', async () => {
    for (const [path, size] of [
      ['all?view=page', large],
      ['all', small],
    ] as const) {
      const page = await openCall(path, size)
      const time = page.locator('#call h2 time')
      expect((await boxOf(time)).height).toBe(20)
      expect(await time.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true)
      const verdict = () => boxOf(page.getByRole('region', { name: 'Review' }))
      const before = [await topOf(page), (await verdict()).height]
      await page.keyboard.press('e')
      await page.getByRole('menuitem', { name: 'Failed' }).click()
      await page.getByText('Platform:').waitFor()
      expect([await topOf(page), (await verdict()).height]).toEqual(before)
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await page.keyboard.press('e')
      await page.getByRole('menuitem', { name: 'Remove this evaluation' }).click()
      await page.getByText('Platform:').waitFor({ state: 'detached' })
    }
  })

  test('Enter takes the label that is offered, and the text itself is offered as a new one', async () => {
    const review = { addLabels: ['billing'] }
    await set.owner.send('PATCH', `/projects/${project.id}/calls/bare/review`, review)
    // What is offered may be seconds old.
    await until(async () => {
      const facets = await (await set.owner.fetch(`/projects/${project.id}/call-facets`)).json()
      return JSON.stringify(facets.label ?? []).includes('billing')
    })
    const page = await openCall('all?view=page', { isNew: true })
    const labelsOf = async () => {
      const details = await (await project.fetch('/v1/calls/all/details')).json()
      return details.review?.labels ?? []
    }
    await page.getByRole('button', { name: 'Add labels' }).click()
    const field = page.getByRole('combobox', { name: 'Labels' })
    await field.fill('bill')
    await page.locator('[role="option"][data-combobox-selected]', { hasText: 'billing' }).waitFor()
    await field.press('Enter')
    await until(async () => (await labelsOf()).length === 1)
    expect(await labelsOf()).toEqual(['billing'])
    await field.fill('call')
    await page.getByRole('option', { name: 'New label “call”' }).click()
    await until(async () => (await labelsOf()).length === 2)
    expect(await labelsOf()).toEqual(['billing', 'call'])
  })

  test('a viewer reads what others write, and is offered no field', async () => {
    const viewer = await set.join(project, 'viewer')
    await set.owner.send('PATCH', `/projects/${project.id}/calls/heard/review`, {
      evaluation: 'fail',
      note: 'Ring back on Monday.',
      addLabels: ['refund'],
    })
    const page = await openCall('heard?view=page', { person: viewer })
    for (const text of ['Ring back on Monday.', 'refund', 'Failed'])
      await facts(page).getByText(text).waitFor()
    expect(await facts(page).locator('input, textarea, button[aria-haspopup]').count()).toBe(0)
    expect(await facts(page).getByRole('button', { name: 'Reviewed' }).count()).toBe(0)
  })

  test('a long evaluation leaves what stands beside it room', async () => {
    const evaluation = 'transferred_to_a_human_after_two_failed_attempts_to_book'
    await set.owner.send('PATCH', `/projects/${project.id}/calls/heard/review`, { evaluation })
    for (const person of [set.owner, await set.join(project, 'viewer')])
      for (const width of [1024, 375]) {
        const page = await openCall('heard', { person, width })
        const review = page.getByRole('region', { name: 'Review', exact: true })
        await review.getByText('Transferred to a human').waitFor()
        const cut = await review.evaluate((line) =>
          [line, ...line.querySelectorAll('span, button')].flatMap((part) =>
            part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 1 && !part.closest('[data-tone]')
              ? [part.textContent]
              : [],
          ),
        )
        expect(cut).toEqual([])
        expect((await review.boundingBox())?.height).toBeLessThan(110)
      }
  })

  test('a moment in the address is shown where there is no recording, too', async () => {
    const page = await openCall('timed?t=600')
    await until(async () => (await momentOf(page)) === '10:00.0 of 25:00.0')
    const turn = page.locator('li[aria-current="true"]')
    await turn.getByText('This is turn 121.').waitFor()
    const { y } = await boxOf(turn)
    expect(y).toBeGreaterThan(300)
    expect(y).toBeLessThan(large.height - 60)
  })

  test('the legend of the timeline has room, with a recording and without', async () => {
    for (const id of ['heard', 'all'])
      for (const width of [1024, 1280, 1440]) {
        const page = await openCall(id, { width, height: 768 })
        const legend = page.locator('#call [data-mark="assistant"]').last().locator('..')
        expect(await legend.textContent()).toMatch(/Caller\s*Agent/)
        const cut = await legend.evaluate((element) => {
          const frame = element.getBoundingClientRect()
          return [...element.children].filter((name) => {
            const { left, right, top, bottom } = name.getBoundingClientRect()
            return (
              left < frame.left || right > frame.right + 1 || top < frame.top || bottom > frame.bottom + 1
            )
          }).length
        })
        expect({ id, width, cut }).toEqual({ id, width, cut: 0 })
      }
  })

  test('a tooltip does not stay over the menu that a key opens', async () => {
    const page = await openCall('all')
    const evaluate = page.getByRole('region', { name: 'Review' }).getByRole('button').first()
    await evaluate.hover()
    await page.getByRole('tooltip').getByText('Evaluate (e)').waitFor()
    await page.keyboard.press('e')
    await page.getByRole('menuitem', { name: 'Failed' }).waitFor()
    const { x, y } = await boxOf(evaluate)
    await page.mouse.move(x + 2, y - 20)
    await page.mouse.move(x + 8, y + 8, { steps: 2 })
    await page.waitForTimeout(600)
    expect(await page.getByRole('tooltip').count()).toBe(0)
    await page.keyboard.press('Escape')
  })

  test('a caller without a number is not looked up', async () => {
    const tab = await tabs.open({ person: set.owner })
    const refused: string[] = []
    tab.page.on('response', (response) => {
      if (response.status() >= 400) refused.push(response.url())
    })
    await tab.open(`/p/${project.id}/calls/anonymous?view=page`)
    await facts(tab.page).getByText('anonymous').first().waitFor()
    await tab.page.waitForLoadState('networkidle')
    expect(refused).toEqual([])
  })

  test('a long call keeps its strip, and its turns are named as people count', async () => {
    const page = await openCall('many?view=page#turn-778')
    await page.locator('li[data-target]', { hasText: 'This is turn 778.' }).waitFor()
    await page.getByRole('img', { name: /^The caller speaks/ }).waitFor({ state: 'attached' })
    const { width = 0 } = (await strip(page).boundingBox()) ?? {}
    await strip(page).click({ position: { x: width * 0.999, y: 20 } })
    await page.getByText('This is turn 1199.').waitFor()
  })
})
