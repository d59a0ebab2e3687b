import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { CallChange } from '../../src/calls/schemas.ts'
import { addFilter } from '../support/call-list.ts'
import { type OpenOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { makeDocx, paragraph } from '../support/files.ts'

const realCalls = fileURLToPath(new URL('../../../shared/data/calls.jsonl', import.meta.url))
const callsMax = 2_000

/** Real calls when they are beside this folder, else some of our own: the last one alone speaks of a marmalade. */
function readCalls(): { id: string; change: CallChange }[] {
  const lines = existsSync(realCalls) ? readFileSync(realCalls, 'utf8').split('\n', callsMax) : []
  const real = lines.filter(Boolean).map((line) => JSON.parse(line))
  const own = Array.from({ length: 60 }, (_, at) => ({
    id: `own-${at}`,
    status: 'completed',
    duration: 40 + at,
    evaluation: at % 3 === 0 ? 'fail' : 'success',
    isEngaged: at % 2 === 0,
    endedReason: 'customer-ended-call',
    callerNumber: `+1555729${String(1000 + at)}`,
    calledNumber: '+15550100000',
    summary: `Order ${at} was asked about.`,
    callAnalysis: { topic: 'order', nested: { number: at } },
    transcript: [
      { role: 'assistant', content: 'How can I help?' },
      { role: 'user', content: at === 59 ? 'Where is my marmalade?' : `Where is order ${at}?` },
    ],
    createdAt: new Date(Date.now() - at * 3_600_000).toISOString(),
  }))
  return [...real, ...own].map((change) => ({ id: change.id, change }))
}
const { service, set, project, tabs } = await startConsoleInBrowser()
const results = await service.services.ingest.putAll(project.projectId, readCalls())
expect(results.filter((result) => result instanceof Error)).toEqual([])

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('calls and knowledge, in a browser', () => {
  async function openTab(path: string, options: OpenOptions = {}): Promise<Page> {
    const tab = await tabs.open({ person: set.owner, ...options })
    await tab.open(`/p/${project.id}/${path}`)
    return tab.page
  }

  test('a call is found by a word of its transcript, read, and deleted for good', async () => {
    const page = await openTab('calls')
    await page.getByLabel('Search words, numbers, IDs').fill('marmalade')
    await page.locator('mark', { hasText: 'marmalade' }).first().waitFor()
    await page.waitForURL(/text=marmalade/)
    await page.locator('a[href*="/calls/own-59"]').first().click()
    await page.waitForURL(/calls\/own-59/)
    await page.getByRole('region', { name: 'Call own-59' }).waitFor()
    await page.getByRole('tab', { name: 'Analysis' }).click()
    await page.getByText('topic', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More for this call' }).click()
    await page.getByRole('menuitem', { name: 'Delete call' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Delete/ }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Where is my').first().waitFor({ state: 'detached' })
    expect((await project.fetch('/v1/calls/own-59')).status).toBe(404)
  })

  test('calls are found by what is typed under a filter, and a wrong duration is refused', async () => {
    const page = await openTab('calls?text=order')
    await addFilter(page, 'Duration')
    const form = page.getByRole('dialog', { name: 'Duration' })
    await form.getByLabel('At least, in seconds').fill('long')
    await form.getByRole('button', { name: 'Apply' }).click()
    await form.getByText('Enter a number of seconds').waitFor()
    await form.getByLabel('At least, in seconds').fill('50')
    await form.getByLabel('At most, in seconds').fill('50.5')
    await form.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('50 to 50.5 s').waitFor()
    await page.waitForURL(/minDuration=.*50.*maxDuration=.*50\.5/)
    await page.locator('a[href*="/calls/own-10"]').first().waitFor()
    await page.locator('a[href*="/calls/own-11"]').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear Duration' }).click()
  })

  test('an item of any id is edited: what changes is previewed, and the draft outlives the page', async () => {
    const filler = 'We answer the telephone every day and write down what the caller wants. '.repeat(5)
    const textOf = (hours: string) => `## Hours\n\n${hours} ${filler}\n\n## Returns\n\nAlways. ${filler}`
    await project.send('PUT', '/v1/knowledge/new', { name: 'Desk', text: textOf('Nine to five.') })
    const page = await openTab('knowledge/new?tab=edit')
    const text = page.getByRole('textbox', { name: /^Text/ })
    expect(await page.getByRole('button', { name: 'Save' }).isEnabled()).toBe(false)
    await text.fill(textOf('Ten to six.'))
    await page.getByText('1 changed · 0 added · 1 kept · 0 removed').waitFor()
    await page.reload()
    expect(await text.inputValue()).toBe(textOf('Ten to six.'))

    await project.send('PATCH', '/v1/knowledge/new', { description: 'Changed elsewhere' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This item has changed since you started editing.').waitFor()
    expect(await text.inputValue()).toBe(textOf('Ten to six.'))
    await page.getByRole('button', { name: 'replace it with your version' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved “Desk”').waitFor()
    expect((await (await project.fetch('/v1/knowledge/new')).json()).text).toBe(textOf('Ten to six.'))

    await page.getByRole('tab', { name: 'Edit' }).click()
    await text.fill('Nothing.')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    expect(await text.inputValue()).toBe(textOf('Ten to six.'))
    await page.reload()
    expect(await text.inputValue()).toBe(textOf('Ten to six.'))
    expect(await page.getByRole('button', { name: 'Save' }).isEnabled()).toBe(false)
    await project.fetch('/v1/knowledge/new', { method: 'DELETE' })
  })

  test('a Markdown file is dropped, previewed, saved, and found in the playground', async () => {
    const page = await openTab('new-item')
    await page.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.getByLabel('Name').fill('Parcels')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('textbox', { name: /^Text/ }).and(page.locator(':focus')).waitFor()
    await page.getByLabel('Name').fill('')
    const text =
      '# Lost parcels\n\nWait five days.\n\n## Compensation\n\nWe pay up to 42 euros for a lost parcel.\n'
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'parcels.md', mimeType: 'text/markdown', buffer: Buffer.from(text) })
    await page.getByRole('article', { name: 'Chunk 1' }).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Lost parcels')
    expect(await page.getByRole('textbox', { name: /^Text/ }).inputValue()).toBe(text)
    await page.getByRole('button', { name: 'Save' }).click()
    // The text below begins with a heading of the same name.
    await page.locator('header').getByRole('heading', { level: 1, name: 'Lost parcels' }).waitFor()
    await page.getByText('Ready').first().waitFor()
    await page.getByRole('tab', { name: /^Chunks/ }).click()
    await page.getByRole('article', { name: 'Chunk 1' }).waitFor()

    await page.getByRole('link', { name: 'Playground' }).click()
    await page.getByLabel('Question').fill('what do you pay for a lost parcel')
    await page.getByRole('button', { name: 'Ask' }).click()
    const first = page.getByRole('article', { name: 'Passage 1' })
    await first.getByText('42 euros').waitFor()
    await first.getByText('keyword #1').waitFor()
    await page.waitForURL(/[?&]q=what/)
    await page.reload()
    await first.getByText('42 euros').waitFor()

    await first.getByRole('link', { name: 'Lost parcels' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete item' }).click()
    await page.waitForURL(/\/knowledge$/)
    await page.goBack()
    await page.waitForURL(/\/playground/)
    const found = await project.send('POST', '/v1/knowledge/search', { query: 'lost parcel compensation' })
    expect((await found.json()).data).toEqual([])
  })

  test('many files at once each show their result', async () => {
    const page = await openTab('knowledge')
    const file = (name: string, bytes: Uint8Array | string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(bytes),
    })
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        file('a.txt', 'We open at nine.'),
        file('b.md', '# Prices\n\nA coffee is 2 euros.'),
        file('c.txt', new Uint8Array([0x63, 0xe9])),
        file('d.png', 'PNG'),
        file('e.docx', makeDocx(paragraph('We close at five.'))),
      ])
    await page.getByText('Imported 3 of 5, 2 failed').waitFor()
    await page.getByText('The file is not valid UTF-8.').waitFor()
    await page.getByText('This kind of file cannot be read.').waitFor()
    await page.getByRole('row').filter({ hasText: 'Prices' }).waitFor()

    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('pric')
    await page.waitForURL(/[?&]find=pric/)
    await page.getByText('1 item', { exact: true }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Prices' }).waitFor()
    await page.keyboard.type('zzz')
    await page.getByRole('button', { name: 'Show all items' }).click()
    await page.waitForURL(/\/knowledge$/)
    await page.getByRole('row').filter({ hasText: 'Prices' }).waitFor()
  })

  test('content of records is shown as text, also when it is HTML', async () => {
    const script = `<img src=x onerror="alert(1)"><script>alert(1)</script>`
    const other = await set.mintProject()
    const { ingest, knowledge, projects } = service.services
    await projects.rename(other.projectId, `${script.slice(0, 40)} ${other.id}`)
    await ingest.put(other.projectId, 'script', {
      status: 'completed',
      summary: script,
      evaluation: script,
      endedReason: script,
      callerNumber: script,
      calledNumber: 'javascript:alert(1)',
      callAnalysis: { [script]: { [script]: script }, __proto__: script },
      transcript: [{ role: 'user', content: script }],
      details: {
        agent: { id: script, name: script },
        recordingUrl: 'javascript:alert(1)',
        timeline: [{ atSeconds: 1, kind: 'tool_call', name: script, text: script }],
      },
    })
    const { item } = await knowledge.add(other.projectId, {
      name: script,
      description: script,
      text: `# ${script}\n\n${script}\n\n[link](javascript:alert(1)) ![image](https://evil.example/x.png)\n\n<svg onload=alert(1)>`,
    })
    const tab = await tabs.open({ person: set.owner })
    const paths = [
      'overview',
      'calls?text=alert',
      'calls/script',
      'calls/script?tab=analysis',
      'knowledge',
      `knowledge/${item.id}`,
      `knowledge/${item.id}?tab=chunks`,
      'playground?q=alert',
      'settings/audit',
    ]
    for (const path of paths) {
      await tab.follow(`/p/${other.id}/${path}`)
      await tab.page.getByRole('heading', { level: 1 }).first().waitFor()
      await tab.page.getByText('onerror', { exact: false }).first().waitFor()
      const elements = await tab.page.locator('img[src="x"], svg[onload], a[href^="javascript:"]').count()
      expect([path, elements]).toEqual([path, 0])
    }
  })
})
