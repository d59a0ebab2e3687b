import { beforeAll, describe, expect, test } from 'bun:test'
import { DEFAULT_THEME } from '@mantine/core'
import type { Page } from 'playwright-core'
import { buildConsole } from '../scripts/build-console.ts'
import { cssVariables } from '../src/console/ui/theme.ts'
import { readFaceStyles } from '../src/face/face.ts'
import { browserPath, openBrowser, type TestBrowser } from './support/browser.ts'
import { startService } from './support/service.ts'

await buildConsole()
const service = await startService()

describe('the documentation, read as files', () => {
  test('/ leads to /docs, which loads its script from the service itself', async () => {
    const answer = await fetch(`${service.url}/`)
    expect(answer.url).toBe(`${service.url}/docs`)
    const page = await answer.text()
    expect(page).toContain('<script src="/docs/scalar.js"')
    expect(page.match(/(src|href)="[^"]*"/g)?.filter((link) => /:\/\//.test(link)) ?? []).toEqual([])
  })

  test('every page names its charset', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/guide', '/docs/guide/agents', '/console']) {
      const { headers } = await fetch(service.url + path)
      expect([path, headers.get('content-type')]).toEqual([path, 'text/html; charset=utf-8'])
    }
  })

  test('it has an icon, which browsers request by themselves', async () => {
    const icon = await fetch(`${service.url}/favicon.ico`)
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(icon.headers.get('cache-control')).toBe('public, max-age=86400')
    expect(await icon.text()).toStartWith('<svg')
  })

  test('the script is compressed for clients that support it, with the same content', async () => {
    const plain = await fetch(`${service.url}/docs/scalar.js`, { headers: { 'accept-encoding': 'identity' } })
    const zipped = await fetch(`${service.url}/docs/scalar.js`, { headers: { 'accept-encoding': 'gzip' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(zipped.headers.get('vary')).toBe('Accept-Encoding')
    expect(Bun.hash(await zipped.arrayBuffer())).toBe(Bun.hash(await plain.arrayBuffer()))
  })
})

describe('the face of the documentation', () => {
  test('has the typefaces of the console, which never change under their names', async () => {
    const guide = await (await fetch(`${service.url}/docs/guide`)).text()
    const fonts = [...guide.matchAll(/url\("([^"]+)"\)/g)].map(([, path]) => path)
    expect(fonts).toHaveLength(2)
    for (const path of fonts) {
      const answer = await fetch(service.url + path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'font/woff2'])
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000')
      expect(Buffer.from(await answer.arrayBuffer()).toString('latin1', 0, 4)).toBe('wOF2')
    }
    expect(await (await fetch(`${service.url}/docs`)).text()).toContain('--scalar-font-code: var(--mono)')
  })

  test('has the colours of the console, in light and in dark', () => {
    const names = { page: 'body', text: 'text', soft: 'dimmed', link: 'anchor' }
    const { light, dark } = cssVariables(DEFAULT_THEME)
    const css = readFaceStyles()
    for (const [name, of] of Object.entries(names)) {
      const colors = [light, dark].map((scheme) => scheme[`--mantine-color-${of}`])
      expect(css).toContain(`--${name}: light-dark(${colors.join(', ')})`)
    }
    for (const [name, of] of Object.entries({ line: 'border', mark: 'mark' })) {
      const colors = [light, dark].map((scheme) => scheme[`--cb-${of}`])
      expect(css).toContain(`--${name}: light-dark(${colors.join(', ')})`)
    }
  })
})

describe.skipIf(browserPath === null)('the documentation, in a browser without internet', () => {
  let opened: TestBrowser
  let page: Page
  const outside: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    opened = await openBrowser()
    const context = await opened.browser.newContext({ viewport: { width: 1280, height: 900 } })
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${service.url}/`) && !/^(data|blob):/.test(url)) outside.push(url)
    })
    page = await context.newPage()
    page.on('console', (message) => {
      const text = message.text()
      if (['error', 'warning'].includes(message.type()) || /security policy/i.test(text))
        complaints.push(text)
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${service.url}/docs/`, { waitUntil: 'networkidle' })
    await page.getByText('List calls, newest first').first().waitFor()
  })

  test('/docs shows every operation', async () => {
    const document = await (await fetch(`${service.url}/docs/json`)).json()
    const shown = (await page.locator('body').textContent()) ?? ''
    expect(shown).not.toMatch(/Ask AI|Generate MCP|Developer Tools/)
    for (const item of Object.values(document.paths)) {
      for (const operation of Object.values(item as Record<string, { summary: string }>))
        expect(shown).toContain(operation.summary)
    }
  })

  test('sends requests to the service only, also when sections are opened', async () => {
    await page.getByText('Create a knowledge item').first().click()
    await page.waitForTimeout(500)
    expect(outside).toEqual([])
  })

  test('does not violate its own security policy', () => {
    expect(complaints).toEqual([])
  })

  test('the guide is set in the typeface of the console, and dark where that was chosen there', async () => {
    const context = await opened.browser.newContext({ colorScheme: 'light' })
    const guide = await context.newPage()
    await guide.goto(`${service.url}/docs/guide`)
    const face = () =>
      guide.evaluate(async () => {
        await document.fonts.ready
        const { backgroundColor } = getComputedStyle(document.body)
        return [backgroundColor, document.fonts.check('15px Inter')]
      })
    expect(await face()).toEqual(['rgb(255, 255, 255)', true])
    await guide.evaluate(() => localStorage.setItem('callbook-color-scheme', 'dark'))
    await guide.reload()
    expect(await face()).toEqual(['rgb(17, 18, 20)', true])
    await context.close()
  })

  test('/docs/errors shows the table of errors', async () => {
    const errors = await opened.browser.newPage()
    await errors.goto(`${service.url}/docs/errors#rate_limited`)
    expect(await errors.locator('tr:target').textContent()).toContain('429')
    await errors.close()
  })
})
