import { randomBytes } from 'node:crypto'
import { Elysia } from 'elysia'
import { AppError } from '../errors.ts'
import { type Asset, type ConsoleAssets, encodingFor } from './assets.ts'
import { assetsPath, consolePage, notBuiltPage, pagePaths, pagePolicy } from './page.ts'

const detail = { hide: true }
const nonceBytes = 16
const secondsPerDay = 86_400
/** The names of these files change with what they hold. */
const forEver = 'public, max-age=31536000, immutable'

/** /console: the page, at every path it knows, and the files it is made of. */
export function pagesRoutes(built: ConsoleAssets | null) {
  const routes = new Elysia({ name: 'console-pages' })
  routes.get(
    `${assetsPath}:name`,
    ({ params, request }) => toFile(params.name, assetOf(built, params.name), request.headers),
    { detail },
  )
  // Browsers ask for it by themselves on pages that name none, such as those of /docs.
  routes.get(
    '/favicon.ico',
    ({ request }) => {
      const name = built?.entries.icon ?? 'favicon.ico'
      return toFile(name, assetOf(built, name), request.headers, `public, max-age=${secondsPerDay}`)
    },
    { detail },
  )
  for (const path of pagePaths) routes.get(path, () => toPage(built), { detail })
  return routes
}

function toPage(built: ConsoleAssets | null): Response {
  const nonce = randomBytes(nonceBytes).toString('base64')
  return new Response(built ? consolePage(built, nonce) : notBuiltPage(nonce), {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': pagePolicy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
  })
}

function assetOf(built: ConsoleAssets | null, name: string): Asset {
  const asset = built?.assets.get(name)
  if (asset) return asset
  throw new AppError('not_found', 'Not found', { detail: 'The console has no such file; reload the page.' })
}

function toFile(name: string, { type, bodies }: Asset, asked: Headers, cacheControl = forEver): Response {
  const encoding = encodingFor(asked.get('accept-encoding'))
  const tag = `"${name}-${encoding}"`
  const headers: Record<string, string> = {
    'Content-Type': type,
    'Cache-Control': cacheControl,
    ETag: tag,
    Vary: 'Accept-Encoding',
  }
  if (isCurrent(asked.get('if-none-match'), tag)) return new Response(null, { status: 304, headers })
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  return new Response(bodies[encoding], { headers })
}

function isCurrent(known: string | null, tag: string): boolean {
  return known?.split(',').some((part) => part.trim().replace(/^W\//, '') === tag) ?? false
}
