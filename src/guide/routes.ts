import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { type Guide, guidePages, guidePath, readGuide } from './guide.ts'
import { articlePage, errorsPage, overviewPage, resultsPage } from './page.ts'

const folder = fileURLToPath(new URL('./', import.meta.url))
const queryCharsMax = 200
const hide = { detail: { hide: true } }

/** The manual under /docs/guide, rendered at the first request, and the table of errors. */
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
      const text = String(query.q ?? '').slice(0, queryCharsMax)
      if (text.trim() === '') return toAnswer(overviewPage(read()))
      return toAnswer(resultsPage(read(), text))
    },
    hide,
  )
  routes.get('/docs/errors', () => toAnswer(errorsPage(read())), hide)
  routes.get('/llms.txt', () => toText(forModels(read())), hide)
  for (const name of guidePages) {
    routes.get(`${guidePath}/${name}`, () => toAnswer(articlePage(read(), name)), hide)
  }
  return routes
}

/** The index for language models: https://llmstxt.org */
function forModels({ pages }: Guide): string {
  const links = pages.map(({ name, title, summary }) => `- [${title}](${guidePath}/${name}): ${summary}`)
  return `# Callbook

> The open, self-hosted system of record for voice agents: every call they handled, and everything they know.

Send a key as \`Authorization: Bearer <key>\`: \`ck_live_…\` under /v1, /mcp and /integrations, \`ck_ingest_…\` under /ingest.

## API

- [OpenAPI document](/openapi.json): every operation, with schemas and examples
- [Errors](/docs/errors): what each code means, and what to do about it
- /mcp: the knowledge as tools of the Model Context Protocol

## Guide

${links.join('\n')}
`
}

function toText(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': 'text/markdown; charset=utf-8' } })
}

function toAnswer(html: string): Response {
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; font-src 'self'; script-src 'self'; form-action 'self'; frame-ancestors 'none'",
    },
  })
}
