import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Browser, chromium } from 'playwright-core'
import { atEnd, freshFolder } from './at-end.ts'
import { findBrowser } from './browser-path.ts'
import { skipped } from './skipped.ts'
import { printed } from './spawned.ts'

const startWithinMs = 40_000

/** Null without a browser, and then its tests are skipped. */
export const browserPath = findBrowser() ?? skipped('there is no Chromium')

export interface TestBrowser {
  browser: Browser
  close(): Promise<void>
}

/**
 * Starts a browser that can reach this machine only. Playwright connects over a socket, since the pipes that it uses by
 * default do not work in Bun.
 */
export async function openBrowser(): Promise<TestBrowser> {
  const profile = freshFolder()
  const child = spawn(
    browserPath ?? 'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--no-first-run',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      // Tabs of one person share a process, and what it has compiled.
      '--process-per-site',
      'about:blank',
    ],
    // It ends by a signal, and then leaves what it keeps in the temporary folder.
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, TMPDIR: profile } },
  )
  let stderr = ''
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const listening = /DevTools listening on (\S+)/
  await printed(() => stderr, listening, startWithinMs)
  const browser = await chromium.connectOverCDP(listening.exec(stderr)?.[1] ?? '')
  return {
    browser,
    close: atEnd(async () => {
      const ended = once(child, 'exit')
      await browser.close()
      child.kill('SIGKILL')
      await ended
    }),
  }
}
