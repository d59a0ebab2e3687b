import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MarkdownIt from 'markdown-it'
import { foldText, stemOf } from '../text/words.ts'

/** The guide's pages, in the order in which they are read. */
export const guidePages = [
  'agents',
  'command-line',
  'deployment',
  'operating',
  'replicas',
  'decisions',
  'figures',
  'security',
] as const
export const guidePath = '/docs/guide'

export interface GuidePage {
  name: (typeof guidePages)[number]
  title: string
  /** The first paragraph, as text. */
  summary: string
  html: string
  sections: Section[]
}

/** A heading, with the text up to the next one. */
export interface Section {
  title: string
  /** 1 is the title of the page. */
  level: number
  anchor: string
  text: string
  /** What each word of the section counts in a search, by its stem. */
  words: ReadonlyMap<string, number>
}

export interface GuideHit {
  page: GuidePage
  section: Section
  score: number
}

const wordPattern = /[\p{L}\p{N}]+/gu
const hitsMax = 20
const soughtWordsMax = 8
/** A word counts once each time that it occurs in the text, up to a few times, and more in a title. */
const occurrencesCountedMax = 3
const titleWeight = 10
const pageTitleWeight = 3
const prefixCharsMin = 3
const excerptChars = { before: 60, max: 220 }

// The pages are ours, so their HTML, which is comments only, may pass.
const markdown = new MarkdownIt({ html: true })
const scrollable = 'class="scroll" tabindex="0"'
markdown.renderer.rules.table_open = () => `<div ${scrollable}><table>`
markdown.renderer.rules.table_close = () => '</table></div>'
markdown.renderer.rules.fence = (tokens, at) =>
  `<pre ${scrollable}><code>${escapeHtml(tokens[at]?.content ?? '')}</code></pre>`

/** Reads and renders every page of the folder. */
export function readGuide(folder: string): GuidePage[] {
  return guidePages.map((name) => toPage(name, readFileSync(join(folder, `${name}.md`), 'utf8')))
}

function toPage(name: GuidePage['name'], source: string): GuidePage {
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
  const sections = parts.map(({ title, level, text }) => ({
    title,
    level,
    anchor: anchorOf(title),
    text: text.join(' '),
    words: weighWords(text.join(' '), [title, titleWeight], [pageTitle, pageTitleWeight]),
  }))
  return {
    name,
    title: pageTitle,
    summary: parts[0]?.text[0] ?? '',
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections,
  }
}

function textOf(children: { type: string; content: string }[]): string {
  return children.map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('')
}

/** The anchor that GitHub gives a heading, so that links hold there too. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** The sections that have all words of the query, in any form or as the beginning of a word; best first. */
export function searchGuide(pages: GuidePage[], query: string): GuideHit[] {
  const sought = soughtWordsOf(query)
  if (sought.length === 0) return []
  return pages
    .flatMap((page) =>
      page.sections.map((section) => ({ page, section, score: scoreOf(sought, section.words) })),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, hitsMax)
}

/** The part of the section where a word of the query is first found, as HTML with these words marked. */
export function excerptOf({ text }: Section, query: string): string {
  const sought = soughtWordsOf(query)
  const isSought = (word: string) => sought.some((one) => isForm(stemOf(foldText(word)), one))
  const found = [...text.matchAll(wordPattern)].find(([word]) => isSought(word))
  const first = Math.max(0, (found?.index ?? 0) - excerptChars.before)
  const start = first === 0 ? 0 : text.indexOf(' ', first) + 1
  const isLast = text.length <= start + excerptChars.max
  const end = isLast ? text.length : text.lastIndexOf(' ', start + excerptChars.max)
  const html = text
    .slice(start, end)
    .split(/([\p{L}\p{N}]+)/u)
    .map((part) => (isSought(part) ? `<mark>${part}</mark>` : escapeHtml(part)))
    .join('')
  return `${start > 0 ? '… ' : ''}${html}${isLast ? '' : ' …'}`
}

interface SoughtWord {
  folded: string
  stem: string
}

function soughtWordsOf(query: string): SoughtWord[] {
  return wordsOf(query)
    .slice(0, soughtWordsMax)
    .map((folded) => ({ folded, stem: stemOf(folded) }))
}

function scoreOf(sought: SoughtWord[], words: Section['words']): number {
  const scores = sought.map((word) => {
    let score = 0
    for (const [stem, weight] of words) if (isForm(stem, word)) score += weight
    return score
  })
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0)
}

function isForm(stem: string, word: SoughtWord): boolean {
  return stem === word.stem || (word.folded.length >= prefixCharsMin && stem.startsWith(word.folded))
}

function weighWords(text: string, ...titles: [title: string, weight: number][]): Map<string, number> {
  const weights = new Map<string, number>()
  for (const stem of wordsOf(text).map(stemOf)) {
    weights.set(stem, Math.min((weights.get(stem) ?? 0) + 1, occurrencesCountedMax))
  }
  for (const [title, weight] of titles) {
    for (const stem of wordsOf(title).map(stemOf)) weights.set(stem, (weights.get(stem) ?? 0) + weight)
  }
  return weights
}

function wordsOf(text: string): string[] {
  return foldText(text).match(wordPattern) ?? []
}

export function escapeHtml(text: string): string {
  return markdown.utils.escapeHtml(text)
}
