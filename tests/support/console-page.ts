import type { BrowserContext, Page } from 'playwright-core'
import { buildConsole } from '../../scripts/build-console.ts'
import type { TestBrowser } from './browser.ts'
import type { TestPerson } from './console.ts'
import type { TestService } from './service.ts'

/** A tab of the console, and whatever went wrong in it. */
export interface ConsolePage {
  page: Page
  context: BrowserContext
  /** Requests to anywhere else, errors on the page and breaches of its security policy. */
  complaints: string[]
  /** Leads to a page of the console, such as `/p/prj_1/calls`. */
  open(path: string): Promise<void>
}

export interface OpenOptions {
  /** Whose cookie the browser has; nobody's without. */
  person?: Pick<TestPerson, 'cookie'>
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
}

/** To be called before the service starts: it reads what was built once. */
export async function buildPage(): Promise<void> {
  await buildConsole()
}

/** A browser of somebody's own, at this service and nowhere else. */
export async function openConsolePage(
  { browser }: TestBrowser,
  service: TestService,
  { person, width = 1440, height = 900, colorScheme = 'light' }: OpenOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
  })
  const complaints: string[] = []
  await context.route('**/*', async (route) => {
    if (route.request().url().startsWith(`${service.url}/`) || /^(data|blob):/.test(route.request().url()))
      return route.continue()
    complaints.push(`asked for ${route.request().url()}`)
    return route.abort()
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
    // A browser notes each answer that is an error, which a test may well ask for.
    if (/^Failed to load resource/.test(message.text())) return
    if (message.type() === 'error' || /security policy/i.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'beforeunload') complaints.push(`dialog: ${dialog.message()}`)
    void dialog.accept()
  })
  return {
    page,
    context,
    complaints,
    open: async (path) => {
      await page.goto(`${service.url}/console${path}`)
    },
  }
}

/** The tabs of a test, each in a browser of its own. */
export class ConsoleTabs {
  readonly #opened: TestBrowser
  readonly #service: TestService
  readonly #tabs: ConsolePage[] = []

  constructor(opened: TestBrowser, service: TestService) {
    this.#opened = opened
    this.#service = service
  }

  async open(options: OpenOptions = {}): Promise<ConsolePage> {
    const tab = await openConsolePage(this.#opened, this.#service, options)
    this.#tabs.push(tab)
    return tab
  }

  /** Gives what went wrong in them. */
  async close(): Promise<string[]> {
    const tabs = this.#tabs.splice(0)
    for (const { context } of tabs) await context.close()
    return tabs.flatMap(({ complaints }) => complaints)
  }
}
