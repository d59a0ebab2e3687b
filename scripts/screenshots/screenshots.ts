import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../tests/support/browser.ts'
import { startConsole } from '../../tests/support/console.ts'
import { startService, type TestProject } from '../../tests/support/service.ts'
import { until } from '../../tests/support/until.ts'
import { buildConsole } from '../build-console.ts'
import { repository } from '../repository.ts'
import { madeCalls } from './made-calls.ts'

// `bun run screenshots` writes the README's pictures. With `--all FOLDER`: every page, in three widths and two schemes.

interface Shot {
  name: string
  /** Below `/console`, with `:project`, `:empty`, `:call` and `:item`. */
  path: string
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
  /** What a person does before the picture is taken. */
  act?: (page: Page) => Promise<unknown>
}

const ask = async (page: Page) => {
  await page.getByLabel('Question').fill('Do I get a refund without the label?')
  await page.keyboard.press('Enter')
  await page.getByText('Refunds and returns').first().waitFor()
}

const shots: Shot[] = [
  { name: 'overview', path: '/p/:project/overview' },
  { name: 'overview-dark', path: '/p/:project/overview', colorScheme: 'dark' },
  { name: 'first-steps', path: '/p/:empty/overview' },
  { name: 'calls', path: '/p/:project/calls' },
  { name: 'calls-phone', path: '/p/:project/calls', width: 375, height: 812 },
  { name: 'search', path: '/p/:project/calls?text=refund' },
  { name: 'call', path: '/p/:project/calls/:call' },
  { name: 'call-dark', path: '/p/:project/calls/:call', colorScheme: 'dark' },
  { name: 'knowledge', path: '/p/:project/knowledge' },
  { name: 'item', path: '/p/:project/knowledge/:item' },
  { name: 'playground', path: '/p/:project/playground', act: ask },
  { name: 'integrations', path: '/p/:project/settings/integrations' },
]

const pages: Shot[] = [
  ...shots.filter(({ name }) => !/-(dark|phone)$/.test(name)),
  { name: 'palette', path: '/p/:project/overview', act: (page) => page.keyboard.press('Control+k') },
  { name: 'no-calls', path: '/p/:empty/calls' },
  { name: 'new-item', path: '/p/:project/new-item' },
  ...['keys', 'keys?create=ingest', 'webhooks', 'people', 'audit', 'general', 'account'].map((page) => ({
    name: page.replace(/\W/g, '-'),
    path: `/p/:project/settings/${page}`,
  })),
  ...['sign-in', 'setup#none', 'join#none', 'reset', 'nowhere'].map((page) => ({
    name: page.replace(/#.*/, ''),
    path: `/${page}`,
  })),
]
const widths = [375, 768, 1440]

const folderOfAll = process.argv[2] === '--all' ? (process.argv[3] ?? '') : null
const only = process.argv[4]?.split(',')
const folder = folderOfAll ?? join(repository, '.github', 'screenshots')
const taken =
  folderOfAll === null
    ? shots
    : pages.flatMap((page) =>
        widths.flatMap((width) =>
          (['light', 'dark'] as const).map((colorScheme) => ({
            ...page,
            name: `${page.name}-${width}-${colorScheme}`,
            width,
            colorScheme,
          })),
        ),
      )

await buildConsole()
const service = await startService()
const people = await startConsole(service)
const project = await people.mintProject()
const empty = await people.mintProject()
const opened = await openBrowser()
try {
  await fill()
  const addresses = await addressesOf()
  mkdirSync(folder, { recursive: true })
  for (const shot of taken.filter(({ name }) => !only || only.some((word) => name.includes(word)))) {
    await take(shot, addresses)
    process.stdout.write(`${shot.name}.png\n`)
  }
} finally {
  await opened.close()
  await service.stop()
}

async function fill(): Promise<void> {
  await people.owner.send('PATCH', `/projects/${project.id}`, { name: 'Lakeside Dental' })
  await people.owner.send('PATCH', `/projects/${empty.id}`, { name: 'Harbour Clinic' })
  await people.owner.send('PATCH', '/person', { name: 'Ada Lovelace' })
  for (const { id, call } of madeCalls(Date.now())) {
    const answer = await project.send('PUT', `/ingest/calls/${id}`, call)
    if (!answer.ok) throw new Error(`${id}: ${await answer.text()}`)
  }
  await loadExamples()
  await until(async () => (await knowledge(project)).every(({ status }) => status.state === 'ready'))
}

/** As a person does, with one click. */
async function loadExamples(): Promise<void> {
  const { page, context } = await openPage({ width: 1440, height: 900, colorScheme: 'light' }, true)
  await page.goto(`${service.url}/console/p/${project.id}/knowledge`)
  await page.getByRole('button', { name: 'Load three example documents' }).click()
  await until(async () => (await knowledge(project)).length === 3)
  await context.close()
}

async function knowledge({ id }: TestProject) {
  const answer = await people.owner.fetch(`/projects/${id}/knowledge`)
  const { data }: { data: { id: string; status: { state: string } }[] } = await answer.json()
  return data
}

async function addressesOf(): Promise<Record<string, string>> {
  const failed = await people.owner.fetch(`/projects/${project.id}/calls?evaluation=success&text=Friday`)
  const { data }: { data: { id: string }[] } = await failed.json()
  const [item] = await knowledge(project)
  return { project: project.id, empty: empty.id, call: data[0]?.id ?? 'call-1000', item: item?.id ?? '' }
}

async function take(
  { name, path, width = 1440, height = 900, colorScheme = 'light', act }: Shot,
  addresses: Record<string, string>,
): Promise<void> {
  const { page, context } = await openPage({ width, height, colorScheme }, path.startsWith('/p/'))
  const url = `${service.url}/console`
  await page.goto(url + path.replace(/:(\w+)/g, (_, word: string) => addresses[word] ?? word))
  await page.getByRole('heading').first().waitFor()
  await page.waitForLoadState('networkidle')
  await act?.(page)
  await page.waitForLoadState('networkidle')
  // Two frames: charts draw themselves after they are measured.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
}

async function openPage(
  { width, height, colorScheme }: Required<Pick<Shot, 'width' | 'height' | 'colorScheme'>>,
  isSignedIn: boolean,
) {
  const context = await opened.browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  const cookies = people.owner.cookie.split('; ').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return { name, value: value.join('='), url: `${service.url}/console` }
  })
  if (isSignedIn) await context.addCookies(cookies)
  return { context, page: await context.newPage() }
}
