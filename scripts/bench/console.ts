import type { Page } from 'playwright-core'
import { closeOpened } from '../../tests/support/at-end.ts'
import { browserPath, openBrowser } from '../../tests/support/browser.ts'
import { buildConsole } from '../build-console.ts'
import { copyDataset } from '../dataset.ts'
import { type Row, row } from './figures.ts'
import { percentile } from './load.ts'
import { callsDataset } from './made-calls.ts'
import type { Options } from './runner.ts'
import { browserCookies, signIn } from './sessions.ts'

const callsCount = 100_000
/** Enough that the 95th percentile is not the slowest visit. */
const visits = 42
const coldMsMax = 700

/** How soon a browser with an empty cache shows 100,000 calls and opens one. */
export async function benchConsole({ texts, start }: Options): Promise<Row[]> {
  const what = `console: the list of ${callsCount.toLocaleString('en')} calls, cold, until a click has opened a call`
  if (browserPath === null) return [row(what, 'no browser here')]
  await buildConsole()
  const dataset = copyDataset(await callsDataset({ texts }, callsCount))
  const { project, cookie, url } = await signIn(dataset, start)
  const { browser } = await openBrowser()
  const times: Opening[] = []
  try {
    for (let n = 0; n < visits; n++) {
      const context = await browser.newContext()
      await context.addCookies(browserCookies(cookie, url))
      times.push(await timeOpening(await context.newPage(), `${url}/console/p/${project}/calls`))
      await context.close()
    }
  } finally {
    await closeOpened()
  }
  // The first visit includes the start of the browser.
  const sorted = (name: keyof Opening) =>
    times
      .slice(1)
      .map((time) => time[name])
      .sort((a, b) => a - b)
  const [opened, shown] = [sorted('opened'), sorted('shown')]
  const text = (all: number[]) =>
    `p50 ${percentile(all, 0.5).toFixed(0)}, p95 ${percentile(all, 0.95).toFixed(0)} ms`
  const measured = `${text(opened)} of ${opened.length}; first row ${text(shown)}`
  return [row(what, measured, `p95 ≤ ${coldMsMax} ms`, percentile(opened, 0.95) <= coldMsMax)]
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
