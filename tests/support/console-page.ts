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

/** The tabs of a test, each in its own browser context. */
export class ConsoleTabs {
  readonly #opened: TestBrowser
  readonly #service: TestService
  readonly #tabs: ConsolePage[] = []
  /** Tabs that later tests use again, by who uses them and where. */
  readonly #shared = new Map<string, ConsolePage>()

  constructor(opened: TestBrowser, service: TestService) {
    this.#opened = opened
    this.#service = service
  }

  async open(options: OpenOptions = {}): Promise<ConsolePage> {
    const tab = await openConsolePage(this.#opened, this.#service, options)
    this.#tabs.push(tab)
    return tab
  }

  /** Shows a page in the tab that the person uses in this file, by a link where it can. */
  async show(path: string, { isNew = false, ...options }: ShowOptions = {}): Promise<ConsolePage> {
    if (isNew) {
      const tab = await this.open(options)
      await tab.open(path)
      return tab
    }
    const { width = 1440, height = 900, colorScheme = 'light', ...who } = options
    const key = JSON.stringify(who)
    const tab = this.#shared.get(key) ?? (await openConsolePage(this.#opened, this.#service, who))
    this.#shared.set(key, tab)
    await tab.page.setViewportSize({ width, height })
    await tab.page.emulateMedia({ colorScheme })
    await tab.follow(path)
    return tab
  }

  /** Closes the tabs but those that `show` uses again. Returns the problems in all. */
  async close(): Promise<string[]> {
    const tabs = this.#tabs.splice(0)
    for (const { context } of tabs) await context.close()
    const shared = [...this.#shared.values()]
    for (const { page } of shared) {
      await page.unrouteAll()
      await page.evaluate(() => localStorage.clear())
    }
    return [
      ...tabs.flatMap(({ complaints }) => complaints),
      ...shared.flatMap(({ complaints }) => complaints.splice(0)),
    ]
  }
}

/** Opens a new browser context. The browser reaches no other host, and a request for one is a complaint. */
async function openConsolePage(
  { browser }: TestBrowser,
  service: TestService,
  { person, width = 1440, height = 900, colorScheme = 'light', ...place }: OpenOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
    ...place,
  })
  const complaints: string[] = []
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${service.url}/`) && !/^(data|blob):/.test(url)) complaints.push(`asked for ${url}`)
  })
  if (person) {
    const url = `${service.url}/console`
    const cookies = person.cookie.split('; ').map((pair) => {
      const at = pair.indexOf('=')
      return { name: pair.slice(0, at), value: pair.slice(at + 1), url }
    })
    await context.addCookies(cookies)
  }
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
