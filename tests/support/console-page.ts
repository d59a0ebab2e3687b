import type { BrowserContext, Page } from 'playwright-core'
import { buildConsole } from '../../scripts/build-console.ts'
import { openBrowser, type TestBrowser } from './browser.ts'
import { startConsole, type TestConsole, type TestPerson } from './console.ts'
import { follow } from './follow.ts'
import { type StartOptions, startService, type TestProject, type TestService } from './service.ts'

/** A tab of the console, and the problems in it. */
export interface ConsolePage {
  page: Page
  context: BrowserContext
  /** Requests to other hosts, errors on the page and violations of its security policy. */
  complaints: string[]
  /** Opens a page of the console, such as `/p/prj_1/calls`. */
  open(path: string): Promise<void>
  /**
   * Follows a link to a page of the project that the tab shows, which costs a third of a load. The application keeps what
   * it knows, also answers of the last 15 s. Loads the page of another project.
   */
  follow(path: string): Promise<void>
}

export interface OpenOptions {
  /** The person who is signed in; nobody by default. */
  person?: Pick<TestPerson, 'cookie'>
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
  /** American English by default. */
  locale?: string
  timezoneId?: string
  /** In a browser that has loaded nothing yet, for a test of what it loads. */
  isFresh?: boolean
}

export interface ShowOptions extends OpenOptions {
  /** A tab of its own, for a test of what happens while the application loads, or after which others could not use it. */
  isNew?: boolean
}

export interface ConsoleInBrowser {
  service: TestService
  set: TestConsole
  /** The owner's, with one key of each kind. */
  project: TestProject
  tabs: ConsoleTabs
}

/** A service whose console is built and set up, and a browser. */
export async function startConsoleInBrowser(options?: StartOptions): Promise<ConsoleInBrowser> {
  const { service, tabs } = await startInBrowser(options)
  const set = await startConsole(service)
  return { service, set, project: await set.mintProject(), tabs }
}

/** The same before anyone has set the console up. */
export async function startInBrowser(
  options?: StartOptions,
): Promise<Pick<ConsoleInBrowser, 'service' | 'tabs'>> {
  // The service reads the built files once, when it starts.
  await buildConsole()
  const service = await startService(options)
  return { service, tabs: new ConsoleTabs(await openBrowser(), service) }
}

/** A browser context. Several people use it in turn. */
interface Visit {
  context: BrowserContext
  /** Those of all its tabs. */
  complaints: string[]
  /** The cookie of who uses it; null for nobody. */
  who: string | null
  /** Its locale and time zone; null for one that is used in one test alone. */
  place: string | null
  /** Whether nobody uses it in the test that is running. */
  isFree: boolean
  /** The tab that `show` uses. */
  shared: ConsolePage | null
  /** Those of the test that is running. */
  tabs: ConsolePage[]
  /** Those of earlier tests, with an empty page. */
  idle: ConsolePage[]
}

/**
 * The tabs of a test. A page in a new browser context costs three times as much as one in a tab that has shown one
 * before, where the browser has compiled its scripts: so tabs are used again by later tests, and by other people. What
 * they stored is cleared in between.
 */
export class ConsoleTabs {
  readonly #opened: TestBrowser
  readonly #service: TestService
  readonly #visits = new Set<Visit>()

  constructor(opened: TestBrowser, service: TestService) {
    this.#opened = opened
    this.#service = service
  }

  /** Opens an empty tab that no other test or `show` uses meanwhile. */
  async open(options: OpenOptions = {}): Promise<ConsolePage> {
    const visit = await this.#visitOf(options)
    const tab = visit.idle.pop() ?? (await openConsolePage(visit, this.#service))
    visit.tabs.push(tab)
    await look(tab.page, options)
    return tab
  }

  /** Shows a page in the tab that the person uses in this file, by a link where it can. */
  async show(path: string, { isNew = false, ...options }: ShowOptions = {}): Promise<ConsolePage> {
    if (isNew || options.isFresh) {
      const tab = await this.open(options)
      await tab.open(path)
      return tab
    }
    const visit = await this.#visitOf(options)
    visit.shared ??= visit.idle.pop() ?? (await openConsolePage(visit, this.#service))
    await look(visit.shared.page, options)
    await visit.shared.follow(path)
    return visit.shared
  }

  /** Empties the tabs but the one that `show` uses for the file's first person. Returns the problems in all. */
  async close(): Promise<string[]> {
    const problems: string[] = []
    const [first] = this.#visits
    for (const visit of this.#visits) {
      problems.push(...visit.complaints.splice(0))
      if (visit.place === null) {
        this.#visits.delete(visit)
        await visit.context.close()
      } else if (!visit.isFree) await this.#clear(visit, visit === first && visit.who !== null)
    }
    return problems
  }

  async #clear(visit: Visit, comesBack: boolean): Promise<void> {
    if (!comesBack && visit.shared) {
      visit.tabs.push(visit.shared)
      visit.shared = null
    }
    visit.isFree = !comesBack
    await visit.context.setOffline(false)
    for (const tab of visit.tabs.splice(0)) {
      const { page } = tab
      if (page.isClosed()) continue
      await page.unrouteAll()
      await page.emulateMedia({ media: null })
      await page.goto(`${this.#service.url}/health`)
      await page.evaluate(() => sessionStorage.clear())
      visit.idle.push(tab)
    }
    await visit.shared?.page.unrouteAll()
    await (visit.shared ?? visit.idle[0])?.page.evaluate(() => localStorage.clear())
    await this.#signIn(visit)
  }

  async #visitOf({ person, isFresh = false, locale, timezoneId }: OpenOptions): Promise<Visit> {
    const who = person?.cookie ?? null
    const options = { ...(locale && { locale }), ...(timezoneId && { timezoneId }) }
    const place = isFresh ? null : JSON.stringify(options)
    const there = [...this.#visits].filter((visit) => place !== null && visit.place === place)
    const own = there.find((visit) => who !== null && visit.who === who)
    const visit = own ?? there.find(({ isFree }) => isFree) ?? (await this.#begin(options, place))
    visit.isFree = false
    if (!own) {
      visit.who = who
      await this.#signIn(visit)
    }
    return visit
  }

  async #signIn({ context, who }: Visit): Promise<void> {
    await context.clearCookies()
    const cookies = (who?.split('; ') ?? []).map((pair) => {
      const at = pair.indexOf('=')
      return { name: pair.slice(0, at), value: pair.slice(at + 1), url: `${this.#service.url}/console` }
    })
    await context.addCookies(cookies)
  }

  /** A browser context that reaches no other host: a request for one is a complaint. */
  async #begin(options: Pick<OpenOptions, 'locale' | 'timezoneId'>, place: string | null): Promise<Visit> {
    const context = await this.#opened.browser.newContext({ reducedMotion: 'reduce', ...options })
    const complaints: string[] = []
    context.on('request', (request) => {
      const url = request.url()
      if (url.startsWith(`${this.#service.url}/`) || /^(data|blob):/.test(url)) return
      complaints.push(`asked for ${url}`)
    })
    const visit: Visit = {
      context,
      complaints,
      who: null,
      place,
      isFree: false,
      shared: null,
      tabs: [],
      idle: [],
    }
    this.#visits.add(visit)
    return visit
  }
}

async function look(
  page: Page,
  { width = 1440, height = 900, colorScheme = 'light' }: OpenOptions,
): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme })
}

async function openConsolePage({ context, complaints }: Visit, service: TestService): Promise<ConsolePage> {
  const page = await context.newPage()
  page.on('console', (message) => {
    // The browser reports every error answer, also those that a test expects.
    if (/^Failed to load resource/.test(message.text())) return
    if (message.type() === 'error' || /security policy/i.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'beforeunload') complaints.push(`dialog: ${dialog.message()}`)
    void dialog.accept()
  })
  const open = async (path: string) => {
    await page.goto(`${service.url}/console${path}`)
  }
  return {
    page,
    context,
    complaints,
    open,
    async follow(path) {
      const [project] = /^\/p\/[^/]+\//.exec(path) ?? []
      if (!project || !page.url().startsWith(`${service.url}/console${project}`)) return await open(path)
      // By way of an empty page, so that nothing of what is shown stays.
      await follow(page, `${project}nowhere`)
      await follow(page, path)
    },
  }
}
