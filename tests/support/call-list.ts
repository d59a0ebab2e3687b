import type { Page } from 'playwright-core'

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
