import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Analysis, Rubric } from '../../src/analysis/schemas.ts'
import { addFilter, openListMenu, saveView } from '../support/call-list.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { goodJudgement, type RecordedChat, startFakeChat } from '../support/fake-chat.ts'
import type { TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const transcript = [
  { role: 'assistant', content: 'Hello, how can I help?' },
  { role: 'user', content: 'A table for four on Friday at ten, please.' },
  { role: 'assistant', content: 'Friday at ten for four, is that right?' },
  { role: 'user', content: 'Yes, that works.' },
]
const rubric = {
  criteria: [
    { id: 'confirmed', name: 'Confirmed the date', question: 'Did the agent repeat the date?' },
    { id: 'price', name: 'Named the price', question: 'Did the agent say what it costs?' },
  ],
  fields: [{ key: 'day', type: 'string', description: 'The day.' }],
  evaluation: ['confirmed'],
  when: { minUserTurns: 1 },
}

/** What the model says of a criterion, beside a quotation of the third turn. */
let verdicts: Record<string, object> = {}
function judge(request: RecordedChat): unknown {
  const judgement = goodJudgement(request) as { criteria?: Record<string, object> }
  const evidence = { turns: [2], quote: 'Friday at ten for four' }
  for (const [id, judged] of Object.entries(judgement.criteria ?? {}))
    Object.assign(judged, { rationale: 'The agent says it.', ...evidence, ...verdicts[id] })
  return judgement
}
const chat = await startFakeChat({ says: judge })
const env = { ANALYSIS_MODEL: 'judge-1', ANALYSIS_ENDPOINT: chat.url, ANALYSIS_DELAY_SECONDS: '0' }
const { set, tabs } = await startConsoleInBrowser({ env })
const tab = await tabs.open({ person: set.owner })

describe('the analysis of calls, in a browser', () => {
  let project: TestProject

  beforeEach(async () => {
    verdicts = {}
    project = await set.mintProject()
  })
  afterEach(() => expect(tab.complaints).toEqual([]))

  function api(path: string): string {
    return `/projects/${project.id}/analysis${path}`
  }

  async function putRubric(content: object = rubric): Promise<Rubric> {
    const answer = await set.owner.send('PUT', api('/rubric'), content)
    expect(answer.status).toBe(200)
    return await answer.json()
  }

  async function storedRubric(): Promise<Rubric> {
    return (await (await set.owner.fetch(api('/rubric'))).json()).rubric
  }

  async function putCall(id: string, change: object = {}): Promise<void> {
    const body = { status: 'completed', duration: 42, transcript, ...change }
    expect((await project.send('PUT', `/ingest/calls/${id}`, body)).ok).toBe(true)
  }

  async function analysisOf(id: string): Promise<Analysis> {
    return await (await project.fetch(`/v1/calls/${id}/analysis`)).json()
  }

  /** A completed call, once the model has judged it. */
  async function analyzed(id: string, change: object = {}): Promise<void> {
    await putCall(id, change)
    await until(async () => !['none', 'queued', 'running'].includes((await analysisOf(id)).state))
  }

  async function criteriaRuledOf(id: string): Promise<Record<string, string> | undefined> {
    const { review } = await (await project.fetch(`/v1/calls/${id}/details`)).json()
    return review?.criteria
  }

  function settings(search = ''): Promise<void> {
    return tab.open(`/p/${project.id}/settings/analysis${search}`)
  }

  function openCall(id: string, on = tab): Promise<void> {
    return on.open(`/p/${project.id}/calls/${id}?tab=analysis`)
  }

  const criterion = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true })

  describe('the rubric', () => {
    test('an example becomes version 1, by keyboard, with ids made of the names', async () => {
      const { page } = tab
      await settings()
      await page.getByRole('button', { name: /^Booking/ }).press('Enter')
      await page.getByRole('button', { name: 'Add criterion' }).press('Enter')
      await page.keyboard.type('Café: Größe & Preis')
      await page.keyboard.press('Tab')
      await page.keyboard.type('Did the agent say the size and the price?')
      await page.getByText('cafe_gro_e_preis').waitFor()
      const up = page.getByRole('button', { name: 'Move Café: Größe & Preis up' })
      for (let times = 0; times < 4; times++) await up.press('Enter')
      expect(await up.evaluate((button) => button === document.activeElement)).toBe(true)
      expect(await up.getAttribute('aria-disabled')).toBe('true')
      await page.getByLabel('Share of these calls').fill('25')
      await page.getByLabel('Tokens a month, at most').fill('5000')
      await page.getByRole('button', { name: 'Save version 1' }).press('Enter')
      await page.getByText('Version 1 saved').waitFor()
      const stored = await storedRubric()
      expect(stored).toMatchObject({ version: 1, share: 0.25, tokensPerMonth: 5_000 })
      expect(stored.criteria.map(({ id }) => id)).toEqual([
        'cafe_gro_e_preis',
        'booked_or_clear_answer',
        'confirmed_the_date',
        'asked_only_what_is_needed',
      ])
      expect(stored.evaluation).toEqual(['booked_or_clear_answer', 'confirmed_the_date'])
      await page.getByText('0 of 5,000').waitFor()
    })

    test('a saved id stays when the name changes, and an older version starts a new one', async () => {
      const { page } = tab
      await putRubric()
      await settings()
      await page.getByLabel('Name').first().fill('Repeated the date')
      await page.getByRole('button', { name: 'Remove Named the price' }).click()
      await page.getByRole('button', { name: 'Save version 2' }).click()
      await page.getByText('Version 2 saved').waitFor()
      expect((await storedRubric()).criteria).toMatchObject([{ id: 'confirmed', name: 'Repeated the date' }])
      await page.getByRole('button', { name: 'Older versions' }).click()
      await page.getByRole('menuitem', { name: /^Version 1/ }).click()
      await page.getByText('Did the agent say what it costs?').waitFor()
      expect(new URL(page.url()).search).toContain('version=1')
      await page.getByRole('button', { name: 'Start a new version from it' }).click()
      await page.getByRole('button', { name: 'Save version 3' }).click()
      await page.getByText('Version 3 saved').waitFor()
      expect((await storedRubric()).criteria).toEqual(rubric.criteria)
    })

    test('what is typed outlasts other pages, and can be discarded', async () => {
      const { page } = tab
      await putRubric()
      await settings()
      await page.getByLabel('Question').first().fill('Did the agent say it again?')
      await page.getByRole('link', { name: 'Playground' }).click()
      await page.getByRole('heading', { name: 'Playground' }).waitFor()
      await page.getByRole('link', { name: 'Analysis' }).click()
      await page.getByText('Unsaved changes').waitFor()
      expect(await page.getByLabel('Question').first().inputValue()).toBe('Did the agent say it again?')
      await page.getByRole('button', { name: 'Discard' }).click()
      expect(await page.getByLabel('Question').first().inputValue()).toBe(rubric.criteria[0]?.question ?? '')
    })

    test('each error stands at its field, and the first one takes the focus', async () => {
      const { page } = tab
      await putRubric()
      await settings()
      await page.getByRole('button', { name: 'Add criterion' }).click()
      await page.getByRole('button', { name: 'Add field' }).click()
      await page.keyboard.type('Day ')
      await page.getByRole('combobox', { name: 'Type' }).nth(1).click()
      await page.getByRole('option', { name: 'One of some choices' }).click()
      await page.getByRole('button', { name: 'Save version 2' }).click()
      await page.getByText('Check the fields that are marked.').waitFor()
      const said = (label: string) =>
        page
          .getByLabel(label, { exact: true })
          .last()
          .evaluate((input) => {
            const ids = input.getAttribute('aria-describedby')?.split(' ') ?? []
            return ids.map((id) => document.getElementById(id)?.textContent).join(' ')
          })
      expect(await said('Name')).toContain('The name must not be')
      expect(await said('Question')).toContain('The question must not be empty')
      await page.getByText('Choices must have at least 1 entry').waitFor()
      const focused = page.locator('input:focus')
      expect(await focused.getAttribute('aria-invalid')).toBe('true')
      expect((await storedRubric()).version).toBe(1)
    })

    test('agents in use are offered by name, and others can be typed', async () => {
      const { page } = tab
      await putCall('by-agent', { details: { agent: { id: 'agent_7', name: 'Front desk' } } })
      await putRubric()
      await settings()
      const agents = page.getByRole('combobox', { name: 'Agents' })
      await agents.click()
      await page.getByRole('option', { name: 'Front desk' }).click()
      await agents.fill('agent_new')
      await page.getByRole('option', { name: 'Add agent_new' }).click()
      await page.getByRole('button', { name: 'Save version 2' }).click()
      await page.getByText('Version 2 saved').waitFor()
      expect((await storedRubric()).when.agentIds).toEqual(['agent_7', 'agent_new'])
    })

    test('a member reads it and cannot change it', async () => {
      await putRubric()
      const member = await tabs.open({ person: await set.join(project, 'member') })
      await member.open(`/p/${project.id}/settings/analysis`)
      await member.page.getByText('Did the agent say what it costs?').waitFor()
      await member.page.getByText('judge-1').waitFor()
      expect(await member.page.getByRole('button', { name: /^(Save|Add|Try)/ }).count()).toBe(0)
      await member.context.close()
    })
  })

  test('without a model the page says how to name one', async () => {
    const other = await startConsoleInBrowser()
    const { page, open } = await other.tabs.open({ person: other.set.owner })
    await open(`/p/${other.project.id}/settings/analysis`)
    await page.getByText('No model is set, so no transcript is sent anywhere.').waitFor()
    await page.getByText('ANALYSIS_ENDPOINT=').waitFor()
  })

  test('a criterion of facts is chosen by its kind, and its verdict shows what bears it out', async () => {
    const { page } = tab
    await putRubric()
    await settings()
    await page.getByRole('combobox', { name: 'What is asked' }).first().click()
    await page.getByRole('option', { name: /^Whether the agent’s facts/ }).click()
    await page.getByRole('link', { name: 'keep questions' }).waitFor()
    await page.getByLabel('Question (optional)').fill('')
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page.getByText('Version 2 saved').waitFor()
    const [first] = (await storedRubric()).criteria
    expect(first).toEqual({ id: 'confirmed', name: 'Confirmed the date', kind: 'grounded' })
    const text = 'Friday at ten is free for four.'
    const timeline = [{ atSeconds: 1, kind: 'tool_result', name: 'find_table', text }]
    verdicts = { confirmed: { support: 'is free for four' } }
    await analyzed('grounded', { details: { timeline } })
    await openCall('grounded')
    const found = criterion(page, 'Confirmed the date')
    await found.getByText('Supported by find_table: is free for four').waitFor()
    verdicts = { confirmed: { result: 'fail', support: '' } }
    await analyzed('invented', { details: { timeline } })
    await openCall('invented')
    await found.getByText('Not in what Callbook and the tools answered.').waitFor()
  })

  test('a trial shows both versions side by side, marks what differs, and stores nothing', async () => {
    const { page } = tab
    await putCall('tried')
    await putRubric()
    verdicts = { price: { result: 'fail', rationale: 'No price is named.' } }
    await settings()
    await page.getByLabel('Name').nth(1).fill('Named the whole price')
    await page.getByRole('button', { name: 'Try on a call' }).click()
    const dialog = page.getByRole('dialog')
    chat.next(null, { says: (request: RecordedChat) => goodJudgement(request) })
    await dialog.getByRole('listitem').getByRole('button').click()
    const row = dialog
      .locator('section', { has: page.getByRole('heading', { name: 'Named the whole price' }) })
      .last()
    await row.getByText('Differs').waitFor()
    expect((await row.textContent())?.match(/Passed|Failed/g)?.sort()).toEqual(['Failed', 'Passed'])
    await dialog
      .getByText(/^[\d,]+ tokens$/)
      .first()
      .waitFor()
    expect(await dialog.locator('[data-differs]').count()).toBe(1)
    expect((await analysisOf('tried')).state).toBe('none')
    await dialog.getByLabel('Call ID').fill('no-such-call')
    await dialog.getByRole('button', { name: 'Try' }).click()
    await dialog.getByText('No call in this project has this id.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard' }).click()
  })

  describe('past calls', () => {
    test('a saved view’s calls are counted, then analyzed', async () => {
      const { page } = tab
      for (const id of ['old-1', 'old-2']) await putCall(id, { endedReason: 'customer-ended-call' })
      await putCall('other', { endedReason: 'voicemail' })
      const view = { name: 'Ended by people', query: '?endedReason=customer-ended-call', isShared: true }
      await set.owner.send('POST', `/projects/${project.id}/views`, view)
      await putRubric()
      await settings('?tab=past')
      await page.getByText('3 calls').first().waitFor()
      await page.getByRole('combobox', { name: 'Saved view' }).click()
      await page.getByRole('option', { name: 'Ended by people' }).click()
      await page.getByText(/^2 calls, about [\d,]+ tokens at most$/).waitFor()
      expect(new URL(page.url()).searchParams.get('endedReason')).toBe('customer-ended-call')
      const dialog = page.getByRole('dialog', { name: 'Analyze 2 calls?' })
      const start = async () => {
        await page.getByRole('button', { name: 'Analyze 2 calls' }).click()
        await dialog.getByText(/^2 calls, about [\d,]+ tokens at most$/).waitFor()
        await dialog.getByRole('button', { name: 'Analyze 2 calls' }).click()
      }
      await start()
      const run = page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1)
      await run.getByText('Done').waitFor()
      await run.getByText('2 of 2').waitFor()
      await page.getByText('All done. 2 of 2 analyzed.').waitFor()
      expect(await page.getByRole('button', { name: 'Analyze 2 calls' }).isDisabled()).toBe(true)
      expect((await analysisOf('old-1')).state).toBe('done')
      expect((await analysisOf('other')).state).toBe('none')
      // Those that are done are skipped, unless they are asked for again.
      await page.getByRole('checkbox', { name: 'Analyze again' }).check()
      await start()
      await until(
        async () =>
          (await run.textContent())?.includes('2 of 2') === true &&
          (await page.getByRole('row').count()) === 3,
      )
    })

    test('a run can be stopped', async () => {
      const { page } = tab
      await putCall('slow')
      await putRubric()
      chat.always({ delayMs: 30_000 })
      try {
        await settings('?tab=past')
        await page.getByRole('button', { name: 'Analyze 1 call' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Analyze 1 call' }).click()
        await page.getByRole('button', { name: 'Stop the run over 1 call' }).click()
        await page.getByText('Stopped').waitFor()
      } finally {
        chat.always(null)
      }
    })
  })

  describe('on a call', () => {
    test('a verdict has its reason and a quotation, one click from the turn where it is marked', async () => {
      const { page } = tab
      verdicts = { price: { result: 'fail', rationale: 'No price is named.' } }
      await putRubric()
      await analyzed('judged', { summary: 'A table for this guest is booked for Friday.' })
      await openCall('judged')
      const price = criterion(page, 'Named the price')
      await price.getByText('Failed').waitFor()
      await price.getByText('No price is named.').waitFor()
      await price.getByText('Did the agent say what it costs?').waitFor()
      await page.getByRole('tab', { name: 'Analysis 1/2' }).waitFor()
      await price.getByRole('button', { name: /Friday at ten for four/ }).click()
      const mark = page.locator('mark[data-current]')
      expect(await mark.textContent()).toBe('Friday at ten for four')
      expect(await mark.evaluate((element) => element.closest('li')?.dataset.role)).toBe('assistant')
      await page.goBack()
      await price.waitFor()
      await page.keyboard.press('q')
      await mark.waitFor()
      // The summary does not have these words as they follow each other.
      expect(await page.getByRole('complementary', { name: 'Facts' }).locator('mark').count()).toBe(0)
      await page.keyboard.press('a')
      await price.waitFor()
    })

    test('one key agrees or overrules and goes on; the same key takes it back', async () => {
      const { page } = tab
      await putRubric()
      await analyzed('ruled')
      await openCall('ruled')
      const [date, price] = [criterion(page, 'Confirmed the date'), criterion(page, 'Named the price')]
      await date.waitFor()
      await page.keyboard.press('c')
      await page.keyboard.press('1')
      await page.keyboard.press('2')
      await until(async () => Object.keys((await criteriaRuledOf('ruled')) ?? {}).length === 2)
      expect(await criteriaRuledOf('ruled')).toEqual({ confirmed: 'pass', price: 'fail' })
      // The person's verdict first, the model's beside it.
      await until(async () => (await price.textContent())?.includes('FailedModel: Passed') === true)
      await page.keyboard.press('2')
      await until(async () => !('price' in ((await criteriaRuledOf('ruled')) ?? {})))
      await until(async () => (await price.textContent())?.includes('Model:') === false)
      await date.getByRole('button', { name: 'Fail' }).click()
      await until(async () => (await criteriaRuledOf('ruled'))?.confirmed === 'fail')
      await page.keyboard.press('?')
      const keys = page.getByRole('dialog')
      await keys.getByText('Say that it failed, and go on').waitFor()
      await page.keyboard.press('Escape')
    })

    test('a viewer sees the verdicts and cannot rule', async () => {
      await putRubric()
      await analyzed('viewed')
      const viewer = await tabs.open({ person: await set.join(project, 'viewer') })
      await openCall('viewed', viewer)
      const date = criterion(viewer.page, 'Confirmed the date')
      await date.getByText('Passed').waitFor()
      const pass = date.getByRole('button', { name: 'Pass' })
      expect(await pass.getAttribute('aria-disabled')).toBe('true')
      await pass.click({ force: true })
      await viewer.page.keyboard.press('1')
      expect(await criteriaRuledOf('viewed')).toBeUndefined()
      expect(viewer.complaints).toEqual([])
      await viewer.context.close()
    })

    test('what is not known is said in words', async () => {
      const { page } = tab
      verdicts = { price: { result: 'pass', quote: 'Words that nobody said' } }
      await putRubric()
      await analyzed('unknown')
      await openCall('unknown')
      await criterion(page, 'Named the price').getByText('No words of the call support an answer.').waitFor()
      await criterion(page, 'Named the price').getByText('Unknown').waitFor()
      await analyzed('skipped', { transcript: transcript.slice(0, 1) })
      await openCall('skipped')
      await page.getByText('The rubric does not ask about calls like this one.').waitFor()
      chat.always({ says: 'I cannot answer.' })
      await analyzed('failed')
      chat.always({ status: 401 })
      try {
        await openCall('failed')
        await page.getByText(/^The analysis failed: no usable answer/).waitFor()
        await putCall('paused')
        await until(async () => (await analysisOf('paused')).state === 'paused')
        await openCall('paused')
        await page.getByText('The model’s server refuses our token.').waitFor()
        await settings()
        await page.getByText('Paused', { exact: true }).waitFor()
        await page.getByText('sets a valid ANALYSIS_TOKEN').waitFor()
        await page.getByText('1 call', { exact: true }).waitFor()
      } finally {
        chat.always(null)
      }
    })

    test('what a model or a person wrote is text, whatever it holds, and reads in its own direction', async () => {
      const { page } = tab
      const hostile = '<img src=x onerror="document.title=1">'
      verdicts = { price: { rationale: `${hostile} مرحبا` } }
      await putRubric({
        ...rubric,
        criteria: rubric.criteria.with(1, { id: 'price', name: hostile, question: hostile }),
      })
      await analyzed('hostile')
      await openCall('hostile')
      const price = criterion(page, hostile)
      await price.getByText(/onerror=.*مرحبا/).waitFor()
      expect(await page.locator('main img').count()).toBe(0)
      const texts = await price
        .locator('h3, p:not(:has(> span)), q')
        .evaluateAll((all) => all.map((one) => one.getAttribute('dir')))
      expect(new Set(texts)).toEqual(new Set(['auto']))
      await settings()
      await page.getByLabel('Name').nth(1).waitFor()
      expect(await page.locator('main img').count()).toBe(0)
    })
  })

  test('agreement is counted per criterion and version, and leads to the calls', async () => {
    const { page } = tab
    await putRubric()
    for (const id of ['one', 'two', 'three']) await analyzed(id)
    const review = (id: string, change: object) =>
      set.owner.send('PATCH', `/projects/${project.id}/calls/${id}/review`, change)
    await review('one', { evaluation: 'success', criteria: { confirmed: 'pass' } })
    await review('two', { evaluation: 'fail', criteria: { confirmed: 'fail', price: 'pass' } })
    await settings('?tab=agreement')
    const row = (name: string) => page.getByRole('table', { name: 'Agreement' }).getByRole('row', { name })
    await row('Whole evaluation').getByText('1 of 2 calls').waitFor()
    await row('Named the price').getByText('1 of 1 call').waitFor()
    const disagreements = page.getByRole('table', { name: 'Disagreements' })
    expect(await disagreements.getByRole('row').count()).toBe(3)
    await page.getByRole('table', { name: 'Calls to review next' }).getByText('2 passed').waitFor()
    const review1 = (title: string) =>
      page
        .locator('section', { has: page.getByRole('heading', { name: title }) })
        .getByRole('button', { name: 'Review 1 call' })
        .click()
    await review1('Review next')
    await until(() => new URL(page.url()).pathname.endsWith('/calls/three'))
    expect(new URL(page.url()).searchParams.get('set')).toStartWith('set_')
    await page.goBack()
    await review1('Where they disagree')
    await until(() => new URL(page.url()).searchParams.has('set'))
    const { data: queues } = await (await set.owner.fetch(`/projects/${project.id}/call-sets`)).json()
    expect(queues.map(({ name, calls }: { name: string; calls: number }) => [name, calls])).toEqual([
      ['Disagreements', 1],
      ['Review next', 1],
    ])
    await putRubric({ ...rubric, fields: [] })
    await settings('?tab=agreement')
    await page.getByText('Nobody has reviewed a call that this version has analyzed.').waitFor()
    await page.getByRole('combobox', { name: 'Version of the rubric' }).click()
    await page.getByRole('option', { name: 'Version 1' }).click()
    await disagreements.getByRole('link', { name: 'two' }).first().click()
    await criterion(page, 'Confirmed the date').getByText('Model:').waitFor()
  })

  test('calls are filtered by a criterion, in the address, in a saved view and in what is exported', async () => {
    const { page } = tab
    await putRubric()
    await analyzed('passes')
    verdicts = { price: { result: 'fail' } }
    await analyzed('fails')
    await tab.open(`/p/${project.id}/calls`)
    await addFilter(page, 'Named the price')
    await page.getByRole('menuitemcheckbox', { name: 'Failed' }).click()
    await page.keyboard.press('Escape')
    await page.getByText('1 call', { exact: true }).waitFor()
    expect(await page.locator('[data-call]').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('criterion.price')).toBe('fail')
    await openListMenu(page)
    const href = await page.getByRole('menuitem', { name: /JSONL/ }).getAttribute('href')
    const file = await set.owner.fetch(href?.replace('/console/api', '') ?? '')
    expect(
      (await file.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['fails'])
    await page.keyboard.press('Escape')
    await saveView(page, 'Without a price')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('2 calls', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Without a price', exact: true }).click()
    await page.getByRole('button', { name: 'Clear Named the price' }).waitFor()
    await tab.open(`/p/${project.id}/calls?criterion.price=maybe`)
    await page.getByText('“maybe” is not pass or fail or unknown').waitFor()
  })
})
