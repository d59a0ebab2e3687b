/** Adjacent words, without a gap wider than a space between them. */
export interface Cell {
  x: number
  endX: number
  text: string
}

/** Words on one line, in drawing order. Columns of a page are lines of their own. */
export interface Line {
  y: number
  /** The font size, in points. */
  size: number
  cells: Cell[]
}

/** A piece of text from the parser. */
interface Item {
  str: string
  width: number
  /** A matrix: the last two numbers are the position, the others scale and rotation. */
  transform: number[]
}

/** Gaps as fractions of the font size: wider ones separate words, and still wider ones cells. */
const wordGap = 0.15
const cellGap = 1.2
/** How far apart text of one line may be vertically, such as an index or a footnote mark. */
const lineDrift = 0.5

/** The lines of a page. White space follows from the positions of the words. */
export function toLines(items: readonly unknown[]): Line[] {
  const lines: Line[] = []
  for (const item of items) {
    if (!isText(item)) continue
    const [, , c = 0, d = 0, x = 0, y = 0] = item.transform
    const size = Math.hypot(c, d) || 1
    const piece = { x, endX: x + item.width, text: item.str }
    const line = lines.at(-1)
    const last = line?.cells.at(-1)
    if (line && last && continues(line, last, { x, y, size })) {
      append(line, last, piece, Math.max(line.size, size))
      line.size = Math.max(line.size, size)
    } else lines.push({ y, size, cells: [piece] })
  }
  for (const { cells } of lines) for (const cell of cells) cell.text = readable(cell.text)
  return lines
}

/** Removes dot leaders, as in a table of contents. */
function readable(text: string): string {
  return text
    .replace(/(?:[.·…]\s?){5,}/g, ' … ')
    .replace(/\s+/g, ' ')
    .trim()
}

function isText(item: unknown): item is Item {
  const { str } = item as Partial<Item>
  return typeof str === 'string' && str.trim() !== ''
}

function continues(line: Line, last: Cell, next: { x: number; y: number; size: number }): boolean {
  const size = Math.max(line.size, next.size)
  return Math.abs(next.y - line.y) <= lineDrift * size && next.x >= last.endX - size
}

function append(line: Line, last: Cell, piece: Cell, size: number): void {
  const gap = piece.x - last.endX
  if (gap > cellGap * size) {
    line.cells.push(piece)
    return
  }
  last.text += (gap > wordGap * size ? ' ' : '') + piece.text
  last.endX = Math.max(last.endX, piece.endX)
}
