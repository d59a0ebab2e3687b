import type { CallDetails } from '../../../../calls/schemas.ts'
import { counted } from '../../components/figures.ts'
import classes from './transcript.module.css'

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

const names = {
  phone: ['phone number', 'phone numbers'],
  email: ['email address', 'email addresses'],
  card: ['card number', 'card numbers'],
  iban: ['IBAN', 'IBANs'],
  ssn: ['Social Security number', 'Social Security numbers'],
} as const
const marks = /\[(phone|email|card|iban|ssn)\]/g

/** A text whose redactions are shown as marks of their kind. */
function RedactedText({ text }: { text: string }) {
  const found = [...text.matchAll(marks)]
  const end = (at: number) => (found[at]?.index ?? 0) + (found[at]?.[0].length ?? 0)
  return [
    ...found.flatMap(({ 1: kind, index }, at) => [
      text.slice(end(at - 1), index),
      <span key={index} className={classes.redacted} title="Redacted before the call was stored">
        {names[kind as keyof typeof names][0]}
      </span>,
    ]),
    text.slice(end(found.length - 1)),
  ]
}

/** How much was redacted, in words. */
export function asRedacted(redacted: NonNullable<CallDetails['redacted']>): string {
  const some = Object.entries(names).flatMap(([kind, [one, many]]) => {
    const count = redacted[kind]
    return typeof count === 'number' && count > 0 ? [counted(count, one, many)] : []
  })
  return some.join(', ')
}
