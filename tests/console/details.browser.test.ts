import { afterEach, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { CallChange } from '../../src/calls/schemas.ts'
import { type ShowOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { madeWav } from '../support/recordings.ts'

const recordingUrl = 'https://recordings.example/call-1042.wav?sig=a%2Bb'

const call: CallChange = {
  status: 'completed',
  duration: 91.2,
  evaluation: 'success',
  endedReason: 'customer-ended-call',
  callerNumber: '+15557294053',
  calledNumber: '+15550100000',
  isEngaged: true,
  summary: 'Moved the booking from Thursday to Friday and sent a confirmation.',
  transcript: [
    { role: 'assistant', content: 'Good morning, this is the front desk. How can I help?' },
    { role: 'user', content: 'Hi, can I move my booking to Friday?' },
    { role: 'user', content: 'It is under Lovelace.' },
    { role: 'assistant', content: 'I found it: Thursday at seven, for two. On Friday seven is still free.' },
    { role: 'user', content: 'Perfect, and can you put me through to billing afterwards?' },
    { role: 'assistant', content: 'It is moved. I am transferring you now.' },
  ],
  details: {
    agent: { id: 'agent-7', name: 'Front desk' },
    direction: 'inbound',
    recordingUrl,
    costUsd: 0.1234,
    latencyMs: 640,
    timeline: [
      ...[0.4, 5.1, 8.8, 14.2, 22, 31.5].map((atSeconds, turn) => ({
        atSeconds,
        kind: 'turn' as const,
        turn,
      })),
      {
        atSeconds: 9.6,
        kind: 'tool_call',
        name: 'find_booking',
        text: '{"name":"Lovelace","day":"Thursday"}',
      },
      { atSeconds: 11, kind: 'tool_result', name: 'find_booking', text: '{"id":42,"at":"19:00","guests":2}' },
      { atSeconds: 12.3, kind: 'tool_call', name: 'free_tables', text: 'friday, seven' },
      { atSeconds: 33, kind: 'transfer', name: 'Billing' },
    ],
  },
}
const { service, set, project, tabs } = await startConsoleInBrowser()
const own = { source: 'vapi' }
const inputs = [
  { id: 'call-1042', change: call, own },
  { id: 'plain', change: { ...call, details: {} } },
  { id: 'insecure', change: { details: { recordingUrl: 'http://recordings.example/a.wav' } } },
]
for (const result of await service.services.ingest.putAll(project.projectId, inputs))
  if (result instanceof Error) throw result

describe('the details of a call, in a browser', () => {
  /** Requests elsewhere that a test makes on purpose. */
  const elsewhere = new Set<string>()
  afterEach(async () => {
    expect([...new Set(await tabs.close())]).toEqual([...elsewhere].map((url) => `asked for ${url}`))
    elsewhere.clear()
  })

  async function openCall(id: string, options: ShowOptions = {}): Promise<Page> {
    const { page } = await tabs.show(`/p/${project.id}/calls/${id}`, { person: set.owner, ...options })
    await page.getByRole('region', { name: 'Review' }).waitFor()
    return page
  }

  async function factOf(page: Page, name: string): Promise<string | null> {
    return await page.locator('#call dl > div', { hasText: name }).locator('dd').textContent()
  }

  test('tell who the agent was, the direction, the cost and the latency', async () => {
    const page = await openCall('call-1042')
    const started = page.getByText('Started', { exact: true })
    expect(await started.isVisible()).toBe(false)
    await page.getByText('All details').click()
    const names = ['Agent', 'Direction', 'Source', 'Cost', 'Latency']
    const facts = await Promise.all(names.map((name) => factOf(page, name)))
    expect(facts).toEqual(['Front desk', 'Inbound', 'Vapi', '$0.1234', '640 ms'])
    const plain = await openCall('plain')
    await plain.getByText('All details').click()
    expect(await plain.locator('dt', { hasText: /Agent|Direction|Source|Cost|Latency/ }).count()).toBe(0)
    expect(await plain.locator('audio, li[data-index]:not([data-role])').count()).toBe(0)
    expect(await plain.getByText(/^at \d/).count()).toBe(0)
  })

  test('make a test of what the agent said, which the rail and the page of tests then show', async () => {
    const page = await openCall('call-1042')
    await page.getByText('I found it: Thursday at seven').hover()
    await page.locator('#call li[data-index]', { hasText: 'I found it' }).locator('[data-test]').click()
    const dialog = page.getByRole('dialog', { name: 'Make a test' })
    await dialog.getByText('Cut after a tool’s result').waitFor()
    expect(await dialog.getByText('"at":"19:00"').count()).toBe(1)
    expect(await dialog.getByText('1 tool’s result is not kept by Vapi').count()).toBe(1)
    const make = dialog.getByRole('button', { name: 'Make test' })
    expect(await make.isDisabled()).toBe(true)
    await dialog.getByLabel('Expectation').fill('The agent offers only what the tool has found.')
    await make.click()
    const command = dialog.getByText('bun callbook case export')
    await command.waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('All details').click()
    await page.getByText('1 test', { exact: true }).click()
    await page.getByRole('link', { name: 'The agent offers only what the tool has found.' }).click()
    await page.getByRole('heading', { name: 'Tests' }).waitFor()
    const row = page.getByRole('row', { name: /The agent offers only/ })
    expect(await row.getByRole('link').getAttribute('href')).toEndWith('/calls/call-1042#turn-4')
    await page.getByRole('button', { name: 'Export' }).click()
    const file = page.getByRole('menuitem', { name: /^JSON lines/ })
    const [download] = await Promise.all([page.waitForEvent('download'), file.click()])
    expect(download.suggestedFilename()).toBe('cases.jsonl')
    await row.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('button', { name: 'Delete test' }).click()
    await page.getByText('No tests yet').waitFor()
  })

  test('put the times to the turns, and tool calls folded between them', async () => {
    const page = await openCall('call-1042')
    const lines = await page.locator('#call li[data-index]').evaluateAll((items) =>
      items.map((item) => ({
        isSteps: !item.hasAttribute('data-role'),
        at: /at (\d+:\d\d\.\d)/.exec(item.textContent)?.[1],
      })),
    )
    const spoken = (at: string) => ({ isSteps: false, at })
    expect(lines).toEqual([
      ...['0:00.4', '0:05.1', '0:08.8'].map(spoken),
      { isSteps: true, at: '0:09.6' },
      ...['0:14.2', '0:22.0', '0:31.5'].map(spoken),
      { isSteps: true, at: '0:33.0' },
    ])
    const tool = page.getByText('find_booking')
    const received = page.getByRole('region', { name: 'Received' })
    expect(await received.count()).toBe(0)
    await tool.click()
    await received.getByText('Lovelace').waitFor()
    await page.getByRole('region', { name: 'Returned' }).getByText('42').waitFor()
    await tool.click()
    await received.waitFor({ state: 'detached' })
    await page.getByText('free_tables').click()
    await received.getByText('friday, seven').waitFor()
    await page.getByText('Transferred to Billing').waitFor()

    await page.getByRole('searchbox', { name: 'Search this transcript' }).fill('transferring')
    await page.locator('mark[data-current]', { hasText: 'transferring' }).waitFor()
  })

  test('play the recording in the page, and fetch nothing of it before', async () => {
    elsewhere.add(recordingUrl)
    const page = await openCall('call-1042')
    const asked: string[] = []
    await page.route('https://recordings.example/**', async (route) => {
      asked.push(route.request().url())
      await route.fulfill({ contentType: 'audio/wav', body: madeWav() })
    })
    const audio = page.locator('audio')
    await audio.waitFor({ state: 'attached' })
    await page.waitForLoadState('networkidle')
    expect(asked).toEqual([])
    await audio.evaluate(async (element) => await (element as HTMLAudioElement).play())
    expect(asked).toEqual([recordingUrl])
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('say when the recording cannot be played, and link to one that is not https', async () => {
    elsewhere.add(recordingUrl)
    const page = await openCall('call-1042')
    await page.route('https://recordings.example/**', (route) => route.fulfill({ status: 404 }))
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByText('The recording could not be played').waitFor()
    expect(await page.getByRole('link', { name: 'Open the recording' }).getAttribute('href')).toBe(
      recordingUrl,
    )
    const insecure = await openCall('insecure')
    expect(await insecure.locator('audio').count()).toBe(0)
    await insecure.getByRole('link', { name: 'Open the recording' }).waitFor()
  })
})
