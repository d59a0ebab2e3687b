import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { findings } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'
import { accept, receiverEnv, startReceiver, verify } from '../support/receiver.ts'
import { until } from '../support/until.ts'

let aheadMs = 0
const receiver = await startReceiver()
const now = () => Date.now() + aheadMs
const { service, set, project, tabs } = await startConsoleInBrowser({ env: receiverEnv, now })
const tab = await tabs.show(`/p/${project.id}/settings/webhooks`, { person: set.owner })

describe('webhooks, in a browser', () => {
  afterEach(() => expect(tab.complaints).toEqual([]))

  const put = (id: string, change: object) => project.send('PUT', `/ingest/calls/${id}`, change)

  test('a new webhook shows its secret once, and its deliveries', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/webhooks`)
    await page.getByRole('button', { name: 'Create webhook' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('http://10.0.0.1/')
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await dialog.getByText(/must start with https/).waitFor()
    await dialog.getByLabel('URL').fill(receiver.url)
    await dialog.getByRole('button', { name: 'Clear all' }).click()
    await dialog.getByText('call.completed', { exact: true }).click()
    await dialog.getByText('call.changed', { exact: true }).click()
    await dialog.getByText('call.deleted', { exact: true }).click()
    await dialog.getByLabel('Send calls with their details').click()
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(secret)
    await put('a', { status: 'completed' })
    await until(() => receiver.received.length === 1)
    const [event] = receiver.received
    if (event) verify(secret, event)
    expect(event?.data.call).toMatchObject({ id: 'a', details: { timeline: [] } })
    await page.getByRole('row').filter({ hasText: receiver.url }).click()
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByRole('cell', { name: 'call.completed', exact: true }).waitFor()
    await deliveries.getByText('204').waitFor()
    expect(new URL(page.url()).pathname).toMatch(/\/webhooks\/wh_/)
    await page.getByLabel('Send again after change').fill('0')
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('1 record will be sent again.').waitFor()
    await until(() => receiver.received.length === 2)
  })

  test('a failed delivery shows the answer and what would be sent now, and is sent again', async () => {
    const { page } = tab
    receiver.answer = (_, response) => void response.writeHead(422).end('no field "amount"')
    await put('refused', { status: 'completed', summary: 'Refused at first' })
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByText('422').first().waitFor()
    await page.getByText('Failed', { exact: true }).click()
    await deliveries.getByText('204').first().waitFor({ state: 'detached' })
    await deliveries.getByText('422').first().click()
    await page.getByText('no field "amount"').waitFor()
    await page.getByText('Refused at first').waitFor()
    await page.getByText('Next try', { exact: false }).waitFor()
    expect(await findings(page)).toEqual([])
    // The address has it, so it is open again after a reload.
    await page.reload()
    await page.getByText('no field "amount"').waitFor()
    receiver.answer = accept
    const sent = receiver.received.length
    await page.getByRole('button', { name: 'Resend this one' }).click()
    await until(() => receiver.received.length === sent + 1)
    expect(receiver.received.at(-1)?.data.id).toBe('refused')
    await page.getByText('Next try', { exact: false }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Open the call' }).waitFor()
  })

  test('a delivery opens by key and closes with Escape, and its row has the focus again', async () => {
    const { page } = tab
    const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tr[data-row]')
    const close = page.getByRole('button', { name: 'Close the delivery' })
    await close.click()
    await page.locator('tr[data-row]:focus').waitFor()
    await rows.first().focus()
    await page.keyboard.press('Enter')
    await close.focus()
    await page.keyboard.press('Escape')
    await close.waitFor({ state: 'detached' })
    expect(await rows.first().evaluate((row) => row === document.activeElement)).toBe(true)
    // The same message has two attempts. The older one opens where it is, below its row.
    await page.setViewportSize({ width: 375, height: 740 })
    await page.getByText('All', { exact: true }).click()
    const older = rows.filter({ hasText: '422' }).first()
    await older.click()
    await close.waitFor()
    expect(await older.locator('xpath=following-sibling::tr[1]').getAttribute('data-below')).toBe('true')
    expect(await older.getAttribute('aria-current')).toBe('true')
    expect(await findings(page)).toEqual([])
    await older.click()
    await close.waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1440, height: 900 })
    // One that the list does not have opens by its address.
    await rows.filter({ hasText: '204' }).last().click()
    await close.waitFor()
    const message = new URL(page.url()).searchParams.get('message')
    await page.goto(new URL(`?show=failed&message=${message}`, page.url()).href)
    await close.waitFor()
    expect(await page.locator('tr[aria-current]').count()).toBe(0)
    await close.click()
    await page.getByText('All', { exact: true }).click()
  })

  test('a test is sent and shown with its answer', async () => {
    const { page } = tab
    const sent = receiver.received.length
    receiver.answer = (_, response) => void response.writeHead(404).end('no such call')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('menuitem', { name: 'call.completed' }).click()
    await page.getByText('no such call').waitFor()
    expect(receiver.received.slice(sent)).toMatchObject([{ type: 'call.completed', test: true }])
    await page
      .getByRole('table', { name: 'Deliveries' })
      .getByText(/^Test · call.completed/)
      .waitFor()
    expect(await page.getByRole('button', { name: 'Resend this one' }).count()).toBe(0)
    receiver.answer = accept
    await page.getByRole('link', { name: 'All webhooks' }).click()
  })

  test('one that is switched off says why, and is switched on with what it missed', async () => {
    const { page, follow: open } = tab
    receiver.answer = (_, response) => void response.writeHead(500).end()
    const before = receiver.received.length
    await put('b', { status: 'completed' })
    await until(() => receiver.received.length > before)
    await page.reload()
    await page.getByText('1 failure').waitFor()
    // The next try, as if it had failed for five days: a session would not last that long.
    await service.services.database.write.run(sql`update webhooks set failing_since = 0`)
    aheadMs = 5_000
    await page.getByText('Disabled', { exact: true }).waitFor()
    await page.getByText('Every attempt has failed for five days.').waitFor()
    expect(await findings(page)).toEqual([])
    const sent = receiver.received.length
    receiver.answer = accept
    await page.getByRole('button', { name: 'Enable and send missed events' }).click()
    await until(() => receiver.received.length === sent + 1)
    await page.getByText('Disabled', { exact: true }).waitFor({ state: 'detached' })
    await open(`/p/${project.id}/settings/audit`)
    await page.getByText('Webhook enabled').first().waitFor()
  })

  test('a secret is rotated and a webhook removed from its menu', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/webhooks`)
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByText('No webhooks yet').waitFor()
  })
})
