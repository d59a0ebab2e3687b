import type { Line } from './pdf-lines.ts'
import { findTable } from './pdf-tables.ts'

/** A short text that is larger than the body text by this factor is a heading. */
const headingFactor = 1.15
const headingCharsMax = 150
const headingLevelsMax = 4
/** A line spacing larger than usual by this factor separates paragraphs. */
const paragraphFactor = 1.3
/** With at least so many pages, text at the edge of most of them is a header or a footer. */
const framedPagesMin = 4
/** A number alone, or as in `Page 3 of 10`. */
const pageNumber = /^\P{L}{0,3}\p{L}{0,8}\P{L}{0,3}\d+(?:\P{L}{1,3}\p{L}{0,8}\P{L}{1,3}\d+)?\P{L}{0,3}$/u
const bullet = /^[•●○▪▫■□◦‣⁃∙·–—*-]\s+(?=\S)/
const listNumber = /^(?:\d{1,3}|[a-z])[.)]\s+\S/
/** At the start of a paragraph, these would be read as a heading, a quotation or a rule. */
const structure = /^(?=#{1,6}\s|>|={3,}|-{3,}|`{3,}|~{3,})/

type BlockKind = 'heading' | 'item' | 'paragraph' | 'table'

interface Block {
  kind: BlockKind
  /** The font size. */
  size: number
  text: string
  /** The position of its last line. */
  y: number
}

/** Converts pages to Markdown. */
export function toMarkdown(pages: readonly Line[][]): string {
  const bodySize = commonest(pages.flat().map((line) => [rounded(line.size), textOf(line).length]))
  const framed = withoutFrame(pages, bodySize)
  const leading = commonest(framed.flatMap(leadingsOf)) || 1.2
  const blocks: Block[] = []
  for (const lines of framed) addPage(lines, { bodySize, leading }, blocks)
  const sizes = [...new Set(blocks.filter(isHeading).map(({ size }) => size))].sort((a, b) => b - a)
  return blocks
    .map((block, at) => {
      const isListed = block.kind === 'item' && blocks[at + 1]?.kind === 'item'
      return markdownOf(block, sizes) + (isListed ? '\n' : '\n\n')
    })
    .join('')
    .trim()
}

interface Measure {
  /** The font size of most of the text. */
  bodySize: number
  /** The line spacing within a paragraph, in font sizes. */
  leading: number
}

function addPage(lines: readonly Line[], measure: Measure, blocks: Block[]): void {
  let before: Line | null = null
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    if (!line) continue
    const table = findTable(lines, at, measure.leading)
    if (table) {
      blocks.push({ kind: 'table', size: 0, text: table.markdown, y: 0 })
      at += table.lines - 1
      before = null
    } else {
      addLine(line, before, measure, blocks)
      before = line
    }
  }
}

function addLine(line: Line, before: Line | null, { bodySize, leading }: Measure, blocks: Block[]): void {
  const text = textOf(line)
  const size = rounded(line.size)
  const isLarge = size >= bodySize * headingFactor && text.length <= headingCharsMax && /\p{L}/u.test(text)
  const last = blocks.at(-1)
  const isNear = before !== null && isBelow(line, before, leading)
  if (isLarge) {
    if (last?.kind === 'heading' && isNear && last.size === size) last.text += ` ${text}`
    else blocks.push({ kind: 'heading', size, text, y: line.y })
    return
  }
  const isItem = bullet.test(text) || listNumber.test(text)
  const goesOn = last && (last.kind === 'paragraph' || last.kind === 'item') && !isItem
  if (goesOn && (isNear || (before === null && /^\p{Ll}/u.test(text) && !/[.!?:]$/.test(last.text)))) {
    last.text = joinLines(last.text, text)
    return
  }
  blocks.push({ kind: isItem ? 'item' : 'paragraph', size, text, y: line.y })
}

/** Whether a line continues the paragraph of the line before. */
function isBelow(line: Line, before: Line, leading: number): boolean {
  const distance = before.y - line.y
  return distance > 0 && distance <= leading * paragraphFactor * Math.max(line.size, before.size)
}

/** Joins two lines, and the parts of a hyphenated word. */
function joinLines(text: string, next: string): string {
  const isDivided = /\p{Ll}[-\u00ad]$/u.test(text) && /^\p{Ll}/u.test(next)
  return isDivided ? text.slice(0, -1) + next : `${text} ${next}`
}

function markdownOf({ kind, size, text }: Block, headingSizes: readonly number[]): string {
  if (kind === 'heading')
    return `${'#'.repeat(Math.min(headingSizes.indexOf(size) + 1, headingLevelsMax))} ${text}`
  if (kind === 'item') return bullet.test(text) ? text.replace(bullet, '- ') : text
  return kind === 'table' ? text : text.replace(structure, '\\')
}

function isHeading({ kind }: Block): boolean {
  return kind === 'heading'
}

function textOf({ cells }: Line): string {
  return cells.map(({ text }) => text).join(' ')
}

/** The pages without page numbers, headers and footers. */
function withoutFrame(pages: readonly Line[][], bodySize: number): Line[][] {
  if (pages.length < framedPagesMin) return [...pages]
  const counts = new Map<string, number>()
  // A page keeps its middle, since everything on a short page may also be on others.
  const edgesOf = (lines: Line[]) =>
    lines.filter(
      (line, at) => (at < 2 || at >= lines.length - 2) && lines.length > 4 && line.size <= bodySize,
    )
  const signOf = (line: Line) => textOf(line).replace(pageNumber, '#')
  for (const lines of pages) {
    for (const sign of new Set(edgesOf(lines).map(signOf))) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  }
  return pages.map((lines) => {
    const frame = edgesOf(lines).filter((line) => (counts.get(signOf(line)) ?? 0) > pages.length / 2)
    return lines.filter((line) => !frame.includes(line))
  })
}

function leadingsOf(lines: readonly Line[]): [number, number][] {
  return lines.slice(1).flatMap((line, at): [number, number][] => {
    const distance = ((lines[at]?.y ?? 0) - line.y) / line.size
    return distance > 0.8 && distance < 3 ? [[Math.round(distance * 10) / 10, 1]] : []
  })
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2
}

/** The value with the largest weight; 0 if there is none. */
function commonest(weighted: Iterable<number[]>): number {
  const weights = new Map<number, number>()
  for (const [value = 0, weight = 0] of weighted) weights.set(value, (weights.get(value) ?? 0) + weight)
  return [...weights].reduce((best, next) => (next[1] > best[1] ? next : best), [0, 0])[0]
}
