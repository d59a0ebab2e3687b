import type { Locator, Page } from 'playwright-core'

/** Opens a filter of calls that is not set yet. */
export async function addFilter(page: Page, name: string): Promise<void> {
  await page.getByRole('search').getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

/** Opens the menu of the list: chart, alert, export, order and columns. */
export async function openListMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More', exact: true }).click()
}

/** Saves the filters of the list as a view. */
export async function saveView(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Save as view' }).click()
  await page.getByLabel('Save these filters as').fill(name)
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByText('Saved the view').waitFor()
}

export function rowOf(page: Page, id: string): Locator {
  return page.locator(`[data-call="${id}"]`)
}

/** Where an element is. @throws if it is not shown */
export async function boxOf(element: Locator) {
  const box = await element.boundingBox()
  if (!box) throw new Error('It is not shown')
  return box
}
