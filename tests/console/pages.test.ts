import { describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { buildConsole } from '../../scripts/build-console.ts'
import { notBuiltPage, pagePolicy } from '../../src/console/page.ts'
import { pagePaths } from '../../src/console/page-paths.ts'
import { pagesRoutes } from '../../src/console/pages-routes.ts'
import { encodingFor } from '../../src/http/static-file.ts'
import { freshFolder } from '../support/at-end.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'

const manifest = (await buildConsole()).manifest
const service = await startService()

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.url + path, { headers, decompress: false } as RequestInit)
}

function asset(name: string): string {
  return `/console/assets/${name}`
}

describe('the page', () => {
  test('is the same document at every path of the console but for what it asks for, and is never cached', async () => {
    const shapes = new Set<string>()
    for (const path of pagePaths) {
      const answer = await get(`/console${path.replace(/\$\w+/g, 'some-id')}`)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const document = (await answer.text()).replace(/nonce="[^"]*"/, '')
      shapes.add(document.replace(/<link rel="(modulepreload|stylesheet|preload" as="fetch)".*>\n/g, ''))
    }
    expect(shapes.size).toBe(1)
  })

  test('asks for the scripts of its page, the session and the first calls before its program runs', async () => {
    const linksOf = async (path: string) =>
      [
        ...(await (await get(path)).text()).matchAll(
          /<link rel="(?:modulepreload|stylesheet|preload" as="fetch)" href="([^"]*)"/g,
        ),
      ]
        .map(([, href = '']) => href)
        .filter((href) => href !== asset(manifest.entries.styles))
        .sort()
    const session = '/console/api/session'
    const scripts = (group: string) => (manifest.groups[group] ?? []).map(asset)
    const calls = [...scripts('calls'), session]
    expect(calls.length).toBeGreaterThan(1)
    const first = '/console/api/projects/prj_1/calls?limit=50'
    expect(await linksOf('/console/p/prj_1/calls')).toEqual([...calls, first].sort())
    // The list does not wait for the call's page.
    expect(scripts('calls/').length).toBeGreaterThan(scripts('calls').length)
    expect(await linksOf('/console/p/prj_1/calls/a%22b')).toEqual(
      [...scripts('calls/'), session, first].sort(),
    )
    // With filters the first page of calls is another. Nothing else of a URL gets into the page.
    expect(await linksOf('/console/p/prj_1/calls?status=live')).toEqual(calls.sort())
    expect(await linksOf('/console/p/%22%3E%3Cb%3E/calls')).toEqual(calls.sort())
    expect(await linksOf('/console/p/prj_1/settings/keys')).toEqual([...scripts('settings/'), session].sort())
    expect(await linksOf('/console/sign-in')).toEqual([session])
  })

  test('allows no script but its own files, no frame around it and no other origin', async () => {
    const answer = await get('/console')
    const policy = answer.headers.get('content-security-policy') ?? ''
    const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? []
    expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/)
    expect(policy).toBe(pagePolicy(nonce ?? ''))
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    // Recordings are played from where the platforms keep them.
    expect(policy).toContain("media-src 'self' https:;")
    expect(policy.replace("media-src 'self' https:", '')).not.toMatch(/unsafe|\*|https?:/)
    expect(answer.headers.get('x-frame-options')).toBe('DENY')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })

  test('has another nonce each time', async () => {
    const nonces = await Promise.all(
      [1, 2, 3].map(async () => /nonce="([^"]+)"/.exec(await (await get('/console')).text())?.[1]),
    )
    expect(new Set(nonces).size).toBe(3)
    expect(nonces).not.toContain(undefined)
  })

  test('has no inline script, no inline style and no address of another host', async () => {
    const html = await (await get('/console')).text()
    expect(html.match(/<script\b[^>]*>/g)?.every((tag) => tag.includes(' src="/console/assets/'))).toBe(true)
    expect(html).toMatch(/<script[^>]*><\/script>/)
    expect(html).not.toMatch(/<script[^>]*>[^<]|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//)
  })

  test('has the modules that it shares with the service among its sources', () => {
    expect(manifest.imported).toContain('src/calls/filters.ts')
  })

  test('names only files that exist', async () => {
    const html = await (await get('/console')).text()
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(named.length).toBeGreaterThanOrEqual(4)
    for (const path of named) expect((await get(path)).status).toBe(200)
  })

  test('answers HEAD as GET without its body, and no other method', async () => {
    const answer = await fetch(`${service.url}/console`, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(await answer.text()).toBe('')
    const post = await fetch(`${service.url}/console`, { method: 'POST' })
    expect(post.status).toBe(405)
    expect(post.headers.get('allow')).toBe('GET, HEAD')
  })

  test('says how to build it when it is not built', async () => {
    const folder = freshFolder()
    const answer = await pagesRoutes(folder).handle(new Request('http://localhost/console'))
    rmSync(folder, { recursive: true })
    expect(await answer.text()).toContain('bun run build')
    expect(notBuiltPage('n')).toContain('<style nonce="n">')
  })
})

describe('a file of the page', () => {
  test('is kept for a year, since its name changes with its content', async () => {
    const answer = await get(asset(manifest.entries.main))
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    expect((await get(asset(manifest.entries.styles))).headers.get('content-type')).toBe(
      'text/css; charset=utf-8',
    )
  })

  test('is the same in each encoding, of which a client gets the smallest that it reads', async () => {
    const path = asset(manifest.entries.main)
    const read = async (accepted: string) => {
      const answer = await get(path, { 'accept-encoding': accepted })
      return {
        encoding: answer.headers.get('content-encoding'),
        body: new Uint8Array(await answer.arrayBuffer()),
      }
    }
    const [plain, zipped, brotli] = await Promise.all([read('identity'), read('gzip'), read('gzip, br')])
    expect([plain.encoding, zipped.encoding, brotli.encoding]).toEqual([null, 'gzip', 'br'])
    expect(Bun.hash(gunzipSync(zipped.body))).toBe(Bun.hash(plain.body))
    expect(Bun.hash(brotliDecompressSync(brotli.body))).toBe(Bun.hash(plain.body))
    expect(brotli.body.length).toBeLessThan(zipped.body.length)
    expect(zipped.body.length).toBeLessThan(plain.body.length / 2)
  })

  test.each([
    [null, null],
    ['', null],
    ['br', 'br'],
    ['GZIP;q=0.5', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.0, gzip; q=0', null],
    ['brotli', null],
  ] as const)('Accept-Encoding %p is answered as %p', (accepted, encoding) => {
    const some = new Blob()
    expect(encodingFor(accepted, { br: some, gzip: some })).toBe(encoding)
  })

  test('is not sent again to a client that has it, and each encoding has its own ETag', async () => {
    const path = asset(manifest.entries.main)
    const tagOf = async (accepted: string) =>
      (await get(path, { 'accept-encoding': accepted })).headers.get('etag') ?? ''
    const [plain, brotli] = [await tagOf('identity'), await tagOf('br')]
    expect(plain).not.toBe(brotli)
    const known = await get(path, { 'accept-encoding': 'br', 'if-none-match': `"other", W/${brotli}` })
    expect(known.status).toBe(304)
    expect(await known.text()).toBe('')
    expect((await get(path, { 'accept-encoding': 'br', 'if-none-match': plain })).status).toBe(200)
  })

  test('answers HEAD without its body', async () => {
    const answer = await fetch(service.url + asset(manifest.entries.main), { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('etag')).toContain(manifest.entries.main)
    expect(await answer.text()).toBe('')
  })

  test.each([
    'none-12345678.js',
    'manifest.json',
    'constructor',
    '__proto__',
    '..%2fmanifest.json',
    '..%2f..%2f..%2fpackage.json',
    '%2e%2e%2fmanifest.json',
    '..%5c..%5cpackage.json',
    '%2fetc%2fpasswd',
    'main.js%00.css',
  ])('that is in no manifest is not found: %s', async (name) => {
    const answer = await get(asset(name))
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test.each(['../manifest.json', '../../../package.json', '..//..//package.json', './../../../etc/passwd'])(
    'is never found by a path that a browser would not send: %s',
    async (path) => {
      const answer = await rawRequest(service.url, head(`GET ${asset(path)} HTTP/1.1`))
      expect(answer.status).toBe(404)
      expect(answer.body).not.toMatch(/"dependencies"|"entries"|root:/)
    },
  )
})
