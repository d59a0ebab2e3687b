import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Page, Route } from 'playwright-core'
import { findings } from '../support/accessibility.ts'
import { type ShowOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { until } from '../support/until.ts'

const { service, set, project, tabs } = await startConsoleInBrowser()
await project.send('PUT', '/ingest/calls/call-1042', { status: 'completed', summary: 'Moved a booking.' })

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the frame of all pages, in a browser', () => {
  async function openTab(path: string, options: ShowOptions = {}): Promise<Page> {
    return (await tabs.show(path, { person: set.owner, ...options })).page
  }

  function heading(page: Page, name: string) {
    return page.getByRole('heading', { level: 1, name, exact: true })
  }

  /** Signs in as in another tab, and comes back to this one. */
  async function signInElsewhere(page: Page, { email, password }: { email: string; password: string }) {
    await page.evaluate(
      (body) =>
        fetch('/console/api/session', {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
        }),
      JSON.stringify({ email, password }),
    )
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  }

  test('keyboard shortcuts open every page, and the palette opens a call by its id', async () => {
    const page = await openTab(`/p/${project.id}/overview`)
    await heading(page, 'Overview').waitFor()
    for (const [key, name] of [
      ['c', 'Calls'],
      ['k', 'Knowledge'],
      ['a', 'Alerts'],
      ['n', 'Analysis'],
      ['o', 'Overview'],
      // Last, because the playground's question field takes the focus.
      ['p', 'Playground'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await heading(page, name).waitFor()
    }
    await page.locator('#content').focus()
    // Typed at once: no letter is taken for a shortcut.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('gc call-1042')
    const field = page.getByRole('combobox', { name: 'Search commands' })
    expect(await field.inputValue()).toBe('gc call-1042')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    expect(await field.inputValue()).toBe('')
    // Again, while it is open.
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await until(() => page.evaluate(() => document.activeElement?.id === 'content'))
    await page.keyboard.press('Control+k')
    await page.keyboard.type('call-1042')
    await page.getByText('Open call call-1042').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/calls\/call-1042/)
  })

  test('the palette finds calls, items, views and people as one types', async () => {
    const own = await set.mintProject()
    await own.send('PUT', '/ingest/calls/palette-1', {
      status: 'completed',
      callerNumber: '+15557294053',
      summary: 'A parcel was lost in the snow.',
    })
    await own.send('POST', '/v1/knowledge', { name: 'Parcels in winter', text: 'They may be late.' })
    const view = { name: 'Lost parcels', query: 'evaluation=fail', isShared: true }
    await set.owner.send('POST', `/projects/${own.id}/views`, view)
    const member = await set.join(own, 'member')
    const page = await openTab(`/p/${own.id}/overview`)
    await heading(page, 'Overview').waitFor()
    const rest = { clientX: 640, clientY: 300 }
    await page.mouse.move(rest.clientX, rest.clientY)
    await page.keyboard.press('Control+k')
    const option = (name: string | RegExp) => page.getByRole('option', { name })
    const callsMayCome = Promise.withResolvers<void>()
    await page.route('**/calls?text=parcel*', async (route) => {
      await callsMayCome.promise
      await route.continue()
    })
    // At once: on a slow machine calls may be found by half a word.
    await page.keyboard.insertText('parcel')
    await option('Parcels in winter').waitFor()
    // What Enter does is the same before and after the answers.
    expect(await option('Find calls with “parcel”').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('ArrowDown')
    callsMayCome.resolve()
    await option(/A parcel was lost/).waitFor()
    // The browser tells of a pointer at rest, too, when what is under it has moved.
    for (const _ of [1, 2]) await option(/A parcel was lost/).dispatchEvent('mousemove', rest)
    expect(await option('Parcels in winter').getAttribute('aria-selected')).toBe('true')
    await page.mouse.move(rest.clientX, rest.clientY + 1)
    await option('Lost parcels').hover()
    expect(await option('Lost parcels').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Enter')
    await page.waitForURL(/calls\?evaluation=fail/)
    for (const [typed, name, url] of [
      ['gap', 'Questions', /questions$/],
      ['item', 'New knowledge item', /new-item$/],
      ['webhook', 'Create webhook', /webhooks\?create=webhook$/],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(typed)
      await option(name).click()
      await page.waitForURL(url)
    }
    await page.getByRole('dialog', { name: 'Create webhook' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('7294053')
    await option(/A parcel was lost/).click()
    await page.waitForURL(/calls\/palette-1/)
    await page.keyboard.press('Control+k')
    await page.keyboard.type(member.email)
    await option(new RegExp(member.name)).waitFor()
    const theirs = await tabs.open({ person: member })
    await theirs.open(`/p/${own.id}/overview`)
    await heading(theirs.page, 'Overview').waitFor()
    await theirs.page.keyboard.press('Control+k')
    await theirs.page.keyboard.type(set.owner.name.toLowerCase())
    await theirs.page.getByText('Find calls with').waitFor()
    await theirs.page.waitForLoadState('networkidle')
    expect(await theirs.page.getByText('People', { exact: true }).count()).toBe(0)
  })

  test('keys typed into a field are not shortcuts', async () => {
    const page = await openTab(`/p/${project.id}/settings/general`)
    await page.getByLabel('Project name').fill('')
    await page.keyboard.type('gc?')
    expect(await page.getByLabel('Project name').inputValue()).toBe('gc?')
    expect(page.url()).toEndWith('/settings/general')
    expect(await page.getByRole('dialog').count()).toBe(0)
    // A checkbox takes no letters.
    await page.evaluate(() => {
      const box = Object.assign(document.createElement('input'), { type: 'checkbox' })
      document.getElementById('content')?.append(box)
      box.focus()
    })
    await page.keyboard.type('gc')
    await heading(page, 'Calls').waitFor()
  })

  test('the chosen theme applies before the first paint of the next visit', async () => {
    const page = await openTab(`/p/${project.id}/settings/account`, { isNew: true })
    await page.getByRole('button', { name: /^Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Dark' }).click()
    // Without the page's program nothing but the small script before it can set the theme.
    await page.route('**/assets/main-*.js', (route) => route.abort())
    await page.reload({ waitUntil: 'domcontentloaded' })
    expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark')
    const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(ground).toBe('rgb(17, 18, 20)')
  })

  test('what needs somebody is a line in the navigation, on every page and with a link', async () => {
    const own = await set.mintProject()
    const { services } = service
    const { id } = await services.webhooks.create(own.projectId, {
      url: 'https://hooks.example.com/calls',
      events: ['call.completed'],
      createdBy: null,
    })
    await services.database.write.run(sql`update webhooks set failures = 4 where id = ${id}`)
    const source = await services.sources.create(own.projectId, { platform: 'vapi', createdBy: null })
    const longAgo = Date.now() - 9 * 86_400_000
    await services.database.write.run(
      sql`update sources set last_event_at = ${longAgo} where id = ${source.id}`,
    )
    const page = await openTab(`/p/${own.id}/calls`)
    const navigation = page.getByRole('navigation', { name: 'Main' })
    const line = navigation.getByRole('link', { name: 'hooks.example.com fails · 1 more' })
    await line.waitFor()
    expect(await line.getAttribute('data-hint')).toContain('Vapi was last heard')
    expect(await navigation.locator('[aria-current]').allTextContents()).toEqual(['Calls'])
    await line.click()
    await heading(page, 'hooks.example.com').waitFor()
    expect(await navigation.locator('[aria-current]').allTextContents()).toContain('Settings')
    await navigation.getByRole('link', { name: 'Alerts' }).click()
    await heading(page, 'Alerts').waitFor()
    expect(await navigation.locator('[aria-current]').allTextContents()).toEqual(['Alerts'])
    expect(await page.getByRole('navigation', { name: 'Settings' }).count()).toBe(0)
    // A member is told of alerts alone.
    const theirs = await openTab(`/p/${own.id}/calls`, { person: await set.join(own, 'member') })
    await theirs.waitForResponse(/\/alerts$/)
    expect(await theirs.getByText('hooks.example.com').count()).toBe(0)
  })

  test('a project is created, renamed, and deleted by typing its name', async () => {
    const page = await openTab(`/p/${project.id}/overview`)
    await page.getByRole('button', { name: /^Project/ }).click()
    await page.getByRole('menuitem', { name: 'New project' }).click()
    await page.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    // The menu is gone, so the focus goes to what opened it.
    await page
      .getByRole('button', { name: /^Project/ })
      .and(page.locator(':focus'))
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'New project' }).click()
    await page.getByLabel('Name').fill('Harbour')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('button', { name: /^Project Harbour/ }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('link', { name: 'General' }).click()
    await page.getByLabel('Project name').fill('Harbour Bank')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByRole('button', { name: /^Project Harbour Bank/ }).waitFor()
    const { pathname } = new URL(page.url())

    await page.getByRole('button', { name: 'Delete project' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('Harbour')
    expect(await dialog.getByRole('button', { name: 'Delete project' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Harbour Bank')
    await dialog.getByRole('button', { name: 'Delete project' }).click()
    await heading(page, 'Overview').waitFor()
    await page.goto(service.url + pathname)
    await page.getByText('Page not found').waitFor()
  })

  test('a person changes their name, and the menu shows it at once', async () => {
    const person = await set.join(project, 'member')
    const page = await openTab(`/p/${project.id}/settings/account`, { person })
    const save = page.getByRole('button', { name: 'Save' })
    await page.getByLabel('Name', { exact: true }).fill(' ')
    expect(await save.isDisabled()).toBe(true)
    await page.getByLabel('Name', { exact: true }).fill('Grace Hopper')
    await save.click()
    await page.getByRole('button', { name: 'Signed in as Grace Hopper' }).waitFor()
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Grace Hopper')
  })

  test('when a session ends while somebody writes, they sign in over the page and lose nothing', async () => {
    const guest = await set.join(project, 'member')
    const { page, open } = await tabs.open({ person: guest })
    await open(`/p/${project.id}/new-item`)
    await page.getByLabel('Name').fill('Opening hours')
    await guest.send('DELETE', '/sessions')
    // The preview asks for the chunks of what is typed: once all is typed, since what is pressed in the text takes the focus.
    const typed = Promise.withResolvers<void>()
    await page.route('**/preview', async (route) => {
      await typed.promise
      await route.continue()
    })
    await page.getByLabel('Text').fill('# Hours\n\nFrom nine to five.')
    await page.getByLabel('Text').press('Control+Enter')
    typed.resolve()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Password', { exact: true }).and(page.locator(':focus')).fill(guest.password)
    expect(await dialog.getByLabel('Email address').inputValue()).toBe(guest.email)
    expect(await findings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    // What was refused is sent again.
    await heading(page, 'Opening hours').waitFor()
    // Back leads to the list, not to the form of what is saved.
    await page.goBack()
    expect(page.url()).not.toEndWith('/new')

    // The same when they sign in in another tab.
    await open(`/p/${project.id}/new-item`)
    await page.getByLabel('Name').fill('Prices')
    await page.context().clearCookies()
    await page.getByLabel('Text').fill('# Prices\n\nTen euros.')
    await page.getByLabel('Text').press('Control+Enter')
    await dialog.waitFor()
    await signInElsewhere(page, guest)
    await page.locator('header').getByRole('heading', { name: 'Prices' }).waitFor()
  })

  test('requests that are refused while another replaces the session hide no page', async () => {
    const page = await openTab(`/p/${project.id}/settings`, { isNew: true })
    await page.getByRole('link', { name: 'People' }).waitFor()
    const answers = () =>
      Promise.all(
        ['**/session', '**/people'].map(async (path) => (await page.waitForResponse(path)).status()),
      )
    const session = await page.context().cookies()
    const refused = answers()
    await page.context().clearCookies()
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await page.getByRole('link', { name: 'People' }).click()
    expect(await refused).toEqual([200, 401])
    const answered = answers()
    await page.context().addCookies(session)
    expect(await answered).toEqual([200, 200])
    await page.getByText(set.owner.email).last().click()
  })

  test('a page that was hidden before a request had replaced the session is shown again', async () => {
    const person = await set.join(project, 'member')
    const page = await openTab(`/p/${project.id}/settings/account`, { person })
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await page.getByRole('button', { name: 'Set up' }).click()
    await page.getByLabel('Your password').fill(person.password)
    const replace = async (route: Route) => {
      const response = await route.fetch()
      const session = await page.context().cookies()
      await page.context().clearCookies()
      await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
      await dialog.waitFor()
      await page.context().addCookies(session)
      await route.fulfill({ response })
    }
    await page.route('**/two-factor', replace, { times: 1 })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: /^QR code/ }).click()
  })

  test('what somebody was writing is not there for whoever signs in after them, in the dialog or another tab', async () => {
    const [writer, other] = [await set.join(project, 'member'), await set.join(project, 'member')]
    const page = await openTab(`/p/${project.id}/new-item`, { person: writer })
    const name = page.getByLabel('Name')
    await name.fill('Private draft')
    await writer.send('DELETE', '/sessions')
    await page.getByLabel('Text').fill('For my eyes only')
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Email address').fill(other.email)
    await dialog.getByLabel('Password', { exact: true }).fill(other.password)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: `Signed in as ${other.name}` }).waitFor()
    expect(await name.inputValue()).toBe('')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('Private draft')

    await name.fill('Of the other')
    await signInElsewhere(page, set.owner)
    await page.getByRole('button', { name: `Signed in as ${set.owner.name}` }).waitFor()
    expect(await name.inputValue()).toBe('')
  })

  test('an unreachable service is reported, and the request can be repeated', async () => {
    const page = await openTab(`/p/${project.id}/overview`, { isNew: true })
    await heading(page, 'Overview').waitFor()
    let isDown = true
    await page.route('**/people', (route) => (isDown ? route.abort() : route.continue()))
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByText('The people could not be loaded').waitFor()
    isDown = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(set.owner.email).last().waitFor()
  })

  test('a page whose code cannot be loaded says so, and can be tried again', async () => {
    const tab = await tabs.open({ person: set.owner, isFresh: true })
    await tab.open(`/p/${project.id}/settings/general`)
    await heading(tab.page, 'General').waitFor()
    await tab.context.setOffline(true)
    await tab.page.getByRole('link', { name: 'Playground' }).click()
    await tab.page.getByText('Callbook is not responding').first().waitFor()
    await tab.context.setOffline(false)
    await tab.page.getByRole('button', { name: 'Try again' }).click()
    await heading(tab.page, 'Playground').waitFor()
    // The browser reports the error that the page shows.
    tab.complaints.length = 0
  })

  test('a menu opens by mouse and by key, and gives the focus back', async () => {
    const page = await openTab(`/p/${project.id}/overview`)
    const button = page.getByRole('button', { name: `Signed in as ${set.owner.name}` })
    expect(await button.getAttribute('aria-expanded')).toBe('false')
    for (const open of [() => button.click(), () => button.press('Enter'), () => button.press('Space')]) {
      await open()
      await page.getByRole('menuitem', { name: 'Account' }).waitFor()
      // The menu takes the focus a moment after it has appeared.
      await page.getByRole('menu').locator(':focus').waitFor({ state: 'attached' })
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await until(() => button.evaluate((element) => element === document.activeElement))
    }
  })

  test('a menu whose code cannot be loaded says so, and opens later', async () => {
    const page = await openTab(`/p/${project.id}/overview`, { isNew: true })
    let isDown = true
    await page.route('**/assets/menus-*', (route) => (isDown ? route.abort() : route.continue()))
    const button = page.getByRole('button', { name: `Signed in as ${set.owner.name}` })
    await button.click()
    await page.getByText('This could not be loaded').waitFor()
    isDown = false
    await button.click()
    await page.getByRole('menuitem', { name: 'Account' }).waitFor()
  })

  test('a page stays when code that it loads later fails to load', async () => {
    const page = await openTab(`/p/${project.id}/overview`, { isNew: true })
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/notices-'))
    await page.route('**/assets/notices-*', (route) => route.abort(), { times: 1 })
    await failed
    await page.waitForResponse((response) => response.url().includes('/notices-'))
    await heading(page, 'Overview').waitFor()
  })

  test('an icon button has a tooltip, which says when something was copied', async () => {
    const page = await openTab(`/p/${project.id}/calls/call-1042`, { width: 1000 })
    const hint = page.getByRole('tooltip')
    await page.getByRole('link', { name: 'Knowledge' }).hover()
    await hint.getByText('Knowledge').waitFor()
    await page.getByRole('button', { name: 'Next call' }).hover()
    await hint.getByText('Next call (j)').waitFor()
    expect(await hint.count()).toBe(1)
    await page.getByText('All details').click()
    await hint.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Copy call id' }).hover()
    await hint.getByText('Copy call id').waitFor()
    await page.getByRole('button', { name: 'Copy call id' }).click()
    await hint.getByText('Copied').waitFor()
    await hint.getByText('Copy call id').waitFor()
    await page.keyboard.press('Escape')
    await hint.waitFor({ state: 'detached' })
  })

  test('nothing moves for whoever asks for less motion', async () => {
    const page = await openTab(`/p/${project.id}/calls`)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.locator('[data-call] input').first().check({ force: true })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').waitFor()
    const moving = await page.evaluate(() =>
      [...document.body.querySelectorAll('*')].flatMap((element) => {
        const { transitionDuration, animationName } = getComputedStyle(element)
        const isStill = animationName === 'none' && !/[1-9]/.test(transitionDuration)
        return isStill ? [] : [`${element.className}: ${transitionDuration} ${animationName}`]
      }),
    )
    expect(moving).toEqual([])
  })
})
