import { afterEach, describe, expect, test } from 'bun:test'
import { findings } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'

const { set, project, tabs } = await startConsoleInBrowser({ env: { ERASE_WITHIN_MS: '500' } })
const tab = await tabs.show(`/p/${project.id}/settings/privacy`, { person: set.owner })

describe('erasing a person, in a browser', () => {
  afterEach(async () => expect(await tabs.close()).toEqual([]))

  test('a person is opened, exported, held and erased with a receipt; their number is in no address', async () => {
    const { page, open } = tab
    await project.send('PUT', '/ingest/calls/d', { callerNumber: '+49 30 123456', status: 'completed' })
    const { id } = await (
      await set.owner.send('POST', `/projects/${project.id}/callers`, { number: '+4930123456' })
    ).json()
    await open(`/p/${project.id}/callers/${id}`)
    await page.getByText('Not on hold.', { exact: false }).waitFor()
    await page.getByLabel('Reason').fill('Complaint 12')
    await page.getByRole('button', { name: 'Put on hold' }).click()
    await page.getByText('Complaint 12').waitFor()
    await page.getByText('No calls from or to this number can be erased.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Lift' }).click()
    await page.getByRole('button', { name: 'Lift hold' }).click()
    await page.getByText('Not on hold.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Erase 1 call' }).waitFor()
    const viewer = await tabs.open({ person: await set.join(project, 'viewer') })
    await viewer.open(`/p/${project.id}/callers/${id}`)
    await viewer.page.getByRole('link', { name: 'JSON lines' }).waitFor()
    expect(await viewer.page.getByText('Legal hold').count()).toBe(0)
    expect(await viewer.page.getByRole('heading', { name: 'Erase' }).count()).toBe(0)
  })

  test('a hold is set, the count says what it keeps, and the rest is erased with a receipt', async () => {
    const { page, open } = tab
    for (const id of ['a', 'b', 'c'])
      await project.send('PUT', `/ingest/calls/${id}`, { callerNumber: '+1 555 729 4053' })
    await open(`/p/${project.id}/settings/privacy`)
    await page.getByText('A call', { exact: true }).click()
    await page.getByLabel('Call ID').fill('c')
    await page.getByLabel('Reason').fill('Court order 7')
    await page.getByRole('button', { name: 'Put on hold' }).click()
    await page.getByRole('button', { name: 'Lift the hold on c' }).waitFor()

    await page.getByLabel('Phone number', { exact: true }).fill('anonymous')
    await page.getByRole('button', { name: 'Open the person' }).click()
    await page.getByText('must be a whole phone number', { exact: false }).waitFor()
    await page.getByLabel('Phone number', { exact: true }).fill('001 555 729 4053')
    await page.getByRole('button', { name: 'Open the person' }).click()
    await page.getByRole('heading', { name: '+1 555 729 4053' }).waitFor()
    await page.getByText('3 calls from or to this number', { exact: false }).waitFor()
    await page.getByRole('table', { name: 'Calls' }).getByRole('link').nth(2).waitFor()
    const erasure = page.getByRole('button', { name: 'Erase 2 calls' })
    await erasure.waitFor()
    // The address and the title are in the history of the browser.
    expect(page.url()).not.toMatch(/555|4053/)
    expect(await page.title()).toBe('Person · Callbook')
    expect(await findings(page)).toEqual([])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'JSON lines' }).click(),
    ])
    expect(download.url()).not.toMatch(/555|4053/)
    expect((await Bun.file(await download.path()).text()).trim().split('\n')).toHaveLength(3)

    // Somebody sets a hold meanwhile: what is asked for counts it.
    const hold = { callId: 'b', reason: 'Court order 8' }
    const set8 = await set.owner.send('POST', `/projects/${project.id}/holds`, hold)
    // A platform that is asked for calls may have more of the person than were ever here.
    const source = { platform: 'vapi', options: { apiKey: 'key_of_the_api' } }
    await set.owner.send('POST', `/projects/${project.id}/sources`, source)
    await erasure.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Erase 1 call?').waitFor()
    await dialog
      .getByText('Vapi may have calls of this person that were never in Callbook.', { exact: false })
      .waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    const { id } = await set8.json()
    await set.owner.fetch(`/projects/${project.id}/holds/${id}`, { method: 'DELETE' })
    await page.reload()
    await erasure.click()
    await dialog.getByRole('textbox').fill('2')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByText(/^Erased 2 calls\. The last byte was gone .* 1 call on hold not erased\.$/).waitFor()
    await page.getByText('1 call from or to this number', { exact: false }).waitFor()
    expect(await page.getByText('can be erased', { exact: false }).count()).toBe(0)

    await page.getByRole('link', { name: 'Open the receipt' }).click()
    await page.getByRole('heading', { name: 'Erasure receipt', exact: true }).waitFor()
    await page.getByText('Erased', { exact: true }).waitFor()
    expect(await page.getByRole('main').textContent()).toMatch(/Calls erased2Calls kept on hold1/)
    expect(await findings(page)).toEqual([])
    // It is filed on paper, without the console around it.
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByText('Calls erased').isVisible()).toBe(true)
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0)
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('link', { name: 'All receipts' }).click()
    await page.getByRole('table', { name: 'Erasure receipts' }).getByRole('link').waitFor()
    await page.getByRole('link', { name: 'Privacy', exact: true }).last().click()
    await page.getByRole('button', { name: 'Lift the hold on c' }).click()
    await page.getByRole('button', { name: 'Lift hold' }).click()
    await page.getByText('No calls are on hold.').waitFor()
    const list = await (await project.fetch('/v1/calls?fields=id')).json()
    expect(list.data).toEqual([{ id: 'c' }, { id: 'd' }])
  })
})
