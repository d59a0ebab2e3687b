import { randomBytes } from 'node:crypto'
import { Elysia } from 'elysia'
import { notFound } from '../errors.ts'
import { wantsPage } from '../http/docs-routes.ts'
import { answerFile, type StaticFile } from '../http/static-file.ts'
import { type ConsoleAssets, readAssets } from './assets.ts'
import { assetsPath, consolePage, notBuiltPage, pagePolicy } from './page.ts'
import { pagePaths } from './page-paths.ts'

const nonceBytes = 16
const forADay = 'public, max-age=86400'
/** These files are named by a hash of their content. */
const forEver = 'public, max-age=31536000, immutable'

/** /console: the page, at each of its paths, and its files. They are read when one is first asked for. */
export function pagesRoutes(folder: string) {
  let assets: ConsoleAssets | null = null
  const read = () => {
    assets ??= readAssets(folder)
    return assets
  }
  const routes = new Elysia({ name: 'console-pages' })
  const send = (name: string, { headers }: Request, cacheControl: string) =>
    answerFile(assetOf(read(), name), { name, requestHeaders: headers, cacheControl })
  routes.get(`${assetsPath}:name`, ({ params: { name }, request }) => send(name, request, forEver))
  // Browsers request this by themselves for pages that name no icon, such as those of /docs.
  routes.get('/favicon.ico', ({ request }) => send(read()?.entries.icon ?? 'favicon.ico', request, forADay), {
    detail: { hide: true },
  })
  for (const path of pagePaths) {
    const pagePath = `/console${path.replaceAll('$', ':')}`.replace(/\/$/, '')
    routes.get(pagePath, ({ request }) => toPage(read(), request))
  }
  // An address that leads nowhere: the page says so to people.
  routes.get('/console/*', ({ path, request }) => {
    const isForPeople = wantsPage(request.headers) && !/^\/console\/(api|assets)\//.test(path)
    if (isForPeople) return toPage(read(), request, 404)
    throw notFound('There is nothing at this path. See /docs.')
  })
  return routes
}

function toPage(assets: ConsoleAssets | null, { url }: Request, status = 200): Response {
  const nonce = randomBytes(nonceBytes).toString('base64')
  return new Response(assets ? consolePage(assets, nonce, new URL(url)) : notBuiltPage(nonce), {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': pagePolicy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
  })
}

function assetOf(assets: ConsoleAssets | null, name: string): StaticFile {
  const asset = assets?.assets.get(name)
  if (asset) return asset
  throw notFound('The console has no such file. Reload the page.')
}
