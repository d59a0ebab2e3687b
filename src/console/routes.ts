import { Elysia } from 'elysia'

/** /console: where people will sign in. This version answers only that the set-up link stays good. */
export function consoleRoutes() {
  const hidden = { detail: { hide: true } }
  return new Elysia().get('/console', page, hidden).get('/console/setup', page, hidden)
}

function page(): Response {
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  })
}

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Callbook console</title>
<style>
  :root { color-scheme: light dark }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 20vh auto; padding: 0 1rem }
</style>
<h1>The console is not part of this version</h1>
<p>Keep your set-up link: it works once, with the first version that has the console.
Until then keys are made on the command line: <code>bun callbook key create --help</code>.
The API is described under <a href="/docs">/docs</a>.</p>
</html>`
