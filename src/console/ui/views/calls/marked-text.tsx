import { RedactedText } from './redacted-text.tsx'

interface MarkedTextProps {
  text: string
  /** Start and end of each match, in order, as UTF-16 offsets. */
  ranges: readonly [number, number][]
  /** Where the current match starts, which is marked differently. */
  current?: number | undefined
}

/** A text with its matches and its redactions marked. */
export function MarkedText({ text, ranges, current }: MarkedTextProps) {
  return [
    ...ranges.flatMap(([start, end], at) => [
      <RedactedText key={`${start}-`} text={text.slice(ranges[at - 1]?.[1] ?? 0, start)} />,
      <mark key={start} data-current={current === start || undefined}>
        {text.slice(start, end)}
      </mark>,
    ]),
    <RedactedText key="rest" text={text.slice(ranges.at(-1)?.[1] ?? 0)} />,
  ]
}
