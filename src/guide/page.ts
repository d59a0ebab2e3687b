import { escapeHtml, excerptOf, type GuideHit, type GuidePage, guidePath } from './guide.ts'

/** The start of the guide: what each page is about. */
export function overviewPage(guide: GuidePage[]): string {
  const entries = guide.map(
    ({ name, title, summary }) =>
      `<li><a href="${guidePath}/${name}">${escapeHtml(title)}</a><p>${escapeHtml(summary)}</p></li>`,
  )
  const main = `<h1>Guide</h1>
<p>How to set up, run and rely on Callbook. Every operation of the API is under <a href="/docs">API reference</a>, every
error under <a href="/docs/errors">Errors</a>.</p>
<ul class="entries">${entries.join('\n')}</ul>`
  return layout({ guide, title: 'Guide', main })
}

/** One page of the guide, with links to those before and after it. */
export function articlePage(guide: GuidePage[], name: GuidePage['name']): string {
  const at = guide.findIndex((page) => page.name === name)
  const page = guide[at]
  if (!page) throw new Error(`The guide has no page ${name}`)
  const steps = [
    { rel: 'prev', label: 'Previous', to: guide[at - 1] },
    { rel: 'next', label: 'Next', to: guide[at + 1] },
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

/** What a search found. */
export function resultsPage(guide: GuidePage[], query: string, hits: GuideHit[]): string {
  const entries = hits.map(({ page, section }) => {
    const [target, title] =
      section.level === 1
        ? [page.name, section.title]
        : [`${page.name}#${section.anchor}`, `${page.title} › ${section.title}`]
    return `<li><a href="${guidePath}/${target}">${escapeHtml(title)}</a><p>${excerptOf(section, query)}</p></li>`
  })
  const found =
    hits.length > 0
      ? `<ul class="entries">${entries.join('\n')}</ul>`
      : '<p>Nothing found. Try fewer words.</p>'
  return layout({
    guide,
    title: 'Search',
    query,
    main: `<h1>Search: ${escapeHtml(query)}</h1>${found}`,
  })
}

interface Layout {
  guide: GuidePage[]
  /** The page that is shown, if it is one of the guide's. */
  current?: GuidePage
  title: string
  query?: string
  main: string
}

function layout({ guide, current, title, query = '', main }: Layout): string {
  const entries = guide.map((page) => {
    const isCurrent = page === current
    const link = `<a href="${guidePath}/${page.name}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>`
    return `<li>${link}${isCurrent ? sectionList(page) : ''}</li>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Callbook</title>
<style>${styles}</style>
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

const styles = `
:root { color-scheme: light dark; --text: #1c2128; --soft: #57606a; --line: #d8dee4; --panel: #f6f8fa; --link: #4343a8; --mark: #fff3bf }
@media (prefers-color-scheme: dark) {
  :root { --text: #e2e6eb; --soft: #9aa4b0; --line: #2d333b; --panel: #1a1f26; --link: #a9a9f5; --mark: #5c4a00 }
  body { background: #0f1318 }
}
* { box-sizing: border-box }
html { scroll-padding-top: 5rem }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: var(--text); overflow-wrap: break-word }
a { color: var(--link); text-underline-offset: .15em }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; padding: .75rem 1.5rem; background: Canvas; background: light-dark(#fff, #0f1318); border-bottom: 1px solid var(--line) }
.brand { color: inherit; text-decoration: none; white-space: nowrap }
header form { flex: 1; max-width: 26rem; margin: 0 auto }
header nav { display: flex; gap: 1.25rem; font-size: .9rem }
input { width: 100%; font: inherit; font-size: .95rem; padding: .35rem .75rem; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px }
.skip { position: absolute; left: -99rem } .skip:focus { left: 1rem; top: 1rem; z-index: 2; background: Canvas }
.columns { display: grid; grid-template-columns: 15rem minmax(0, 50rem); gap: 3.5rem; max-width: 76rem; margin: 0 auto; padding: 0 1.5rem 4rem }
.contents { position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 4.5rem); overflow: auto; padding: 2rem 0; font-size: .92rem }
.contents ul { list-style: none; margin: 0; padding: 0 }
.contents a { display: block; padding: .2rem .75rem; color: var(--soft); text-decoration: none; border-left: 2px solid transparent }
.contents a:hover { color: var(--link) }
.contents a[aria-current] { color: var(--text); font-weight: 600; border-color: var(--link) }
.contents ul ul { margin: .1rem 0 .5rem; font-size: .94em } .contents ul ul a { padding-left: 1.5rem }
main { padding: 1.5rem 0; min-width: 0 }
h1 { font-size: 2rem; line-height: 1.2; margin: .5rem 0 1rem }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.5rem 0 .75rem; padding-top: 1.25rem; border-top: 1px solid var(--line) }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem }
:target { color: var(--link) }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--panel); padding: .1em .3em; border-radius: 4px }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; line-height: 1.5 }
pre code { background: none; padding: 0; font-size: .84rem }
.scroll { overflow-x: auto; max-width: 100% }
table { border-collapse: collapse; width: 100%; font-size: .92rem; line-height: 1.5; overflow-wrap: normal }
th, td { text-align: left; vertical-align: top; padding: .55rem 1rem .55rem 0; border-bottom: 1px solid var(--line) }
td { min-width: 7rem } td:last-child code { overflow-wrap: anywhere }
li { margin: .35rem 0 } .contents li { margin: 0 }
mark { background: var(--mark); color: var(--text); border-radius: 2px }
.entries { list-style: none; padding: 0 } .entries li { margin: 1.25rem 0 }
.entries a { font-weight: 600; font-size: 1.05rem } .entries p { margin: .15rem 0; color: var(--soft) }
.steps { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem; padding-top: 1.25rem; border-top: 1px solid var(--line) }
.steps a { text-decoration: none } .steps a[rel=next] { margin-left: auto; text-align: right } .steps small { display: block; color: var(--soft) }
.narrow { display: none }
@media (max-width: 52rem) {
  header { position: static; padding: .75rem 1rem } header form { order: 3; flex-basis: 100%; max-width: none }
  header nav { margin-left: auto }
  html { scroll-padding-top: 1rem }
  .columns { display: block; padding: 0 1rem 3rem }
  .contents { position: static; max-height: none; padding: .75rem 0; border-bottom: 1px solid var(--line) }
  .contents > ul { display: flex; flex-wrap: wrap; gap: .1rem 1rem } .contents ul ul { display: none }
  .contents a { padding: .25rem 0; border-left: 0 } .contents a[aria-current] { text-decoration: underline }
  .narrow { display: block; margin-bottom: 1rem } .narrow summary { padding: .4rem 0; color: var(--soft); cursor: pointer }
  h1 { font-size: 1.7rem }
}
@media print { header, .contents, .steps, .narrow { display: none } .columns { display: block } }
`
