import type { ConsoleAssets } from './assets.ts'

/** The path of the page's files, up to their names. */
export const assetsPath = '/console/assets/'

/**
 * Scripts and styles are the service's own files. The nonce is for the style elements that the component library
 * adds. Inline styles are set by script, which the policy does not restrict.
 */
export function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    // Recordings that are not kept lie at the platforms.
    "media-src 'self' https:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** How many calls the program asks for at first. */
const firstCalls = 50

/** What the program of the page at an address will request at once. Browsers request it meanwhile. */
function requestsOf({ pathname, search }: URL): string[] {
  const [, project] = /^\/console\/p\/([\w-]+)\/calls(\/|$)/.exec(pathname) ?? []
  const calls = `/console/api/projects/${project}/calls?limit=${firstCalls}`
  return [...(project !== undefined && search === '' ? [calls] : []), '/console/api/session']
}

/**
 * The console's only page, as it is sent for one of its addresses. The nonce is an attribute of the script, where style
 * sheets cannot read it.
 */
export function consolePage(
  { entries, groups }: Pick<ConsoleAssets, 'entries' | 'groups'>,
  nonce: string,
  address: URL,
) {
  const [, , , , folder = '', below] = address.pathname.split('/')
  const group = below ? `${folder}/` : folder
  const scripts = Object.hasOwn(groups, group) ? (groups[group] ?? []) : []
  // What takes longest comes first: over HTTP/1.1 a browser asks for six at a time.
  const links = [
    ...requestsOf(address).map((path) => `rel="preload" as="fetch" href="${path}" crossorigin`),
    ...scripts.map((name) =>
      name.endsWith('.css')
        ? `rel="stylesheet" href="${assetsPath}${name}"`
        : `rel="modulepreload" href="${assetsPath}${name}"`,
    ),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Callbook</title>
<link rel="icon" type="image/svg+xml" href="${assetsPath}${entries.icon}">
<script src="${assetsPath}${entries.boot}"></script>
<link rel="stylesheet" href="${assetsPath}${entries.styles}">
<script type="module" src="${assetsPath}${entries.main}" nonce="${nonce}"></script>
${links.map((link) => `<link ${link}>\n`).join('')}<link rel="preload" as="font" type="font/woff2" href="${assetsPath}${entries.font}" crossorigin>
</head>
<body>
<div id="root"></div>
<img class="cb-splash" src="${assetsPath}${entries.icon}" alt="" width="32" height="32">
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`
}

/** Served in place of the page when it has not been built. */
export function notBuiltPage(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Callbook</title>
<style nonce="${nonce}">
  :root { color-scheme: light dark }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 20vh auto; padding: 0 1rem }
</style>
<h1>The console is not built</h1>
<p>Run <code>bun run build</code> and restart the service, or use <code>bun start</code>, which does both. The API works without the console. See <a href="/docs">/docs</a>.</p>
</html>
`
}
