import { IconFlag, IconFlagFilled, IconLink } from '@tabler/icons-react'
import { Guarded } from '../../components/guarded.tsx'
import type { SpokenLine } from './conversation.ts'
import { RedactedText } from './redacted-text.tsx'
import { At } from './steps.tsx'
import classes from './transcript.module.css'
import { hashOfTurn } from './turn-hash.ts'
import type { TurnMatch } from './turn-matches.ts'

interface TurnLineProps {
  line: SpokenLine
  isFirstOfRun: boolean
  ranges: [number, number][] | undefined
  current: TurnMatch | undefined
  isFlagged: boolean
  isReadOnly: boolean
}

/** A turn: text, time, link and flag. */
export function TurnLine({ line, isFirstOfRun, ranges = [], current, isFlagged, isReadOnly }: TurnLineProps) {
  const { turn, atSeconds, index } = line
  const { role, content } = turn
  const speaker = role === 'user' ? 'Caller' : 'Agent'
  const flag = (
    <button
      type="button"
      className={classes.turnFlag}
      aria-label="Flag this turn"
      title={isReadOnly ? undefined : isFlagged ? 'Remove the flag' : 'Flag this turn'}
      aria-pressed={isFlagged}
    >
      {isFlagged ? <IconFlagFilled size={14} /> : <IconFlag size={14} />}
    </button>
  )
  return (
    <>
      {isFirstOfRun ? (
        <span className={classes.turnSpeaker}>{speaker}</span>
      ) : (
        <span className="cb-hidden">{speaker}</span>
      )}
      <div className={classes.turnLine}>
        <p className={classes.turnText} dir="auto">
          {marked(content, ranges, current)}
        </p>
        <span className={classes.turnSide}>
          <a
            href={`#${hashOfTurn(index)}`}
            className={classes.turnLink}
            aria-label={atSeconds === null ? 'Link to this turn' : undefined}
            title="Link to this turn"
          >
            {atSeconds === null ? <IconLink size={14} aria-hidden /> : <At seconds={atSeconds} />}
          </a>
          {isReadOnly ? <Guarded right="change">{flag}</Guarded> : flag}
        </span>
      </div>
    </>
  )
}

/** The text with its matches marked, the current one differently. */
function marked(text: string, ranges: [number, number][], current: TurnMatch | undefined) {
  const pieces = ranges.flatMap(([start, end], at) => [
    <RedactedText key={`${start}-`} text={text.slice(ranges[at - 1]?.[1] ?? 0, start)} />,
    <mark key={start} data-current={current?.start === start || undefined}>
      {text.slice(start, end)}
    </mark>,
  ])
  return [...pieces, <RedactedText key="rest" text={text.slice(ranges.at(-1)?.[1] ?? 0)} />]
}
