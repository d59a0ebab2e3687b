import { Readability } from '@mozilla/readability'
import { decodeAny } from './decode.ts'
import type { Converted } from './file-text.ts'
import { parsePage, toMarkdown } from './markdown.ts'

/** Elements that surround the content of a page. */
const frame =
  'script, style, noscript, template, iframe, svg, nav, footer, aside, [role=navigation], [hidden], title'
/**
 * If the article found has less of the page's text than this, the page is not an article, but a list of questions, say.
 */
const articleShareMin = 0.5

/** Reads a web page's main content. Nothing that it links to is fetched, and no script runs. */
export function readHtml(bytes: Uint8Array): Converted {
  const document = parsePage(decodeAny(bytes, true))
  const title = document.querySelector('title')?.textContent ?? null
  const description = document.querySelector('meta[name=description i]')?.getAttribute('content') ?? null
  for (const element of document.querySelectorAll(frame)) element.remove()
  return { title, description, text: toMarkdown(mainContent(document)) }
}

function mainContent(document: Document): HTMLElement {
  const articles = document.querySelectorAll('article')
  const main = document.querySelector('main, [role=main]') ?? (articles.length === 1 ? articles[0] : null)
  if (main && sizeOf(main) > 0) return main as HTMLElement
  // A copy, since extracting the article changes the document.
  const body = document.body.cloneNode(true) as HTMLElement
  const article = new Readability(document).parse()?.content
  const read = article ? parsePage(article).body : null
  // Extraction may lose the table of a page that is mostly a table.
  const keepsTables = read?.querySelectorAll('table').length === body.querySelectorAll('table').length
  return read && keepsTables && sizeOf(read) >= articleShareMin * sizeOf(body) ? read : body
}

function sizeOf(element: Element): number {
  return element.textContent?.replace(/\s+/g, '').length ?? 0
}
