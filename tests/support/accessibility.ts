import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const ofColors = ['color-contrast', 'link-in-text-block']
/** What a narrow window changes: sizes, and what it hides of names. */
const ofWidth = ['target-size', 'scrollable-region-focusable', 'button-name', 'link-name', 'label']
const only = (...values: string[]) => ({ runOnly: { type: 'rule', values } })

/** The axe-core rules: the default ones and the size of targets, or those that depend on something. */
const rules = {
  all: { rules: { 'target-size': { enabled: true } } },
  colors: only(...ofColors),
  look: only(...ofColors, ...ofWidth),
}

/** Dialogs and menus: the page behind them cannot be reached. */
const overlays = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'

/** The accessibility problems that axe-core finds on a page, from these on, as `rule: element`. */
export async function findings(
  page: Page,
  least: 'moderate' | 'serious' = 'serious',
  checked: keyof typeof rules = 'all',
): Promise<string[]> {
  return await findingsIn(page, 'document', least, checked)
}

/** The same of the dialogs and menus that are open; null when none is. */
export async function findingsInOverlays(
  page: Page,
  least: 'moderate' | 'serious',
  checked: keyof typeof rules,
): Promise<string[] | null> {
  const include = JSON.stringify({ include: [[overlays]] })
  return (await page.locator(overlays).count()) === 0 ? null : await findingsIn(page, include, least, checked)
}

/** Whether something on the page keeps its own colours where the system forces others. */
export async function keepsOwnColors(page: Page): Promise<boolean> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('#root *')].some(
      (element) => getComputedStyle(element).forcedColorAdjust === 'none' && element.checkVisibility(),
    ),
  )
}

async function findingsIn(
  page: Page,
  context: string,
  least: 'moderate' | 'serious',
  checked: keyof typeof rules,
): Promise<string[]> {
  // What a script results in is sent here, which takes long for an object as large as axe.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`${axe}; undefined`)
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules[checked] })
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${context}, ${options})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical' || impact === least)
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** How far the page scrolls sideways, and which elements begin left of it, where nobody can scroll. */
export async function sidewaysOverflow(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const scrolls = scrollWidth > clientWidth ? [`scrolls sideways by ${scrollWidth - clientWidth} px`] : []
    const cut = [...document.querySelectorAll('pre, p, h1, h2, h3, button, input, table')].filter(
      (element) => {
        const { left, right } = element.getBoundingClientRect()
        return left < -1 && right > 0 && element.checkVisibility()
      },
    )
    return [...scrolls, ...cut.map(({ outerHTML }) => `begins left of the page: ${outerHTML.slice(0, 200)}`)]
  })
}
