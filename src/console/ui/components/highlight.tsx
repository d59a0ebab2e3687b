interface HighlightProps {
  text: string
  /** Start and end of each part to mark, as UTF-16 offsets, in any order. */
  ranges: readonly (readonly [number, number])[]
}

/** A text with its matches marked. */
export function Highlight({ text, ranges }: HighlightProps) {
  return (
    <>
      {partsOf(text, ranges).map(({ start, part, isMarked }) =>
        isMarked ? <mark key={start}>{part}</mark> : <span key={start}>{part}</span>,
      )}
    </>
  )
}

function partsOf(text: string, ranges: HighlightProps['ranges']) {
  const parts: { start: number; part: string; isMarked: boolean }[] = []
  const add = (start: number, end: number, isMarked: boolean) => {
    if (end > start) parts.push({ start, part: text.slice(start, end), isMarked })
  }
  let done = 0
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    add(done, Math.min(start, text.length), false)
    add(Math.max(start, done), Math.min(end, text.length), true)
    done = Math.max(done, Math.min(end, text.length))
  }
  add(done, text.length, false)
  return parts
}
