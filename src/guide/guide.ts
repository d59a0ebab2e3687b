import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MarkdownIt from 'markdown-it'
import { readFaceStyles } from '../face/face.ts'
import { foldText, stemOf } from '../text/words.ts'

/** The guide's pages, in reading order. */
export const guidePages = [
  'agents',
  'sources',
  'own-code',
  'opentelemetry',
  'recordings',
  'analysis',
  'files',
  'finding',
  'metrics',
  'knowledge',
  'changes',
  'clients',
  'webhooks',
  'alerts',
  'command-line',
  'deployment',
  'operating',
  'replicas',
  'decisions',
  'figures',
  'security',
  'single-sign-on',
  'privacy',
] as const
export const guidePath = '/docs/guide'

export type Guide = ReturnType<typeof readGuide>
export type GuidePage = ReturnType<typeof toPage>
/** A heading, with the text up to the next one. */
type Section = GuidePage['sections'][number]

const hitsMax = 20
const soughtWordsMax = 8
const titleWeight = 20
const pageTitleWeight = 6
const prefixCharsMin = 3
const excerptWords = { before: 10, max: 36 }

// The pages are ours, and the only HTML in them is comments.
const markdown = new MarkdownIt({ html: true })
export const { escapeHtml } = markdown.utils
const scrollable = 'class="scroll" tabindex="0"'
markdown.renderer.rules.table_open = () => `<div ${scrollable}><table>`
markdown.renderer.rules.table_close = () => '</table></div>'
markdown.renderer.rules.fence = (tokens, at) =>
  `<pre ${scrollable}><code>${escapeHtml(tokens[at]?.content ?? '')}</code></pre>`

/** Reads and renders every page of the folder. */
export function readGuide(folder: string) {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  return {
    pages: guidePages.map((name) => toPage(name, read(`${name}.md`))),
    styles: readFaceStyles() + read('guide.css'),
  }
}

function toPage(name: (typeof guidePages)[number], source: string) {
  const tokens = markdown.parse(source, {})
  const parts: { title: string; level: number; text: string[] }[] = []
  for (const [at, token] of tokens.entries()) {
    const children = token.children ?? []
    for (const link of children) {
      const target = link.attrGet('href')
      if (target) link.attrSet('href', String(target).replace(/^([a-z-]+)\.md(?=#|$)/, `${guidePath}/$1`))
    }
    const text = token.type === 'inline' ? textOf(children) : token.content
    const opening = tokens[at - 1]
    if (opening?.type === 'heading_open') {
      opening.attrSet('id', anchorOf(text))
      parts.push({ title: text, level: Number(opening.tag.slice(1)), text: [] })
    } else if (token.type === 'inline' || token.type === 'fence') parts.at(-1)?.text.push(text)
  }
  const pageTitle = parts[0]?.title ?? name
  const sections = parts.map(({ title, level, text }) => {
    // The titles are repeated, so that they weigh more in a search.
    const weighted = [...Array(titleWeight).fill(title), ...Array(pageTitleWeight).fill(pageTitle), ...text]
    return { title, level, anchor: anchorOf(title), text: text.join(' '), stems: stemsOf(weighted.join(' ')) }
  })
  return {
    name,
    title: pageTitle,
    /** The first paragraph, as text. */
    summary: parts[0]?.text[0] ?? '',
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections,
  }
}

function textOf(children: { type: string; content: string }[]): string {
  return children.map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('')
}

/** The anchor of a heading, as GitHub makes it, so that links work there too. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** The sections with all words of the query, in any form or as a prefix; best first. */
export function searchGuide({ pages }: Guide, query: string) {
  const matchers = matchersOf(query)
  return pages
    .flatMap((page) => page.sections.map((section) => ({ page, section, score: scoreOf(section, matchers) })))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, hitsMax)
}

/** The product of the counts over the root of the length: a sum would favour a long section that often has one of the words. */
function scoreOf({ stems }: Section, matchers: Matcher[]): number {
  const counts = matchers.map((matches) => stems.filter(matches).length)
  if (counts.length === 0 || counts.includes(0)) return 0
  return counts.reduce((product, count) => product * (1 + count), 1) / Math.sqrt(stems.length)
}

/** An excerpt from where a word of the query is first found, as HTML with these words marked. */
export function excerptOf({ text }: Section, query: string): string {
  const matchers = matchersOf(query)
  const isSought = (part: string) => matchers.some((matches) => matches(stemOf(foldText(part))))
  // Alternates between words and the text between them.
  const parts = text.split(/([\p{L}\p{N}]+)/u)
  const start = Math.max(0, parts.findIndex(isSought) - 2 * excerptWords.before)
  const end = start + 2 * excerptWords.max
  const html = parts
    .slice(start, end)
    .map((part) => (isSought(part) ? `<mark>${part}</mark>` : escapeHtml(part)))
    .join('')
  return `${start > 0 ? '… ' : ''}${html}${end < parts.length ? ' …' : ''}`
}

/** Whether a word, given as its stem, is a form of the sought one or begins with it. */
type Matcher = (stem: string) => boolean

/** Returns a matcher for each word of the query. */
function matchersOf(query: string): Matcher[] {
  return wordsOf(query)
    .slice(0, soughtWordsMax)
    .map((word) => {
      const own = stemOf(word)
      return (stem) => stem === own || (word.length >= prefixCharsMin && stem.startsWith(word))
    })
}

function stemsOf(text: string): string[] {
  return wordsOf(text).map(stemOf)
}

function wordsOf(text: string): string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? []
}
