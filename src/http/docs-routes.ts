import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Elysia } from 'elysia'
import { facePath, fontFiles, readFont, schemeScript, schemeScriptPath } from '../face/face.ts'
import { answerFile } from './static-file.ts'

export const docsScriptPath = '/docs/scalar.js'
const secondsPerDay = 86_400
const secondsPerYear = 31_536_000

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

/** The start page, and the files of the pages under /docs: the viewer's script, which its plugin does not serve, and their face. */
export function docsRoutes() {
  // Through the package's export, since Node and Deno resolve no other path.
  const main = createRequire(import.meta.url).resolve('@scalar/api-reference')
  const scriptFile = join(dirname(main), 'browser', 'standalone.js')
  const hide = { detail: { hide: true } }
  let script: ReturnType<typeof compressed> | undefined
  const toScript = async (request: Request) => {
    script ??= compressed(scriptFile).catch((error) => {
      // A temporary failure, such as too many open files. The next request tries again.
      script = undefined
      throw error
    })
    const { name, file } = await script
    return answerFile(file, {
      name,
      requestHeaders: request.headers,
      cacheControl: `public, max-age=${secondsPerDay}`,
    })
  }
  const routes = new Elysia()
    .get('/', ({ request }) => toStart(request), hide)
    .get(docsScriptPath, ({ request }) => toScript(request), hide)
    .get(schemeScriptPath, () => toFile('text/javascript; charset=utf-8', schemeScript, secondsPerDay), hide)
  for (const name of fontFiles)
    routes.get(`${facePath}/${name}`, () => toFile('font/woff2', readFont(name), secondsPerYear), hide)
  return routes
}

function toFile(type: string, content: string | Buffer<ArrayBuffer>, seconds: number): Response {
  return new Response(content, {
    headers: { 'Content-Type': type, 'Cache-Control': `public, max-age=${seconds}` },
  })
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

/** Read and compressed only once, since doing so per reader would fill the memory. */
async function compressed(path: string) {
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
