import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Elysia } from 'elysia'
import { type ErrorCode, errorStatus } from '../errors.ts'
import { answerFile, type StaticFile } from './static-file.ts'

export const docsScriptPath = '/docs/scalar.js'
const secondsPerDay = 86_400

/**
 * The viewer needs inline styles, and icons from data: URLs; only our own scripts run. The hash is of the white space
 * in the element with the viewer's settings, which browsers treat as a script.
 */
const viewerPolicy = [
  "default-src 'self'",
  "script-src 'self' 'sha256-TcUB1mzXiQO4GxpTRZ0EMpOXKMU3u+n/q1WrgVIcs1I='",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "frame-ancestors 'none'",
].join('; ')
export const docsHeaders = { 'Content-Security-Policy': viewerPolicy }

/** What each code means and what a client can do. The `detail` of an answer is more specific. */
const explanations: Record<ErrorCode, string> = {
  missing_authorization:
    'Missing or invalid Authorization header. Send <code>Authorization: Bearer &lt;key&gt;</code>.',
  invalid_api_key_format:
    'Invalid API key format. API keys start with <code>ck_live_</code>, ingest keys with <code>ck_ingest_</code>.',
  invalid_api_key: 'Invalid API key. It is unknown or has been revoked.',
  invalid_signature:
    'Invalid signature. The request is not signed with the secret of its source, or it is too old.',
  api_key_expired: 'API key has expired. Create a new one.',
  not_signed_in:
    'Sign in required. The session has ended. Only the console under <code>/console</code> answers this.',
  wrong_credentials: 'Email address or password is wrong. Only sign-in to the console answers this.',
  ip_address_not_allowed: "IP address not allowed. The request's address is not on the key's allow-list.",
  insufficient_scope:
    'Key does not allow this. The scope of the key (<code>read</code> or <code>search</code>) does not cover the route.',
  forbidden: 'Forbidden. The route is not for this caller.',
  invalid_request: 'Invalid request. <code>errors</code> names each invalid field.',
  not_found:
    'Call not found, Knowledge item not found, or Not found. A record of another project is not found either.',
  method_not_allowed: 'Method not allowed. <code>Allow</code> lists the methods that the path accepts.',
  transcript_gap:
    'Transcript does not continue. Send the turns that follow the stored transcript, or all of them.',
  call_on_hold: 'Call is on hold. The call cannot be deleted until an owner of the project lifts the hold.',
  note_has_changed:
    'Note has changed. Another person has changed the note on the call. Only the console answers this.',
  call_was_deleted: 'Call was deleted. A deleted id cannot be used again.',
  item_was_deleted:
    'Knowledge item was deleted. The item that this <code>Idempotency-Key</code> created is gone. Use another key to create another item.',
  item_has_changed:
    'Item has changed. It does not match <code>If-Match</code> or <code>If-None-Match</code>. Read it again, then repeat the change with its new <code>ETag</code>.',
  payload_too_large:
    'Payload too large. Split a long text into several items. A call, with everything merged into it, also has a maximum size.',
  unsupported_media_type:
    'Unsupported media type. Send <code>Content-Type: application/json</code>, in UTF-8 and not compressed.',
  idempotency_key_in_use:
    'Request with this Idempotency-Key is still running. Send it again after <code>Retry-After</code> seconds.',
  file_cannot_be_read: 'File cannot be read. <code>detail</code> says why. Fix the file, then send it again.',
  no_such_turn: 'No such turn. The call has no turn with this number. Only the console answers this.',
  idempotency_key_reused:
    'Idempotency-Key was used with another body. Use a new key for each create, and the same one for its retries.',
  rate_limited: 'Too many requests. Wait for <code>Retry-After</code> seconds.',
  internal: 'Internal error. Try again. If it persists, give the request id to whoever runs the service.',
  unavailable: 'Service unavailable. Wait for <code>Retry-After</code> seconds.',
  insufficient_storage: 'Insufficient storage. The disk of the service is full. Nothing was written.',
}

/** The parts of /docs that the OpenAPI plugin does not serve: the table of errors and the viewer's script. */
export function docsRoutes() {
  // Through the package's export, since Node and Deno resolve no other path.
  const main = createRequire(import.meta.url).resolve('@scalar/api-reference')
  const scriptFile = join(dirname(main), 'browser', 'standalone.js')
  const hidden = { detail: { hide: true } }
  let script: Promise<ViewerScript> | undefined
  const toScript = async (request: Request) => {
    script ??= compressed(scriptFile).catch((error) => {
      // A temporary failure, such as too many open files. The next request tries again.
      script = undefined
      throw error
    })
    const { name, file } = await script
    return answerFile(file, {
      name,
      asked: request.headers,
      cacheControl: `public, max-age=${secondsPerDay}`,
    })
  }
  return new Elysia()
    .get('/', ({ request }) => toStart(request), hidden)
    .get(docsScriptPath, ({ request }) => toScript(request), hidden)
    .get('/docs/errors', () => toPage(errorsPage()), hidden)
}

/** Redirects browsers to the console, and programs to the API's docs. */
function toStart({ headers }: Request): Response {
  const Location = wantsPage(headers) ? '/console' : '/docs'
  return new Response(null, { status: 302, headers: { Location, Vary: 'Accept' } })
}

/** Whether a browser navigates to a page. */
export function wantsPage(headers: Headers): boolean {
  return headers.get('accept')?.includes('text/html') ?? false
}

interface ViewerScript {
  name: string
  file: StaticFile
}

/** Read and compressed only once, since doing so per reader would fill the memory. */
async function compressed(path: string): Promise<ViewerScript> {
  const source = readFileSync(path)
  return {
    name: createHash('sha256').update(source).digest('hex'),
    file: {
      type: 'text/javascript; charset=utf-8',
      plain: new Blob([source]),
      encoded: { gzip: new Blob([await promisify(gzip)(source)]) },
    },
  }
}

function toPage(html: string): Response {
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  })
}

function errorsPage(): string {
  const rows = Object.entries(explanations).map(
    ([code, text]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${errorStatus[code as ErrorCode]}</td><td>${text}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors · Callbook</title>
<style>
  :root { color-scheme: light dark }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 3rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid #8884 }
  tr:target { background: #fd05 }
  code { font-size: .9em }
  @media (max-width: 40rem) {
    thead { display: none }
    tr, td { display: block }
    tr { padding: .5rem 0; border-bottom: 1px solid #8884 }
    td { display: inline; padding: 0 .5rem 0 0; border: 0 }
    td:last-child { display: block }
  }
</style>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). Its <code>type</code> leads to a row of this table;
its <code>requestId</code> is also in the <code>X-Request-Id</code> header and in the service's log. Under
<code>/integrations</code> the statuses are the same, and the body is the one that the protocol prescribes. <a href="/docs">All operations</a></p>
<table><thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>
</html>`
}
