import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import type { CallChange, CallRecording } from '../../src/calls/schemas.ts'
import { notKept } from '../../src/recordings/recordings.ts'
import { type ShowOptions, startConsoleInBrowser } from '../support/console-page.ts'
import { madeWav } from '../support/recordings.ts'
import { until } from '../support/until.ts'

const bytesPerSecond = 32_000
const seconds = 60
/** When each turn begins: the caller's are the odd ones. From 18 to 40 seconds nobody speaks. */
const starts = [0, 4, 9, 14, 40, 45, 50, 55]
/** The caller goes on for a second while the agent says its last turn. */
const lengths = [4, 4, 4, 4, 4, 6, 4, 4]

const call: CallChange = {
  status: 'completed',
  duration: seconds,
  callerNumber: '+15557294053',
  summary: 'Moved the booking to Friday.',
  transcript: starts.map((_, n) => ({
    role: n % 2 ? 'user' : 'assistant',
    content: n % 2 ? `Could you look again, number ${n}?` : `I have found table ${n} for you.`,
  })),
  details: {
    latencyMs: 600,
    timeline: [
      ...starts.map((atSeconds, turn) => ({ atSeconds, kind: 'turn' as const, turn })),
      { atSeconds: 22, kind: 'tool_call' as const, name: 'free_tables' },
    ],
  },
}

/** The voice of each turn, as noise on its side. */
function spokenWav(): Buffer<ArrayBuffer> {
  const wav = madeWav(44 + seconds * bytesPerSecond)
  for (let at = 0; at < seconds * 8_000; at++) {
    const time = at / 8_000
    for (const side of [0, 1]) {
      const isSpoken = starts.some(
        (start, turn) => (turn + 1) % 2 === side && start <= time && time < start + (lengths[turn] ?? 0),
      )
      const level = isSpoken ? 0.2 + 0.3 * Math.abs(Math.sin(time * 3)) : 0
      const place = 44 + at * 4 + side * 2
      wav.writeInt16LE(Math.round(wav.readInt16LE(place) * level), place)
    }
  }
  return wav
}

async function upload(id: string, body: Buffer<ArrayBuffer>): Promise<void> {
  const answer = await project.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
  expect(answer.status).toBeLessThan(300)
}

const { service, set, project, tabs } = await startConsoleInBrowser()
for (const id of ['kept', 'mono', 'no-waveform', 'waiting', 'failed', 'expired', 'unmuted'])
  await service.services.ingest.put(project.projectId, id, call)
await upload('kept', spokenWav())
const mono = madeWav(44 + 4 * bytesPerSecond)
mono.writeUInt16LE(1, 22)
await upload('mono', mono)
await service.services.peaksBacklog.idle()
const state = (id: string, recording: Partial<CallRecording>) =>
  service.services.ingest.setRecording(
    project.projectId,
    id,
    { recording: { state: 'none', ...notKept, ...recording } },
    { beside: { statements: () => [sql`select 1`] } },
  )
await state('waiting', { state: 'waiting' })
await state('failed', { state: 'failed', reason: 'The platform answered with status 403.' })
await state('expired', { state: 'expired' })
const notMuted = 'What is redacted in its call could not be made silent: one channel.'
await state('unmuted', { state: 'failed', reason: notMuted })

afterEach(async () => expect(await tabs.close()).toEqual([]))

describe('the recording of a call, in a browser', () => {
  async function openCall(path: string, options: ShowOptions = {}): Promise<Page> {
    const { page } = await tabs.show(`/p/${project.id}/calls/${path}`, { person: set.owner, ...options })
    await page.getByText('I have found table 0').waitFor()
    return page
  }

  const timeOf = (page: Page) =>
    page.locator('audio').evaluate((element) => (element as HTMLAudioElement).currentTime)
  const isPlaying = (page: Page) =>
    page.locator('audio').evaluate((element) => !(element as HTMLAudioElement).paused)
  const heardOf = (page: Page) => page.locator('li[aria-current="true"]').textContent()
  const strip = (page: Page) => page.getByRole('slider', { name: 'Position in the recording' })

  async function clickStrip(page: Page, share: number): Promise<void> {
    const { width = 0 } = (await strip(page).boundingBox()) ?? {}
    await strip(page).click({ position: { x: width * share, y: 30 } })
  }

  test('nothing is fetched before it is played; a click on the waveform plays from there', async () => {
    const page = await openCall('kept')
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/recording')) asked.push(request.url())
    })
    await page.locator('svg path[data-mark="agent"]').waitFor({ state: 'attached' })
    await page.waitForLoadState('networkidle')
    expect(asked).toEqual([])
    await clickStrip(page, 0.755)
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await until(async () => (await timeOf(page)) > 45.3)
    expect(await timeOf(page)).toBeLessThan(48)
    expect(await heardOf(page)).toContain('number 5')
    expect(asked.length).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Pause' }).click()
    await until(() => /[?&]t=4[5-8]\b/.test(page.url()))
    await page.reload()
    await until(async () => /number 5/.test((await heardOf(page)) ?? ''))
    expect(await timeOf(page)).toBeGreaterThan(44)
  })

  test('a turn plays from there, the transcript follows, and keys play, pause and move', async () => {
    const page = await openCall('kept')
    await strip(page).waitFor()
    await page.getByRole('link', { name: '0:09.0' }).click()
    await until(async () => (await timeOf(page)) > 9)
    expect(await heardOf(page)).toContain('table 2')
    await until(() => /[?&]t=\d/.test(page.url()))
    await page.getByLabel('Speed').selectOption('2')
    await page.getByText('number 3').waitFor()
    await until(async () => /number 3/.test((await heardOf(page)) ?? ''))
    await page.locator('#call').focus()
    await page.keyboard.press('p')
    await until(async () => !(await isPlaying(page)))
    const before = await timeOf(page)
    await page.keyboard.press(',')
    await until(async () => Math.abs((await timeOf(page)) - before + 5) < 0.1)
    await page.keyboard.press('.')
    await until(async () => Math.abs((await timeOf(page)) - before) < 0.1)
    await strip(page).focus()
    await page.keyboard.press('End')
    await until(async () => (await timeOf(page)) === seconds)
    await page.keyboard.press('Home')
    await page.keyboard.press('PageUp')
    await until(async () => (await timeOf(page)) === 30)
    expect(await strip(page).getAttribute('aria-valuetext')).toBe('0:30.0 of 1:00.0')
  })

  test('what was heard is drawn and said in a line, whose moments play', async () => {
    const page = await openCall('kept')
    const line = page.getByText(/^Answers after/)
    await until(async () =>
      /^Answers after (990 ms|1 s) as heard, 600 ms as reported, at most 22 s at 0:18 · dead air 22 s at 0:18 · talk-over once by the agent at 0:50 · agent spoke \d+%$/.test(
        (await line.textContent()) ?? '',
      ),
    )
    const drawn = async (mark: string) =>
      (await page.locator(`svg path[data-mark="${mark}"]`).getAttribute('d')) ?? ''
    expect((await drawn('caller-turns')).split('M').length).toBe(5)
    expect((await drawn('over-agent')).split('M').length).toBe(2)
    expect(await drawn('over-caller')).toBe('')
    // The place of the gap in columns.
    expect(await drawn('gap')).toMatch(/^M14[45]\.\d+ 32H3(19|20)\.\d+$/)
    await page.getByText('22 s', { exact: true }).waitFor()
    const moment = line.getByRole('link', { name: 'Play from 0:50' })
    expect(await moment.getAttribute('href')).toMatch(/t=4[89]/)
    await moment.click()
    await until(async () => (await timeOf(page)) > 49)
    expect(await heardOf(page)).toMatch(/number 5|table 6/)
  })

  test('a sound that cannot be measured says why', async () => {
    const page = await openCall('mono')
    await page.getByText('One channel has both voices. Record in stereo to see answer times.').waitFor()
  })

  test('silence is skipped on wish', async () => {
    const page = await openCall('kept?t=17')
    await page.getByRole('button', { name: 'Skip silence' }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await until(async () => (await timeOf(page)) > 39)
    await page.getByRole('button', { name: 'Skip silence', pressed: true }).waitFor()
  })

  test('a format without a waveform plays along the turns', async () => {
    const flac = new URL('../recordings/audio/files/stereo.flac', import.meta.url)
    await upload('no-waveform', Buffer.from(await Bun.file(flac).arrayBuffer()))
    const page = await openCall('no-waveform')
    await page.getByRole('img', { name: /^The caller speaks/ }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await until(async () => (await timeOf(page)) > 0.2)
  })

  test('a call without its recording says why', async () => {
    for (const [id, text] of [
      ['waiting', 'The recording is being fetched.'],
      ['failed', 'The recording could not be fetched. The platform answered with status 403.'],
      ['expired', 'The recording was deleted at the end of its retention.'],
      ['unmuted', `The recording is not kept. ${notMuted}`],
    ] as const) {
      const page = await openCall(id)
      await page.getByText(text).waitFor()
      expect(await page.locator('audio').count()).toBe(0)
    }
    // It would fail again.
    expect(await (await openCall('unmuted')).getByRole('button', { name: 'Try again' }).count()).toBe(0)
  })

  test('the line says where a recording is silent, and why', async () => {
    const transcript = (call.transcript ?? []).map((turn) => ({
      ...turn,
      content: `${turn.content} It is [card].`,
    }))
    await service.services.ingest.put(project.projectId, 'muted', { ...call, transcript })
    await upload('muted', spokenWav())
    await service.services.peaksBacklog.idle()
    const keptAt = new Date().toISOString()
    await state('muted', { state: 'kept', keptAt, mutedSeconds: 6.2, muted: [[41.2, 47.4]] })
    await service.services.recordings.measureAgain(project.projectId, 'muted')
    const page = await openCall('muted')
    const line = page.getByText(/^Answers after/)
    await until(async () =>
      ((await line.textContent()) ?? '').endsWith('silent for 6.2 s, where a card number was said, at 0:41'),
    )
  })

  test('a recording that could not be fetched is fetched again by a button', async () => {
    await service.services.settings.change(project.projectId, { recordings: 'keep' })
    await project.send('PUT', '/ingest/calls/private', {
      ...call,
      details: { recordingUrl: 'https://127.0.0.1/a.wav' },
    })
    const page = await openCall('private')
    await page.getByText('The address is not public, so nothing is fetched from it.').waitFor()
    const since = async () => {
      const [row] = await service.services.database.read.all<{ since: number }>(
        sql`select since from recording_fetches where project_id = ${project.projectId}`,
      )
      return row?.since ?? 0
    }
    const before = await since()
    await page.getByRole('button', { name: 'Try again' }).click()
    await until(async () => (await since()) > before)
    await page.getByText('The address is not public, so nothing is fetched from it.').waitFor()
  })

  test('a recording that is gone says so', async () => {
    const page = await openCall('kept')
    await page.route('**/recording', (route) => route.fulfill({ status: 404 }))
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByText('The recording could not be played.').waitFor()
    await page.unroute('**/recording')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await until(async () => (await timeOf(page)) > 0.2)
  })
})
