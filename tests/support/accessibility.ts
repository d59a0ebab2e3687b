import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The axe-core rules: the default ones and the size of targets, or only those that depend on colours. */
const rules = {
  all: { rules: { 'target-size': { enabled: true } } },
  colors: { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } },
}

/** The accessibility problems that axe-core finds on a page, from these on, as `rule: element`. */
export async function findings(
  page: Page,
  least: 'moderate' | 'serious' = 'serious',
  checked: keyof typeof rules = 'all',
): Promise<string[]> {
  await page.evaluate(`window.axe ?? ${axe}`)
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules[checked] })
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical' || impact === least)
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** How far the page scrolls sideways, as a problem; none if it does not, as it should at every width. */
export async function sidewaysOverflow(page: Page): Promise<string[]> {
  const px = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  return px === 0 ? [] : [`scrolls sideways by ${px} px`]
}
