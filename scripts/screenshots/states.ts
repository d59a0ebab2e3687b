import type { Locator, Page } from 'playwright-core'

type Act = (page: Page) => Promise<unknown>

/** A page of the console in a state that a person meets. */
export interface ConsoleState {
  name: string
  /** Below `/console`, with `:project`, `:empty`, `:call` and the like. */
  path: string
  /** Who is signed in; the owner below `/p/`, else nobody. */
  as?: 'viewer'
  /** Has the same parts as another state, so it needs a picture but no check. */
  repeats?: true
  /** The only width at which it exists. */
  width?: number
  /** Before the page is opened. */
  before?: Act
  /** What a person does then. */
  act?: Act
}

const button = (page: Page | Locator, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).first()
const popup = (page: Page) => page.locator('[role="menu"], [role="dialog"]').first()
const click = (name: string | RegExp) => async (page: Page) => {
  const hasPopup = (await button(page, name).getAttribute('aria-haspopup')) !== null
  await button(page, name).click()
  // The popup appears once its code is loaded.
  if (hasPopup) await popup(page).waitFor()
}
const press = (keys: string) => (page: Page) => page.keyboard.press(keys)
const see = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor()
const inDialog = (page: Page) => page.getByRole('dialog')
const failing = (pattern: RegExp) => (page: Page) =>
  page.route(pattern, (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        title: 'Not ready',
        status: 503,
        detail: 'The database does not answer. Try again in a few seconds.',
        requestId: 'req_01hxk2v9s8e7q',
      }),
    }),
  )

/** One after the other. */
const then =
  (...steps: Act[]) =>
  async (page: Page) => {
    for (const step of steps) await step(page)
  }

const askForMoneyBack = async (page: Page) => {
  await page.getByLabel('Question', { exact: true }).fill('Do I get my money back if you cancelled?')
  await page.keyboard.press('Enter')
  await page.getByRole('article').first().waitFor()
}

const ofCall = (name: string) =>
  then(click('More for this call'), (page) => page.getByRole('menuitem', { name }).click())

const select = async (page: Page) => {
  for (const at of [0, 1]) await page.locator('[data-call] [type=checkbox]').nth(at).check({ force: true })
  await page.getByText('2 selected').waitFor()
}

const inSelection = (name: string) => (page: Page) =>
  button(page.getByRole('region', { name: 'Selected calls' }), name).click()

const nothing: Act = async () => undefined

/** @param path below `/p/:project/`, unless it begins with a slash */
const state = (
  name: string,
  path: string,
  act = nothing,
  more: Partial<ConsoleState> = {},
): ConsoleState => ({ name, path: path.startsWith('/') ? path : `/p/:project/${path}`, act, ...more })
const repeat = (...[name, path, act, more]: Parameters<typeof state>): ConsoleState =>
  state(name, path, act, { repeats: true, ...more })

const shell: ConsoleState[] = [
  state('palette', 'overview', press('Control+k')),
  state('shortcuts', 'overview', then(press('?'), see('Keyboard shortcuts'))),
  repeat('person-menu', 'playground', click(/^Signed in as/), { width: 1440 }),
  repeat('project-menu', 'playground', click(/Lakeside Dental/), { width: 1440 }),
  state('drawer', 'overview', click(/navigation/i), { width: 375 }),
  repeat(
    'new-project',
    'overview',
    then(click(/Lakeside Dental/), (page) => page.getByRole('menuitem', { name: 'New project' }).click()),
  ),
  state('no-such-page', 'nowhere'),
  repeat('no-such-project', '/p/prj_none/overview'),
]

const overview: ConsoleState[] = [
  state('overview', 'overview'),
  state('chart', 'overview/chart?of=success&show=failed&by=agentId&date=last-30-days'),
  state(
    'chart-save',
    'overview/chart?of=success&show=failed&by=agentId&date=last-7-days',
    click(/Save chart/),
  ),
  state('chart-of-hours', 'overview/chart?of=calls&by=hour&date=last-7-days'),
  state('chart-of-days', 'overview/chart?of=latencyMs&show=p95&by=day&date=last-30-days'),
  state('chart-stacked', 'overview/chart?by=agentId,evaluation&date=last-30-days'),
  state('chart-heat', 'overview/chart?by=weekday,hourOfDay&date=last-90-days'),
  state('compare', 'overview/compare'),
  state('compare-groups', 'overview/compare?by=filters&a=source%3Dvapi&b=source%3Dretell'),
  repeat('overview-period', 'overview', click(/Custom/)),
  state('overview-day', 'overview?date=yesterday'),
  state('overview-arrange', 'overview', click(/Arrange/)),
  repeat('overview-error', 'overview', see('Try again'), { before: failing(/metrics/) }),
  state('first-steps', '/p/:empty/overview'),
]

const calls: ConsoleState[] = [
  state('calls', 'calls'),
  state('search', 'calls?text=refund'),
  repeat('calls-none', 'calls?text=zzyzx&evaluation=fail'),
  state('no-calls', '/p/:empty/calls'),
  repeat('calls-error', 'calls', see('Try again'), { before: failing(/api\/.*\/calls(\?|$)/) }),
  state('calls-filter', 'calls', click('Filter')),
  repeat('calls-evaluation', 'calls?evaluation=fail', click(/^Evaluation/)),
  state(
    'calls-dates',
    'calls',
    then(
      click('Filter'),
      (page) => page.getByRole('menuitem', { name: 'Date', exact: true }).click(),
      (page) => page.locator('[data-day]:visible').first().waitFor(),
    ),
  ),
  state('calls-menu', 'calls', click('More')),
  repeat('calls-save', 'calls?evaluation=fail', click('Save as view')),
  repeat('calls-selected', 'calls', select),
  state('calls-label', 'calls', then(select, inSelection('Label'))),
  repeat('calls-delete', 'calls', then(select, inSelection('Delete'))),
  repeat('calls-lost', 'calls', see('No connection.'), {
    before: (page) => page.route('**/changes', (route) => route.abort()),
  }),
  state('call', 'calls/:call'),
  state('call-page', 'calls/:call?view=page'),
  repeat('call-cost', 'calls/:call?view=page', (page) => page.locator('dd details > summary').click()),
  repeat('call-live', 'calls/call-live-1'),
  repeat('call-held', 'calls/:held'),
  state('call-analysis', 'calls/:call?tab=analysis'),
  repeat('call-analysis-viewer', 'calls/:call?tab=analysis', nothing, { as: 'viewer' }),
  repeat('call-quote', 'calls/:call?tab=analysis', then(see('Passed'), press('q'), see(/^1 of/))),
  repeat('calls-criteria', 'calls?criterion.confirmed_the_date=fail'),
  repeat('call-raw', 'calls/:call?tab=raw'),
  repeat('call-search', 'calls/:call?text=Friday'),
  repeat(
    'call-evaluate',
    'calls/:call',
    then(see('Transcript'), press('e'), (page) => popup(page).waitFor()),
  ),
  state('call-menu', 'calls/:call', click('More for this call')),
  state('call-labels', 'calls/:call', then(see('Transcript'), press('l'))),
  repeat('call-note', 'calls/:call', then(see('Transcript'), press('n'))),
  state('call-hold', 'calls/:call', ofCall('Put on hold')),
  repeat('call-delete', 'calls/:call', ofCall('Delete call')),
  repeat('call-none', 'calls/no-such-call', see('Call not found')),
  repeat('call-viewer', 'calls/:call', nothing, { as: 'viewer' }),
]

const knowledge: ConsoleState[] = [
  state('knowledge', 'knowledge'),
  repeat('no-knowledge', '/p/:empty/knowledge'),
  repeat('item', 'knowledge/:item'),
  repeat('item-edit', 'knowledge/:item?tab=edit'),
  repeat('item-chunks', 'knowledge/:item?tab=chunks'),
  state('item-ask', 'knowledge/:item?tab=ask', askForMoneyBack),
  repeat('item-delete', 'knowledge/:item', click('Delete')),
  state('new-item', 'new-item?question=Is+there+parking%3F', (page) =>
    page
      .getByRole('textbox', { name: /^Text/ })
      .fill('## Is there parking?\n\nFour places behind the house.'),
  ),
  state('no-tests', 'tests'),
  state(
    'make-test',
    'calls/:call',
    then(
      (page) => page.getByRole('button', { name: 'Make a test of this turn' }).last().click({ force: true }),
      (page) => inDialog(page).getByLabel('Expectation').first().waitFor(),
    ),
  ),
  state('questions', 'questions'),
  state('open-question', 'questions', async (page) => {
    await page.getByRole('row').nth(1).click()
    await page.getByRole('button', { name: 'Dismiss' }).waitFor()
  }),
  state('golden-questions', 'questions?tab=golden'),
  repeat('no-questions', '/p/:empty/questions'),
  state('playground', 'playground', askForMoneyBack),
  repeat('playground-empty', 'playground'),
]

/** A fake second factor: a real one would ask every later sign-in for a code. */
const madeTwoFactor = async (page: Page) => {
  const codes = Array.from({ length: 10 }, (_, at) => `k3v9${at}-x7p2${at}`)
  const qr = { size: 21, path: 'M0 0h7v7h-7zM14 0h7v7h-7zM0 14h7v7h-7zM9 9h3v3h-3z' }
  const made = { secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', qr, backupCodes: codes }
  await page.route('**/console/api/two-factor', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ json: made }) : route.continue(),
  )
  await page.route('**/console/api/two-factor/turn-on', (route) => route.fulfill({ json: { isOn: true } }))
}

const setUpTwoFactor = async (page: Page) => {
  await button(page, 'Set up').click()
  await page.getByLabel('Your password').fill('a password')
  await button(page, 'Continue').click()
  await page.getByRole('img', { name: /^QR code/ }).waitFor()
}

const changeRubric = async (page: Page) => {
  await page.getByLabel('Question').nth(1).fill('Did the agent say the day and the time again?')
  await button(page, 'Add criterion').click()
}

const tryRubric = async (page: Page) => {
  await page.getByLabel('Question').nth(1).fill('Did the agent say the day and the time again?')
  await button(page, 'Try on a call').click()
  await inDialog(page).getByRole('listitem').first().getByRole('button').click()
  await inDialog(page).getByText('Your changes').first().waitFor()
}

const settings: ConsoleState[] = [
  state('keys', 'settings/keys'),
  repeat('keys-viewer', 'settings/keys', nothing, { as: 'viewer' }),
  repeat('new-key', 'settings/keys?create=key'),
  state('made-key', '/p/:empty/settings/keys?create=key', async (page) => {
    await inDialog(page).getByLabel('Name').fill('Front desk')
    await button(inDialog(page), 'Create key').click()
    await button(page, 'I have stored it').waitFor()
  }),
  state('key', 'settings/keys/:key'),
  repeat('rotate-key', 'settings/keys/:key', click('Rotate')),
  repeat('revoke-key', 'settings/keys/:key', click('Revoke')),
  state('integrations', 'settings/integrations'),
  state('new-source', 'settings/integrations?create=source'),
  repeat('made-source', '/p/:empty/settings/integrations?create=source', async (page) => {
    await inDialog(page)
      .getByRole('radio', { name: /Dograh/ })
      .click()
    await button(page, 'Add Dograh').click()
    await button(page, 'I have stored it').waitFor()
  }),
  repeat('source', 'settings/integrations/sources/:source'),
  repeat('source-delete', 'settings/integrations/sources/:source', click('Delete')),
  state('integration-livekit', 'settings/integrations/livekit'),
  repeat('integration-mcp', 'settings/integrations/mcp'),
  state('webhooks', 'settings/webhooks'),
  repeat('no-webhooks', '/p/:empty/settings/webhooks'),
  repeat('webhook-menu', 'settings/webhooks', click(/^Actions for/)),
  state('webhook', 'settings/webhooks/:webhook'),
  repeat('new-webhook', 'settings/webhooks?create=webhook'),
  state('alerts', 'settings/alerts', see('Bookings fail')),
  repeat('alerts-viewer', 'settings/alerts', see('Bookings fail'), { as: 'viewer' }),
  repeat('no-alerts', '/p/:empty/settings/alerts'),
  repeat('alert-menu', 'settings/alerts', click(/^Actions for/)),
  state('alerts-fired', 'settings/alerts?tab=fired', see('Counted')),
  state('alert', 'settings/alerts/:alert', see(/^Would/)),
  state('alert-viewer', 'settings/alerts/:alert', see(/^Would/), { as: 'viewer' }),
  repeat('alert-delete', 'settings/alerts/:alert', then(see(/^Would/), click('Delete'))),
  state('new-alert', 'settings/alerts/new?of=success', then(see(/^Would/), click('Add Slack'))),
  state('analysis', 'settings/analysis'),
  repeat('analysis-viewer', 'settings/analysis', nothing, { as: 'viewer' }),
  state('analysis-old', 'settings/analysis?version=1'),
  repeat('analysis-changed', 'settings/analysis', changeRubric),
  state('analysis-start', '/p/:empty/settings/analysis'),
  state('analysis-trial', 'settings/analysis', tryRubric),
  state('analysis-past', 'settings/analysis?tab=past&evaluation=success', see(/tokens at most/)),
  state('analysis-agreement', 'settings/analysis?tab=agreement', see('They agree on')),
  state('people', 'settings/people'),
  repeat('invite', 'settings/people', click('Invite')),
  repeat(
    'invited',
    '/p/:empty/settings/people',
    then(click('Invite'), click('Create link'), (page) => button(page, 'Copy link').waitFor()),
  ),
  state('privacy', 'settings/privacy'),
  repeat('privacy-number', 'settings/privacy', async (page) => {
    await page.getByLabel('Phone number', { exact: true }).fill('5640')
    await button(page, 'Count calls').click()
  }),
  repeat('privacy-lift', 'settings/privacy', click(/^Lift the hold on/)),
  state('audit', 'settings/audit'),
  repeat('general', 'settings/general'),
  repeat('general-delete', 'settings/general', click(/^Delete project/)),
  repeat('account', 'settings/account'),
  repeat('two-factor', 'settings/account', setUpTwoFactor, { before: madeTwoFactor }),
  repeat(
    'backup-codes',
    'settings/account',
    async (page) => {
      await setUpTwoFactor(page)
      await page.getByLabel('Code', { exact: true }).fill('123456')
      await button(page, 'Turn on').click()
      await button(page, 'I have stored them').waitFor()
    },
    { before: madeTwoFactor },
  ),
]

const entry: ConsoleState[] = [
  state('sign-in', '/sign-in'),
  repeat('sign-in-refused', '/sign-in', async (page) => {
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill('not her password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').first().waitFor()
  }),
  repeat('sign-in-code', '/sign-in', (page) => page.getByLabel('Code', { exact: true }).waitFor(), {
    before: (page) =>
      page.route('**/console/api/session', async (route) => {
        const json = await (await route.fetch()).json()
        await route.fulfill({ json: { ...json, needsCode: true } })
      }),
  }),
  repeat('setup', '/setup#none'),
  repeat('join', '/join#:invitation', see('Lakeside Dental')),
  repeat('join-old', '/join#none'),
  repeat('reset', '/reset#none'),
]

/** Every page, with its dialogs, menus and less obvious states. */
export const consoleStates: readonly ConsoleState[] = [
  ...shell,
  ...overview,
  ...calls,
  ...knowledge,
  ...settings,
  ...entry,
]
