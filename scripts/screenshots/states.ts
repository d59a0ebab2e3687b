import type { Locator, Page } from 'playwright-core'

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
  before?: (page: Page) => Promise<unknown>
  /** What a person does then. */
  act?: (page: Page) => Promise<unknown>
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
  (...steps: ((page: Page) => Promise<unknown>)[]) =>
  async (page: Page) => {
    for (const step of steps) await step(page)
  }

const askForMoneyBack = async (page: Page) => {
  await page.getByLabel('Question', { exact: true }).fill('Do I get my money back if you cancelled?')
  await page.keyboard.press('Enter')
  await page.getByRole('article').first().waitFor()
}

const select = async (page: Page) => {
  for (const at of [0, 1]) await page.locator('[data-call] [type=checkbox]').nth(at).check({ force: true })
  await page.getByText('2 selected').waitFor()
}

const inSelection = (name: string) => (page: Page) =>
  button(page.getByRole('region', { name: 'Selected calls' }), name).click()

const shell: ConsoleState[] = [
  { name: 'palette', path: '/p/:project/overview', act: press('Control+k') },
  { name: 'shortcuts', path: '/p/:project/overview', act: then(press('?'), see('Keyboard shortcuts')) },
  {
    name: 'person-menu',
    repeats: true,
    path: '/p/:project/playground',
    width: 1440,
    act: click(/^Signed in as/),
  },
  {
    name: 'project-menu',
    repeats: true,
    path: '/p/:project/playground',
    width: 1440,
    act: click(/Lakeside Dental/),
  },
  { name: 'drawer', path: '/p/:project/overview', width: 375, act: click(/navigation/i) },
  {
    name: 'new-project',
    repeats: true,
    path: '/p/:project/overview',
    act: then(click(/Lakeside Dental/), (page) =>
      page.getByRole('menuitem', { name: 'New project' }).click(),
    ),
  },
  { name: 'no-such-page', path: '/p/:project/nowhere' },
  { name: 'no-such-project', repeats: true, path: '/p/prj_none/overview' },
]

const overview: ConsoleState[] = [
  { name: 'overview', path: '/p/:project/overview' },
  { name: 'overview-period', repeats: true, path: '/p/:project/overview', act: click(/Custom/) },
  {
    name: 'overview-error',
    repeats: true,
    path: '/p/:project/overview',
    before: failing(/overview\/(days|figures)/),
    act: see('Try again'),
  },
  { name: 'first-steps', path: '/p/:empty/overview' },
]

const calls: ConsoleState[] = [
  { name: 'calls', path: '/p/:project/calls' },
  { name: 'search', repeats: true, path: '/p/:project/calls?text=refund' },
  { name: 'calls-none', repeats: true, path: '/p/:project/calls?text=zzyzx&evaluation=fail' },
  { name: 'no-calls', path: '/p/:empty/calls' },
  {
    name: 'calls-error',
    repeats: true,
    path: '/p/:project/calls',
    before: failing(/api\/.*\/calls(\?|$)/),
    act: see('Try again'),
  },
  { name: 'calls-filter', repeats: true, path: '/p/:project/calls', act: click('Status') },
  {
    name: 'calls-evaluation',
    repeats: true,
    path: '/p/:project/calls?evaluation=fail',
    act: click(/^Evaluation/),
  },
  {
    name: 'calls-dates',
    path: '/p/:project/calls',
    act: then(click('Date'), (page) => page.locator('[data-day]:visible').first().waitFor()),
  },
  { name: 'calls-more', repeats: true, path: '/p/:project/calls', act: click('More') },
  { name: 'calls-display', path: '/p/:project/calls', act: click('Display') },
  { name: 'calls-export', repeats: true, path: '/p/:project/calls', act: click('Export') },
  { name: 'calls-views', repeats: true, path: '/p/:project/calls', act: click('Views') },
  { name: 'calls-selected', repeats: true, path: '/p/:project/calls', act: select },
  { name: 'calls-label', path: '/p/:project/calls', act: then(select, inSelection('Label')) },
  {
    name: 'calls-delete',
    repeats: true,
    path: '/p/:project/calls',
    act: then(select, inSelection('Delete')),
  },
  {
    name: 'calls-lost',
    repeats: true,
    path: '/p/:project/calls',
    before: (page) => page.route('**/changes', (route) => route.abort()),
    act: see('No connection.'),
  },
  { name: 'call', path: '/p/:project/calls/:call' },
  { name: 'call-live', repeats: true, path: '/p/:project/calls/call-live-1' },
  { name: 'call-held', repeats: true, path: '/p/:project/calls/:held' },
  { name: 'call-analysis', path: '/p/:project/calls/:call?tab=analysis' },
  { name: 'call-raw', repeats: true, path: '/p/:project/calls/:call?tab=raw' },
  { name: 'call-search', repeats: true, path: '/p/:project/calls/:call?text=Friday' },
  {
    name: 'call-evaluate',
    repeats: true,
    path: '/p/:project/calls/:call',
    act: then(see('Transcript'), press('e'), (page) => popup(page).waitFor()),
  },
  { name: 'call-hold', path: '/p/:project/calls/:call', act: click('Put on hold') },
  { name: 'call-delete', repeats: true, path: '/p/:project/calls/:call', act: click('Delete call') },
  {
    name: 'call-none',
    repeats: true,
    path: '/p/:project/calls/no-such-call',
    act: see('Call not found'),
  },
  { name: 'call-viewer', repeats: true, path: '/p/:project/calls/:call', as: 'viewer' },
]

const knowledge: ConsoleState[] = [
  { name: 'knowledge', path: '/p/:project/knowledge' },
  { name: 'no-knowledge', repeats: true, path: '/p/:empty/knowledge' },
  { name: 'item', repeats: true, path: '/p/:project/knowledge/:item' },
  { name: 'item-edit', repeats: true, path: '/p/:project/knowledge/:item?tab=edit' },
  { name: 'item-chunks', repeats: true, path: '/p/:project/knowledge/:item?tab=chunks' },
  { name: 'item-ask', path: '/p/:project/knowledge/:item?tab=ask', act: askForMoneyBack },
  { name: 'item-delete', repeats: true, path: '/p/:project/knowledge/:item', act: click('Delete') },
  {
    name: 'new-item',
    path: '/p/:project/new-item?question=Is+there+parking%3F',
    act: (page) =>
      page
        .getByRole('textbox', { name: /^Text/ })
        .fill('## Is there parking?\n\nFour places behind the house.'),
  },
  { name: 'questions', path: '/p/:project/questions' },
  { name: 'no-questions', repeats: true, path: '/p/:empty/questions' },
  { name: 'playground', path: '/p/:project/playground', act: askForMoneyBack },
  { name: 'playground-empty', repeats: true, path: '/p/:project/playground' },
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

const settings: ConsoleState[] = [
  { name: 'keys', path: '/p/:project/settings/keys' },
  { name: 'keys-viewer', repeats: true, path: '/p/:project/settings/keys', as: 'viewer' },
  { name: 'new-key', repeats: true, path: '/p/:project/settings/keys?create=key' },
  {
    name: 'made-key',
    path: '/p/:empty/settings/keys?create=key',
    act: async (page) => {
      await inDialog(page).getByLabel('Name').fill('Front desk')
      await button(inDialog(page), 'Create key').click()
      await button(page, 'I have stored it').waitFor()
    },
  },
  { name: 'key', repeats: true, path: '/p/:project/settings/keys/:key' },
  { name: 'rotate-key', repeats: true, path: '/p/:project/settings/keys/:key', act: click('Rotate') },
  { name: 'revoke-key', repeats: true, path: '/p/:project/settings/keys/:key', act: click('Revoke') },
  { name: 'integrations', path: '/p/:project/settings/integrations' },
  { name: 'new-source', path: '/p/:project/settings/integrations?create=source' },
  {
    name: 'made-source',
    repeats: true,
    path: '/p/:empty/settings/integrations?create=source',
    act: async (page) => {
      await inDialog(page)
        .getByRole('radio', { name: /Dograh/ })
        .click()
      await button(page, 'Add Dograh').click()
      await button(page, 'I have stored it').waitFor()
    },
  },
  { name: 'source', repeats: true, path: '/p/:project/settings/integrations/sources/:source' },
  {
    name: 'source-delete',
    repeats: true,
    path: '/p/:project/settings/integrations/sources/:source',
    act: click('Delete'),
  },
  { name: 'integration-livekit', repeats: true, path: '/p/:project/settings/integrations/livekit' },
  { name: 'integration-mcp', repeats: true, path: '/p/:project/settings/integrations/mcp' },
  { name: 'webhooks', path: '/p/:project/settings/webhooks' },
  { name: 'no-webhooks', repeats: true, path: '/p/:empty/settings/webhooks' },
  { name: 'webhook-menu', repeats: true, path: '/p/:project/settings/webhooks', act: click(/^Actions for/) },
  { name: 'webhook-attempts', path: '/p/:project/settings/webhooks?webhook=:webhook' },
  { name: 'new-webhook', repeats: true, path: '/p/:project/settings/webhooks?create=webhook' },
  { name: 'people', path: '/p/:project/settings/people' },
  { name: 'invite', repeats: true, path: '/p/:project/settings/people', act: click('Invite') },
  {
    name: 'invited',
    repeats: true,
    path: '/p/:empty/settings/people',
    act: then(click('Invite'), click('Create link'), (page) => button(page, 'Copy link').waitFor()),
  },
  { name: 'privacy', path: '/p/:project/settings/privacy' },
  {
    name: 'privacy-number',
    repeats: true,
    path: '/p/:project/settings/privacy',
    act: async (page) => {
      await page.getByLabel('Phone number', { exact: true }).fill('5640')
      await button(page, 'Count calls').click()
    },
  },
  {
    name: 'privacy-lift',
    repeats: true,
    path: '/p/:project/settings/privacy',
    act: click(/^Lift the hold on/),
  },
  { name: 'audit', path: '/p/:project/settings/audit' },
  { name: 'general', repeats: true, path: '/p/:project/settings/general' },
  {
    name: 'general-delete',
    repeats: true,
    path: '/p/:project/settings/general',
    act: click(/^Delete project/),
  },
  { name: 'account', repeats: true, path: '/p/:project/settings/account' },
  {
    name: 'two-factor',
    repeats: true,
    path: '/p/:project/settings/account',
    before: madeTwoFactor,
    act: setUpTwoFactor,
  },
  {
    name: 'backup-codes',
    repeats: true,
    path: '/p/:project/settings/account',
    before: madeTwoFactor,
    act: async (page) => {
      await setUpTwoFactor(page)
      await page.getByLabel('Code', { exact: true }).fill('123456')
      await button(page, 'Turn on').click()
      await button(page, 'I have stored them').waitFor()
    },
  },
]

const entry: ConsoleState[] = [
  { name: 'sign-in', path: '/sign-in' },
  {
    name: 'sign-in-refused',
    repeats: true,
    path: '/sign-in',
    act: async (page) => {
      await page.getByLabel('Email address').fill('ada@example.com')
      await page.getByLabel('Password', { exact: true }).fill('not her password')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').first().waitFor()
    },
  },
  {
    name: 'sign-in-code',
    repeats: true,
    path: '/sign-in',
    before: (page) =>
      page.route('**/console/api/session', async (route) => {
        const json = await (await route.fetch()).json()
        await route.fulfill({ json: { ...json, needsCode: true } })
      }),
    act: (page) => page.getByLabel('Code', { exact: true }).waitFor(),
  },
  { name: 'setup', repeats: true, path: '/setup#none' },
  { name: 'join', repeats: true, path: '/join#:invitation', act: see('Lakeside Dental') },
  { name: 'join-old', repeats: true, path: '/join#none' },
  { name: 'reset', repeats: true, path: '/reset#none' },
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
