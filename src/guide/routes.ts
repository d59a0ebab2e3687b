import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { type Guide, guidePages, guidePath, readGuide } from './guide.ts'
import { articlePage, overviewPage, resultsPage } from './page.ts'

const folder = fileURLToPath(new URL('./', import.meta.url))
const queryCharsMax = 200
const hidden = { detail: { hide: true } }

/** The manual under /docs/guide. It is rendered when it is first asked for. */
export function guideRoutes() {
  let guide: Guide | undefined
  const read = () => {
    guide ??= readGuide(folder)
    return guide
  }
  const routes = new Elysia()
  routes.get(
    guidePath,
    ({ query }) => {
      const sought = String(query.q ?? '').slice(0, queryCharsMax)
      if (sought.trim() === '') return toAnswer(overviewPage(read()))
      return toAnswer(resultsPage(read(), sought))
    },
    hidden,
  )
  for (const name of guidePages) {
    routes.get(`${guidePath}/${name}`, () => toAnswer(articlePage(read(), name)), hidden)
  }
  return routes
}

function toAnswer(html: string): Response {
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; frame-ancestors 'none'",
    },
  })
}
