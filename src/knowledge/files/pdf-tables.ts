import type { Cell, Line } from './pdf-lines.ts'

const rowsMin = 2
const columnsMax = 20
/** How much larger the spacing of table rows may be than that of lines. */
const rowFactor = 2.5

interface Span {
  x: number
  endX: number
}

/**
 * The table that starts at a line: lines with several cells each, aligned in columns. Lines without a first cell
 * continue the row above.
 * @param leading the line spacing within a paragraph, in font sizes
 */
export function findTable(
  lines: readonly Line[],
  at: number,
  leading: number,
): { markdown: string; lines: number } | null {
  const run = runOf(lines, at, leading)
  if (run.filter(({ cells }) => cells.length > 1).length < rowsMin) return null
  const columns = columnsOf(run)
  const [first] = columns
  if (!first || columns.length < 2 || columns.length > columnsMax) return null
  const rows: string[][] = []
  for (const { cells } of run) {
    const texts = columns.map((column) => textIn(column, cells))
    const above = rows.at(-1)
    if (texts[0] === '' && above) {
      for (const [column, text] of texts.entries()) above[column] = `${above[column] ?? ''} ${text}`.trim()
    } else rows.push(texts)
  }
  if (rows.length < rowsMin) return null
  const [header = [], ...others] = rows.map(toRow)
  const markdown = [header, toRow(columns.map(() => '---')), ...others].join('\n')
  return { markdown, lines: run.length }
}

/** The lines from one on that may belong to one table. */
function runOf(lines: readonly Line[], at: number, leading: number): Line[] {
  const run: Line[] = []
  for (let next = lines[at]; next; next = lines[at + run.length]) {
    const before = run.at(-1)
    const start = run[0]?.cells[0]?.x ?? 0
    const isRow = next.cells.length > 1
    const isIndented = before !== undefined && (next.cells[0]?.x ?? 0) > start + next.size * 2
    const distance = (before?.y ?? next.y) - next.y
    const isNear = before === undefined || (distance > 0 && distance <= leading * rowFactor * next.size)
    if (!isNear || !(isRow || isIndented)) break
    run.push(next)
  }
  return run
}

/** The columns: cells that overlap horizontally, however they are aligned. */
function columnsOf(run: readonly Line[]): Span[] {
  const spans = run.flatMap(({ cells }) => (cells.length > 1 ? cells : []))
  const columns: Span[] = []
  for (const { x, endX } of [...spans].sort((a, b) => a.x - b.x)) {
    const last = columns.at(-1)
    if (last && x <= last.endX) last.endX = Math.max(last.endX, endX)
    else columns.push({ x, endX })
  }
  return columns
}

function textIn({ x, endX }: Span, cells: readonly Cell[]): string {
  const within = cells.filter((cell) => cell.x <= endX && cell.endX >= x)
  return within.map(({ text }) => text).join(' ')
}

function toRow(texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
}
