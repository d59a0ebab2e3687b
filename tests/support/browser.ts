import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { skipped } from './skipped.ts'
import { printed } from './spawned.ts'

const places = [
  // Takes half as much processor time as the others. The script of this name in /usr/bin leaves the browser running when
  // it is killed.
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const startWithinMs = 40_000

/** Path of the installed browser; null without one. */
export const browserPath =
  [process.env.CHROMIUM_PATH ?? '', ...places].find((path) => path && existsSync(path)) ?? null

/** Whether a browser is installed. Without one the tests of the file that asks are skipped. */
export function hasBrowser(): boolean {
  if (browserPath === null) skipped('there is no Chromium')
  return browserPath !== null
}

export interface TestBrowser {
  browser: Browser
  close(): Promise<void>
}

/**
 * Starts a browser that can reach this machine only. Playwright connects over a socket, since the pipes that it uses by
 * default do not work in Bun.
 */
export async function openBrowser(): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'callbook-browser-'))
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
    async close() {
      const ended = once(child, 'exit')
      await browser.close()
      child.kill('SIGKILL')
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
