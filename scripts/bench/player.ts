import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { receive } from '../../src/recordings/arrival.ts'
import { AudioThreads } from '../../src/recordings/audio/audio-threads.ts'
import { FolderFiles } from '../../src/recordings/folder-files.ts'
import { Turns } from '../../src/threads/turns.ts'
import { browserPath, openBrowser } from '../../tests/support/browser.ts'
import { buildConsole } from '../build-console.ts'
import { makeDataset } from '../dataset.ts'
import { temporaryFolder } from '../temporary.ts'
import { signIn } from './console.ts'
import { atMost, type Row, row } from './figures.ts'
import { median, percentile } from './load.ts'
import type { Options } from './runner.ts'

const seconds = 3_600
const turnSeconds = 30
const times = 21
const firstSoundMsMax = 150
const seekMsMax = 100
const memoryMbMax = 100
const megabyte = 1_000_000
const sampleEveryMs = 10
/** Two voices in turn, of noise. */
const voices =
  'aevalsrc=random(0)*gt(sin(t/3)\\,0)*(0.2+0.3*abs(sin(5*t)))|random(1)*lt(sin(t/3)\\,0)*(0.2+0.3*abs(sin(4*t)))'
const formats = [
  { name: 'WAV at 8 kHz', file: 'long.wav', secondsMax: 1, options: ['-ar', '8000'] },
  { name: 'MP3', file: 'long.mp3', secondsMax: 10, options: ['-ar', '44100', '-b:a', '64k'] },
  { name: 'Ogg/Opus', file: 'long.ogg', secondsMax: 15, options: ['-c:a', 'libopus', '-b:a', '32k'] },
]

/** How soon a recording of an hour is heard in the console, and what its waveform costs. */
export async function benchPlayer(options: Options): Promise<Row[]> {
  const folder = temporaryFolder('run')
  const made = formats.map(({ name, file, secondsMax, options: encoding }) => {
    const path = join(folder, file)
    const source = ['-f', 'lavfi', '-i', `${voices}:s=8000:d=${seconds}`]
    const { status } = spawnSync('ffmpeg', ['-loglevel', 'error', ...source, ...encoding, path])
    return { name, path, secondsMax, isMade: status === 0 }
  })
  if (made.some(({ isMade }) => !isMade)) return [row('player', 'no ffmpeg here')]
  const rows: Row[] = []
  for (const each of made) rows.push(...(await peaksRows(each, folder)))
  if (browserPath === null) return [...rows, row('player: first sound', 'no browser here')]
  for (const each of made) rows.push(...(await soundRows(each, options)))
  return rows
}

interface Made {
  name: string
  path: string
  secondsMax: number
}

async function peaksRows({ name, path, secondsMax }: Made, folder: string): Promise<Row[]> {
  const parts = (async function* () {
    yield new Uint8Array(readFileSync(path))
  })()
  const files = new FolderFiles(join(folder, 'recordings'))
  const { draft, ...arrived } = await receive(parts, {
    files,
    bytesMax: Number.POSITIVE_INFINITY,
    turns: new Turns(),
  })
  const audio = new AudioThreads()
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, sampleEveryMs)
  const startedAt = performance.now()
  const { peaks } = await audio.peaks(1, { ...arrived, path: draft.path })
  const tookSeconds = (performance.now() - startedAt) / 1_000
  clearInterval(timer)
  await audio.close()
  return [
    atMost(`waveform of 60 minutes, ${name}`, tookSeconds, secondsMax, 's', `, ${peaks.byteLength} bytes`),
    atMost(`memory for it, ${name}`, (most - before) / megabyte, memoryMbMax, 'MB'),
  ]
}

async function soundRows({ name, path }: Made, { start }: Options): Promise<Row[]> {
  await buildConsole()
  const dataset = await makeDataset({ fill: async () => undefined })
  const { url, cookie, project } = await signIn(dataset, start)
  const headers = { authorization: `Bearer ${dataset.ingestKey}`, 'content-type': 'application/json' }
  const turns = Array.from({ length: seconds / turnSeconds }, (_, turn) => turn)
  const call = {
    status: 'completed',
    transcript: turns.map((turn) => ({ role: turn % 2 ? 'user' : 'assistant', content: `Turn ${turn}` })),
    details: {
      timeline: turns.map((turn) => ({ kind: 'turn', turn, atSeconds: turn * turnSeconds })),
    },
  }
  await fetch(`${url}/ingest/calls/long`, { method: 'PUT', headers, body: JSON.stringify(call) })
  await fetch(`${url}/ingest/calls/long/recording`, { method: 'PUT', headers, body: Bun.file(path) })
  const { browser, close } = await openBrowser()
  const first: number[] = []
  const seeks: number[] = []
  try {
    for (let n = 0; n < times; n++) {
      const context = await browser.newContext()
      const [pair = ''] = cookie.split('; ')
      const at = pair.indexOf('=')
      await context.addCookies([{ name: pair.slice(0, at), value: pair.slice(at + 1), url }])
      const page = await context.newPage()
      await page.goto(`${url}/console/p/${project}/calls/long`)
      await page.getByRole('slider').waitFor()
      await page.waitForLoadState('networkidle')
      // A browser plays nothing before a person has clicked.
      await page.getByRole('heading', { level: 2 }).click()
      first.push(await playedAfter(page, 7 + 4 * n))
      seeks.push(await playedAfter(page, turns.length - 8 - 4 * n))
      await context.close()
    }
  } finally {
    await close()
  }
  return [
    timesRow(`first sound after a click, 60 minutes, ${name}: p95`, first, firstSoundMsMax),
    timesRow(`a seek, 60 minutes, ${name}: p95`, seeks, seekMsMax),
  ]
}

function timesRow(what: string, all: readonly number[], msMax: number): Row {
  const sorted = all.toSorted((a, b) => a - b)
  return atMost(what, percentile(sorted, 0.95), msMax, 'ms', `, median ${Math.round(median(all))} ms`)
}

/** Clicks a turn, and returns the milliseconds until it is heard. The page measures by itself. */
async function playedAfter(page: Page, turn: number): Promise<number> {
  return await page.evaluate(
    async ({ turn, at }) => {
      const audio = document.querySelector('audio')
      const link = document.querySelector<HTMLElement>(`a[href="#turn-${turn}"]`)
      const startedAt = performance.now()
      link?.click()
      const isHeard = () => audio && !audio.seeking && !audio.paused && audio.currentTime > at + 0.001
      while (!isHeard() || Math.abs((audio?.currentTime ?? 0) - at) > 5)
        await new Promise((resolve) => setTimeout(resolve, 1))
      return performance.now() - startedAt
    },
    { turn, at: turn * turnSeconds },
  )
}
