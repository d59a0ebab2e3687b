import type { BrowserContext, Page } from 'playwright-core'
import { browserPath, openBrowser } from '../../tests/support/browser.ts'
import type { Row } from './table.ts'

/** Enough that the 95th percentile is not the slowest visit. */
const visits = 42
const coldMsMax = 700
const requestsMax = 25
const bytesMax = 280_000
const searched = 'where is the refund for my order'
const keyEveryMs = 70
const frameMsMax = 17.5
const framesShare = 0.95
const longTaskMs = 50

interface ConsolePage {
  url: string
  /** The path of the list of calls. */
  callsPage: string
  /** The cookie of a signed-in person. */
  cookie: string
}

/** How soon a browser with an empty cache shows the list and opens a call, and how smooth typing is. */
export async function benchConsolePage({ url, callsPage, cookie }: ConsolePage): Promise<Row[]> {
  const what = '  the list of 100,000 calls, cold, until a click has opened a call'
  if (browserPath === null) return [{ what, measured: 'no browser here', target: '', isMet: null }]
  const cookies = cookie.split('; ').map((text) => {
    const [name = '', ...value] = text.split('=')
    return { name, value: value.join('='), url }
  })
  const { browser, close } = await openBrowser()
  try {
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
    const times: Opening[] = []
    for (let n = 0; n < visits; n++) times.push(await inFreshProfile((page) => timeOpening(page, callsPage)))
    const traffic = await inFreshProfile((page, context) => trafficOf(page, context, callsPage))
    const frames = await inFreshProfile((page) => framesOfTyping(page, callsPage))
    // The first page load includes the start of the browser.
    return [openingRow(what, times.slice(1)), trafficRow(traffic), framesRow(frames)]
  } finally {
    await close()
  }
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
      if (document.querySelector('.cb-call .cb-turn')) times.opened ??= performance.now()
      if (times.opened === undefined) requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
  await page.goto(address, { waitUntil: 'commit' })
  await page.waitForFunction(() => 'benchTimes' in window && 'opened' in Object(window.benchTimes))
  return await page.evaluate(() => Reflect.get(window, 'benchTimes') as Opening)
}

function openingRow(what: string, times: readonly Opening[]): Row {
  const opened = percentiles(times.map((time) => time.opened))
  const shown = percentiles(times.map((time) => time.shown))
  return {
    what,
    measured: `p50 ${opened.p50.toFixed(0)}, p95 ${opened.p95.toFixed(0)} ms of ${times.length}; first row p50 ${shown.p50.toFixed(0)}, p95 ${shown.p95.toFixed(0)} ms`,
    target: `p95 ≤ ${coldMsMax} ms`,
    isMet: opened.p95 <= coldMsMax,
  }
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
  while (performance.now() - lastAt < 2_000) await page.waitForTimeout(100)
  return traffic
}

function trafficRow({ requests, fileBytes, bytes }: Traffic): Row {
  const kilobytes = (count: number) => `${(count / 1_000).toFixed(0)} kB`
  return {
    what: '  what its cold load sends',
    measured: `${requests} requests; files before the first row ${kilobytes(fileBytes)}, all with headers ${kilobytes(bytes)}`,
    target: `≤ ${requestsMax} requests, files ≤ ${kilobytes(bytesMax)}`,
    isMet: requests <= requestsMax && fileBytes <= bytesMax,
  }
}

interface Frames {
  /** Milliseconds between one frame and the next. */
  intervals: number[]
  /** Milliseconds of each task that was longer than `longTaskMs`. */
  longTasks: number[]
}

/** Types a search with real keys, and pauses as people do, so that the list updates meanwhile. */
async function framesOfTyping(page: Page, address: string): Promise<Frames> {
  await page.goto(address)
  await page.locator('[data-call]').first().waitFor()
  const field = page.getByLabel('Search words, numbers, IDs')
  await field.click()
  await page.waitForTimeout(1_000)
  await page.evaluate((leastMs) => {
    const frames: Frames = { intervals: [], longTasks: [] }
    Object.assign(window, { benchFrames: frames })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) if (duration > leastMs) frames.longTasks.push(duration)
    }).observe({ type: 'longtask' })
    let before = performance.now()
    const next = (at: number) => {
      frames.intervals.push(at - before)
      before = at
      requestAnimationFrame(next)
    }
    requestAnimationFrame((at) => {
      before = at
      requestAnimationFrame(next)
    })
  }, longTaskMs)
  for (const word of searched.split(' ')) {
    await page.keyboard.type(`${word} `, { delay: keyEveryMs })
    await page.waitForTimeout(400)
  }
  await page.waitForTimeout(500)
  return await page.evaluate(() => Reflect.get(window, 'benchFrames') as Frames)
}

function framesRow({ intervals, longTasks }: Frames): Row {
  const inTime = intervals.filter((interval) => interval <= frameMsMax).length / intervals.length
  const longest = Math.max(0, ...intervals)
  return {
    what: `  frames while ${searched.length} keys search it`,
    measured: `${(inTime * 100).toFixed(1)} % of ${intervals.length} within ${frameMsMax} ms, longest ${longest.toFixed(0)} ms; ${longTasks.length} tasks over ${longTaskMs} ms, longest ${Math.max(0, ...longTasks).toFixed(0)} ms`,
    target: `${framesShare * 100} % within ${frameMsMax} ms, or no task over ${longTaskMs} ms`,
    isMet: inTime >= framesShare || longTasks.length === 0,
  }
}

function percentiles(values: readonly number[]): { p50: number; p95: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95) }
}
