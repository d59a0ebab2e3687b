import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { fillConsole } from '../../scripts/screenshots/filled-console.ts'
import { startMadeModel } from '../../scripts/screenshots/made-model.ts'
import { type ConsoleState, consoleStates } from '../../scripts/screenshots/states.ts'
import { findings, findingsInOverlays, keepsOwnColors, sidewaysOverflow } from '../support/accessibility.ts'
import { startConsole, type TestPerson } from '../support/console.ts'
import { type ConsolePage, startInBrowser } from '../support/console-page.ts'
import { follow } from '../support/follow.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(180_000)
const wide = { width: 1440, height: 900 }
const narrow = { width: 375, height: 812 }

const model = await startMadeModel()
const { service, tabs } = await startInBrowser({ env: model.env })
const filled = await fillConsole(service, await startConsole(service), 15)

describe('every page, dialog and menu is accessible', () => {
  const opened = new Map<TestPerson | undefined, ConsolePage>()

  async function check(state: ConsoleState): Promise<void> {
    const person = state.as === 'viewer' ? filled.viewer : filled.owner
    const isSignedIn = state.path.startsWith('/p/')
    const { page, open } = await tabOf(isSignedIn ? person : undefined)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ ...wide, ...(state.width && { width: state.width }) })
    const scheme = (name: string) => page.locator(`html[data-mantine-color-scheme="${name}"]`).waitFor()
    await state.before?.(page)
    const path = state.path.replace(/:(\w+)/g, (_, word: string) => filled.addresses[word] ?? word)
    if (isSignedIn && page.url().includes('/console/p/')) await follow(page, path)
    else await open(path)
    await page.getByRole('heading').first().waitFor()
    await state.act?.(page)
    await page.waitForLoadState('networkidle')
    const found: Record<string, string[]> = {}
    // What is behind a dialog or a menu is a state of its own.
    const inOverlays = await findingsInOverlays(page, 'moderate', 'all')
    found.dark = inOverlays ?? (await findings(page, 'moderate'))
    if (inOverlays === null) {
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' })
      await scheme('light')
      await settled(page)
      // The others are those of the system.
      if (await keepsOwnColors(page)) found['forced colours'] = await findings(page, 'moderate', 'colors')
    }
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
    await scheme('light')
    if (state.width === undefined) await page.setViewportSize(narrow)
    await settled(page)
    const again =
      (await findingsInOverlays(page, 'moderate', 'look')) ?? (await findings(page, 'moderate', 'look'))
    found.light = [...again, ...(await sidewaysOverflow(page))]
    await page.unrouteAll()
    await page.evaluate(() => localStorage.clear())
    const nothing = Object.fromEntries(Object.keys(found).map((look) => [look, []]))
    expect({ state: state.name, ...found }).toEqual({ state: state.name, ...nothing })
  }

  /** One tab each, since a new one would load and compile every script again. */
  async function tabOf(person: TestPerson | undefined): Promise<ConsolePage> {
    const tab = opened.get(person) ?? (await tabs.open(person ? { person } : {}))
    opened.set(person, tab)
    return tab
  }

  /** Colors change in a moment, not at once. */
  async function settled(page: Page): Promise<void> {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    const isMoving = 'document.getAnimations().some(({ playState }) => playState === "running")'
    await until(async () => !(await page.evaluate<boolean>(isMoving)))
  }

  const checked = consoleStates.filter(({ repeats }) => !repeats)
  test.each(checked.map((state) => [state.name, state] as const))('%s', (_, state) => check(state))
})
