import type { Page } from 'playwright-core'
import { until } from './until.ts'

const quietMs = 150

/** Opens a page as a link in the console does: what is loaded and compiled stays. Waits until its requests are answered. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  const pending = new Set<unknown>()
  let quietSince = performance.now()
  const begun = (request: { url(): string }) => {
    if (!request.url().endsWith('/changes')) pending.add(request)
  }
  const ended = (request: unknown) => {
    pending.delete(request)
    quietSince = performance.now()
  }
  page.on('request', begun).on('requestfinished', ended).on('requestfailed', ended)
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await until(() => pending.size === 0 && performance.now() - quietSince > quietMs)
  page.off('request', begun).off('requestfinished', ended).off('requestfailed', ended)
}
