import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { excerptOf, readGuide, searchGuide } from '../../src/guide/guide.ts'
import { guidePages } from '../../src/guide/guide-pages.ts'
import { findings } from '../support/accessibility.ts'
import { browserPath, openBrowser, type TestBrowser } from '../support/browser.ts'
import { repository } from '../support/process.ts'
import { startService } from '../support/service.ts'

const folder = join(repository, 'src/guide')
const guide = readGuide(folder)

const service = await startService()

async function textOf(path: string): Promise<string> {
  const answer = await fetch(service.url + path)
  expect([path, answer.status]).toEqual([path, 200])
  return await answer.text()
}

describe('a page of the guide', () => {
  test('exists for each Markdown file, with a title and a summary', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.md'))
    expect(files.toSorted()).toEqual(guidePages.map((name) => `${name}.md`).toSorted())
    for (const { name, title, summary } of guide.pages) {
      expect([name, title.length]).toEqual([name, expect.any(Number)])
      expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)])
    }
  })

  test('lists the contents of the guide and its own sections, and asks nothing of anybody else', async () => {
    for (const { name, sections } of guide.pages) {
      const page = await textOf(`/docs/guide/${name}`)
      for (const other of guidePages) expect(page).toContain(`href="/docs/guide/${other}"`)
      for (const { level, anchor } of sections.filter((one) => one.level === 2)) {
        expect(page).toContain(`<h${level} id="${anchor}">`)
        expect(page).toContain(`<a href="#${anchor}">`)
      }
      expect(page.match(/<script[^>]*>/g)).toEqual(['<script src="/docs/face/scheme.js">'])
      expect(page).not.toMatch(/\bsrc="(?!\/docs\/)|@import|url\("(?!\/docs\/)|<link/)
    }
  })

  test('links to other pages where they are served', async () => {
    expect(await textOf('/docs/guide/deployment')).toContain('href="/docs/guide/replicas#three-modes"')
    for (const name of guidePages) expect(await textOf(`/docs/guide/${name}`)).not.toMatch(/href="[^"]*\.md/)
  })
})

describe('the search', () => {
  const best = (query: string) => {
    const [hit] = searchGuide(guide, query)
    return hit && `${hit.page.name}#${hit.section.anchor}`
  }

  test('finds a section by its heading, by words of its text, and by the name of a setting', () => {
    expect(best('back up')).toBe('operating#back-up-and-restore')
    expect(best('xylophone')).toBeUndefined()
    expect(best('KEEP_ALIVE_SECONDS')).toBe('deployment#behind-a-proxy-or-load-balancer')
    expect(best('revoke a key')).toBe('command-line#keys')
  })

  test('finds other forms of a word, the beginning of a word, and only what has all words', () => {
    expect(best('restoring backups')).toBe('operating#back-up-and-restore')
    expect(best('vap')).toBe('agents#vapi')
    expect(searchGuide(guide, 'vapi kubernetes')).toEqual([])
    expect(searchGuide(guide, ' … ')).toEqual([])
  })

  test('shows where the words occur', () => {
    const [hit] = searchGuide(guide, 'tmpdir')
    expect(hit && excerptOf(hit.section, 'tmpdir')).toMatch(/^… .*<mark>TMPDIR<\/mark>/)
  })

  test('shows results with links into the pages', async () => {
    const page = await textOf('/docs/guide?q=load+balancer')
    expect(page).toContain('href="/docs/guide/deployment#behind-a-proxy-or-load-balancer"')
    expect(page).toContain('value="load balancer"')
    expect(await textOf('/docs/guide?q=xylophone')).toContain('Nothing found')
    expect(await textOf('/docs/guide?q=')).toContain('<h1>Guide</h1>')
  })

  test('escapes markup in the query', async () => {
    const page = await textOf(`/docs/guide?q=${encodeURIComponent('"><script>alert(1)</script>&amp;')}`)
    expect(page).not.toContain('<script>')
    expect(page).toContain('&lt;script&gt;')
    expect(await textOf('/docs/guide?q=a&q=<b>')).not.toContain('<b>')
  })

  test('takes no longer for a long query', async () => {
    const answer = await fetch(`${service.url}/docs/guide?q=${'restore+'.repeat(1_500)}`)
    expect(answer.status).toBe(200)
    expect((await answer.text()).length).toBeLessThan(50_000)
  })
})

describe.skipIf(browserPath === null)('the guide, in a browser without internet', () => {
  let opened: TestBrowser
  beforeAll(async () => {
    opened = await openBrowser()
  })

  test.each(['light', 'dark'] as const)(
    'is accessible in %s, on a wide and a narrow screen',
    async (colorScheme) => {
      for (const width of [1280, 375]) {
        const context = await opened.browser.newContext({ colorScheme, viewport: { width, height: 800 } })
        const page = await context.newPage()
        const complaints: string[] = []
        page.on('console', (message) => {
          if (/security policy/i.test(message.text())) complaints.push(message.text())
        })
        for (const path of ['', '/deployment', '/security', '?q=restore']) {
          await page.goto(`${service.url}/docs/guide${path}`)
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          )
          expect([path, width, overflow]).toEqual([path, width, 0])
        }
        expect(complaints).toEqual([])
        await context.close()
      }
    },
  )

  test('has no problem that axe-core finds, in either colour scheme', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await opened.browser.newContext({ colorScheme, bypassCSP: true })
      const page = await context.newPage()
      for (const path of ['', '/deployment', '?q=restore']) {
        await page.goto(`${service.url}/docs/guide${path}`)
        expect([colorScheme, path, await findings(page)]).toEqual([colorScheme, path, []])
      }
      await context.close()
    }
  })

  test('is searched by typing and read by following a result', async () => {
    const page = await opened.browser.newPage()
    await page.goto(`${service.url}/docs/guide`)
    await page.getByRole('searchbox').fill('behind a load balancer')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Deployment › Behind a proxy' }).click()
    await page.getByRole('heading', { name: 'Behind a proxy or load balancer' }).waitFor()
    expect(page.url()).toBe(`${service.url}/docs/guide/deployment#behind-a-proxy-or-load-balancer`)
    await page.close()
  })
})
