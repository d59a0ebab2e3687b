import { existsSync } from 'node:fs'

const places = [
  // Takes half as much processor time as the others. The script of this name in /usr/bin leaves the browser running when
  // it is killed.
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Path of the installed browser; null without one. */
export function findBrowser(): string | null {
  return [process.env.CHROMIUM_PATH ?? '', ...places].find((path) => path && existsSync(path)) ?? null
}
