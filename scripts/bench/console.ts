import type { BrowserContext, Page } from 'playwright-core'
import { browserPath, openBrowser } from '../../tests/support/browser.ts'
import { buildConsole } from '../build-console.ts'
import { copyDataset, type Dataset, withServices } from '../dataset.ts'
import { type Row, row } from './figures.ts'
import { percentile } from './load.ts'
import { callsDataset } from './made-calls.ts'
import type { Options } from './runner.ts'

const callsCount = 100_000
/** Enough that the 95th percentile is not the slowest visit. */
const visits = 42
const coldMsMax = 700
const requestsMax = 20
const kilobytesMax = 280
/** Without a request for this long, a page is loaded. */
const quietMs = 2_000

/** How soon a browser with an empty cache shows 100,000 calls and opens one, and what that sends. */
export async function benchConsole({ texts, start }: Options): Promise<Row[]> {
  const what = `console: the list of ${callsCount.toLocaleString('en')} calls, cold, until a click has opened a call`
  if (browserPath === null) return [row(what, 'no browser here')]
  await buildConsole()
  const dataset = copyDataset(await callsDataset({ texts }, callsCount))
  const { project, cookie, url } = await signIn(dataset, start)
  const cookies = cookie.split('; ').map((text) => {
    const [name = '', ...value] = text.split('=')
    return { name, value: value.join('='), url }
  })
  const address = `${url}/console/p/${project}/calls`
  const { browser, close } = await openBrowser()
  const inFreshProfile = async <Measured>(
    measure: (page: Page, context: BrowserContext) => Promise<Measured>,
  ) => {
    const context = await browser.newContext()
    try {
      await context.addCookies(cookies)
      return await measure(await context.newPage(), context)
    } finally {
      await context.close()
    }
  }
  try {
    const times: Opening[] = []
    for (let n = 0; n < visits; n++) times.push(await inFreshProfile((page) => timeOpening(page, address)))
    const traffic = await inFreshProfile((page, context) => trafficOf(page, context, address))
    // The first page load includes the start of the browser.
    return [openingRow(what, times.slice(1)), trafficRow(traffic)]
  } finally {
    await close()
  }
}

/** Starts the service and signs in a new owner of the console. */
export async function signIn({ folder }: Dataset, start: Options['start']) {
  const token = await withServices(folder, ({ console }) => console.people.replaceSetUpLink())
  const running = await start(folder)
  return { ...running, ...(await setUpConsole(running.url, token)) }
}

/** Signs in a new owner of the console by a set-up link. */
export async function setUpConsole(url: string, token: string): Promise<{ cookie: string; project: string }> {
  const person = { name: 'Bench', email: 'bench@example.com', password: 'bench bench bench' }
  const answer = await fetch(`${url}/console/api/links/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, ...person }),
  })
  if (!answer.ok) throw new Error(`The console was not set up: ${await answer.text()}`)
  const cookies = answer.headers.getSetCookie().map((text) => text.split(';')[0])
  const { projects }: { projects: { id: string }[] } = await answer.json()
  return { cookie: cookies.join('; '), project: projects[0]?.id ?? '' }
}

/** Milliseconds since the navigation began. */
interface Opening {
  shown: number
  opened: number
}

/** The page measures and clicks by itself, so that the way to the browser and back does not count. */
async function timeOpening(page: Page, address: string): Promise<Opening> {
  await page.addInitScript(() => {
    const times: Partial<Opening> = {}
    Object.assign(window, { benchTimes: times })
    const look = () => {
      const link = document.querySelector<HTMLElement>('[data-call] a')
      if (link && times.shown === undefined) {
        times.shown = performance.now()
        link.click()
      }
      if (document.querySelector('#call li[data-index]')) times.opened ??= performance.now()
      if (times.opened === undefined) requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
  await page.goto(address, { waitUntil: 'commit' })
  await page.waitForFunction(() => 'benchTimes' in window && 'opened' in Object(window.benchTimes))
  return await page.evaluate(() => Reflect.get(window, 'benchTimes') as Opening)
}

function openingRow(what: string, times: readonly Opening[]): Row {
  const at = (name: keyof Opening, share: number) =>
    percentile(
      times.map((time) => time[name]).sort((a, b) => a - b),
      share,
    )
  const [opened, shown] = (['opened', 'shown'] as const).map(
    (name) => `p50 ${at(name, 0.5).toFixed(0)}, p95 ${at(name, 0.95).toFixed(0)} ms`,
  )
  const isMet = at('opened', 0.95) <= coldMsMax
  return row(what, `${opened} of ${times.length}; first row ${shown}`, `p95 ≤ ${coldMsMax} ms`, isMet)
}

interface Traffic {
  requests: number
  /** The size of scripts, styles and typefaces as sent, until the first row was visible. */
  fileBytes: number
  /** The size of all answers, including headers. */
  bytes: number
}

async function trafficOf(page: Page, context: BrowserContext, address: string): Promise<Traffic> {
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  /** The size of each file's headers. */
  const files = new Map<string, number>()
  const traffic: Traffic = { requests: 0, fileBytes: 0, bytes: 0 }
  let lastAt = performance.now()
  let isShown = false
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    lastAt = performance.now()
    traffic.requests++
    if (request.url.includes('/console/assets/')) files.set(requestId, 0)
  })
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (files.has(requestId)) files.set(requestId, response.encodedDataLength)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    traffic.bytes += encodedDataLength
    if (!isShown) traffic.fileBytes += encodedDataLength - (files.get(requestId) ?? encodedDataLength)
  })
  await page.goto(address)
  await page.locator('[data-call]').first().waitFor()
  isShown = true
  while (performance.now() - lastAt < quietMs) await page.waitForTimeout(100)
  return traffic
}

function trafficRow({ requests, fileBytes, bytes }: Traffic): Row {
  const [files, all] = [fileBytes, bytes].map((count) => `${(count / 1_000).toFixed(0)} kB`)
  return row(
    '  what its cold load sends',
    `${requests} requests; files before the first row ${files}, all with headers ${all}`,
    `≤ ${requestsMax} requests, files ≤ ${kilobytesMax} kB`,
    requests <= requestsMax && fileBytes <= kilobytesMax * 1_000,
  )
}
