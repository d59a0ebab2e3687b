import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import type { Guide } from './guide.ts'
import { guidePages, guidePath } from './guide-pages.ts'

const folder = fileURLToPath(new URL('./', import.meta.url))
const queryCharsMax = 200
const hide = { detail: { hide: true } }

/** The manual under /docs/guide, rendered at the first request, and the table of errors. */
export function guideRoutes() {
  let loading: ReturnType<typeof load> | undefined
  const read = () => {
    loading ??= load()
    return loading
  }
  const routes = new Elysia()
  routes.get(
    guidePath,
    async ({ query }) => {
      const { guide, overviewPage, resultsPage } = await read()
      const text = String(query.q ?? '').slice(0, queryCharsMax)
      return toAnswer(text.trim() === '' ? overviewPage(guide) : resultsPage(guide, text))
    },
    hide,
  )
  const page = (make: (loaded: Awaited<ReturnType<typeof load>>) => string) => async () =>
    toAnswer(make(await read()))
  routes.get(
    '/docs/errors',
    page(({ guide, errorsPage }) => errorsPage(guide)),
    hide,
  )
  routes.get('/llms.txt', async () => toText(forModels((await read()).guide)), hide)
  for (const name of guidePages) {
    routes.get(
      `${guidePath}/${name}`,
      page(({ guide, articlePage }) => articlePage(guide, name)),
      hide,
    )
  }
  return routes
}

/** Its parser is not needed before: it takes 3 MB, and 16 ms of a start. */
async function load() {
  const [{ readGuide }, pages] = await Promise.all([import('./guide.ts'), import('./page.ts')])
  return { ...pages, guide: readGuide(folder) }
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
