import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { closeOpened } from '../../tests/support/at-end.ts'
import { openBrowser } from '../../tests/support/browser.ts'
import { startConsole } from '../../tests/support/console.ts'
import { startService } from '../../tests/support/service.ts'
import { buildConsole } from '../build-console.ts'
import { repository } from '../repository.ts'
import { fillConsole } from './filled-console.ts'
import { startMadeModel } from './made-model.ts'
import { type ConsoleState, consoleStates } from './states.ts'

// `bun run screenshots` writes the README's pictures. `bun run screenshots --all FOLDER [NAME,…]` writes every page and
// state, or those with these names, in three widths and two colour schemes, in forced colours and on a small laptop.

interface Look {
  width: number
  height: number
  colorScheme: 'light' | 'dark'
  forcedColors?: 'active'
}

const desktop: Look = { width: 1440, height: 900, colorScheme: 'light' }
const phone: Look = { width: 375, height: 812, colorScheme: 'light' }

/** The README's pictures: which state, and how it looks. */
const pictures: Record<string, Look> = {
  overview: desktop,
  'overview-dark': { ...desktop, colorScheme: 'dark' },
  'first-steps': desktop,
  calls: desktop,
  'calls-phone': phone,
  search: desktop,
  call: desktop,
  'call-dark': { ...desktop, colorScheme: 'dark' },
  knowledge: desktop,
  item: desktop,
  playground: desktop,
  integrations: desktop,
}

/** The widest first: a person comes to the other widths with the state of the page. */
const everyLook: Record<string, Look> = Object.fromEntries([
  ...[desktop, { ...desktop, width: 768 }, phone].flatMap((look) =>
    (['light', 'dark'] as const).map((colorScheme) => [
      `${look.width}-${colorScheme}`,
      { ...look, colorScheme },
    ]),
  ),
  ['1440-forced', { ...desktop, forcedColors: 'active' }],
  ['1280-light', { ...desktop, width: 1280, height: 800 }],
])

const folderOfAll = process.argv[2] === '--all' ? (process.argv[3] ?? '') : null
const only = process.argv[4]?.split(',')
const folder = folderOfAll ?? join(repository, '.github', 'screenshots')

await buildConsole()
const model = await startMadeModel()
const service = await startService({ env: model.env })
const { owner, viewer, addresses } = await fillConsole(service, await startConsole(service))
const opened = await openBrowser()
mkdirSync(folder, { recursive: true })
try {
  if (folderOfAll === null) {
    for (const [name, look] of Object.entries(pictures)) {
      const state = consoleStates.find((one) => one.name === name.replace(/-(dark|phone)$/, ''))
      if (state) await takeAll(state, { [name]: look })
    }
  } else {
    for (const state of consoleStates.filter(({ name }) => !only || only.includes(name))) {
      const looks = Object.entries(everyLook).filter(([, { width }]) => width === (state.width ?? width))
      const named = looks.map(([look, how]) => [`${state.name}-${look}`, how])
      await takeAll(state, Object.fromEntries(named)).catch((error) => console.error(state.name, error))
    }
  }
} finally {
  await closeOpened()
}
// The connection to the browser may keep the process.
process.exit()

async function takeAll(state: ConsoleState, looks: Record<string, Look>): Promise<void> {
  const [first = desktop] = Object.values(looks)
  const context = await opened.browser.newContext({
    viewport: { width: first.width, height: first.height },
    colorScheme: first.colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const person = state.as === 'viewer' ? viewer : owner
  const cookies = person.cookie.split('; ').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return { name, value: value.join('='), url: `${service.url}/console` }
  })
  if (state.path.startsWith('/p/')) await context.addCookies(cookies)
  await state.before?.(page)
  const path = state.path.replace(/:(\w+)/g, (_, word: string) => addresses[word] ?? word)
  await page.goto(`${service.url}/console${path}`)
  await page.getByRole('heading').first().waitFor()
  await page.waitForLoadState('networkidle')
  await state.act?.(page)
  await page.waitForLoadState('networkidle')
  for (const [name, { width, height, ...media }] of Object.entries(looks)) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ forcedColors: 'none', ...media })
    // Two frames: charts draw themselves after they are measured. Then wait until no colour changes.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running'))
    const isOver = (await page.getByRole('dialog').count()) > 0
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: folderOfAll !== null && !isOver })
    process.stdout.write(`${name}.png\n`)
  }
  await context.close()
}
