import { schemeScriptPath } from '../face/face.ts'
import { errorsTable } from './errors.ts'
import { escapeHtml, excerptOf, type Guide, type GuidePage, searchGuide } from './guide.ts'
import { guidePath } from './guide-pages.ts'

/** The guide's first page: a summary of each page. */
export function overviewPage(guide: Guide): string {
  const entries = guide.pages.map(({ name, title, summary }) => entry(name, title, escapeHtml(summary)))
  const main = `<h1>Guide</h1>
<p>How to set up, run and rely on Callbook. Every operation of the API is under <a href="/docs">API reference</a>, every
error under <a href="/docs/errors">Errors</a>.</p>
<ul class="entries">${entries.join('\n')}</ul>`
  return layout({ guide, title: 'Guide', main })
}

/** A page of the guide, with links to the previous and the next one. */
export function articlePage(guide: Guide, name: GuidePage['name']): string {
  const { pages } = guide
  const at = pages.findIndex((page) => page.name === name)
  const page = pages[at]
  if (!page) throw new Error(`The guide has no page ${name}`)
  const steps = [
    { rel: 'prev', label: 'Previous', to: pages[at - 1] },
    { rel: 'next', label: 'Next', to: pages[at + 1] },
  ].map(({ rel, label, to }) =>
    to
      ? `<a rel="${rel}" href="${guidePath}/${to.name}"><small>${label}</small>${escapeHtml(to.title)}</a>`
      : '',
  )
  const onThisPage = sectionList(page)
  const contents =
    onThisPage && `<details class="narrow"><summary>On this page</summary>${onThisPage}</details>`
  const main = `${contents}<article>${page.html}</article><nav class="steps" aria-label="Next pages">${steps.join('')}</nav>`
  return layout({ guide, current: page, title: page.title, main })
}

/** The table of errors, at /docs/errors. */
export function errorsPage(guide: Guide): string {
  const main = `<article><h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). Its <code>type</code> leads to a row of this table;
its <code>requestId</code> is also in the <code>X-Request-Id</code> header and in the service's log. Under
<code>/integrations</code> the statuses are the same, and the body is the one that the protocol prescribes.</p>
${errorsTable()}</article>`
  return layout({ guide, title: 'Errors', main })
}

/** The results of a search. */
export function resultsPage(guide: Guide, query: string): string {
  const hits = searchGuide(guide, query)
  const entries = hits.map(({ page, section }) => {
    const excerpt = excerptOf(section, query)
    if (section.level === 1) return entry(page.name, page.title, excerpt)
    return entry(`${page.name}#${section.anchor}`, `${page.title} › ${section.title}`, excerpt)
  })
  const results =
    hits.length > 0
      ? `<ul class="entries">${entries.join('\n')}</ul>`
      : '<p>Nothing found. Try fewer words.</p>'
  const main = `<h1>Search: ${escapeHtml(query)}</h1>${results}`
  return layout({ guide, title: 'Search', query, main })
}

function entry(target: string, title: string, html: string): string {
  return `<li><a href="${guidePath}/${target}">${escapeHtml(title)}</a><p>${html}</p></li>`
}

interface Layout {
  guide: Guide
  /** The page that is shown, if it is one of the guide's. */
  current?: GuidePage
  title: string
  query?: string
  main: string
}

function layout({ guide, current, title, query = '', main }: Layout): string {
  const entries = guide.pages.map((page) => {
    const isCurrent = page === current
    const link = `<a href="${guidePath}/${page.name}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>`
    return `<li>${link}${isCurrent ? sectionList(page) : ''}</li>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Callbook</title>
<script src="${schemeScriptPath}"></script>
<style>${guide.styles}</style>
<a class="skip" href="#main">Skip to the text</a>
<header>
  <a class="brand" href="${guidePath}"><strong>Callbook</strong> Guide</a>
  <form role="search" action="${guidePath}"><input type="search" name="q" value="${escapeHtml(query)}" placeholder="Search the guide" aria-label="Search the guide" maxlength="200" required></form>
  <nav aria-label="Service"><a href="/docs">API reference</a> <a href="/console">Console</a></nav>
</header>
<div class="columns">
  <nav class="contents" aria-label="Contents"><ul>${entries.join('\n')}</ul></nav>
  <main id="main">${main}</main>
</div>
</html>`
}

function sectionList({ sections }: GuidePage): string {
  const items = sections
    .filter(({ level }) => level === 2)
    .map(({ title, anchor }) => `<li><a href="#${anchor}">${escapeHtml(title)}</a></li>`)
  return items.length > 0 ? `<ul>${items.join('')}</ul>` : ''
}
