import { IconFlag, IconFlagFilled, IconLink, IconTestPipe } from '@tabler/icons-react'
import { Guarded } from '../../components/guarded.tsx'
import { hashOfTurn } from './call-links.ts'
import type { SpokenLine, TurnMatch } from './conversation.ts'
import { MarkedText } from './marked-text.tsx'
import { At } from './steps.tsx'
import classes from './transcript.module.css'
import { TurnLatency } from './turn-latency.tsx'

interface TurnLineProps {
  line: SpokenLine
  isFirstOfRun: boolean
  ranges: [number, number][] | undefined
  current: TurnMatch | undefined
  isFlagged: boolean
  isReadOnly: boolean
  /** Whether a test can be made of a turn of the agent. */
  canTest: boolean
  /** An answer that came later is slow; null while that is not known. */
  slowFromMs: number | null
}

/** A turn: text, speaker, time, link and flag, below what the caller waited for it. */
export function TurnLine(props: TurnLineProps) {
  const { line, isFirstOfRun, ranges = [], current, isFlagged, isReadOnly, canTest, slowFromMs } = props
  const { turn, atSeconds, index, isInterrupted, latency } = line
  const { role, content } = turn
  const speaker = role === 'user' ? 'Caller' : 'Agent'
  const flag = (
    <button
      type="button"
      className={classes.turnButton}
      aria-label="Flag this turn"
      title={isReadOnly ? undefined : isFlagged ? 'Remove the flag' : 'Flag this turn'}
      aria-pressed={isFlagged}
    >
      {isFlagged ? <IconFlagFilled size={14} /> : <IconFlag size={14} />}
    </button>
  )
  return (
    <>
      {latency && <TurnLatency latency={latency} slowFromMs={slowFromMs} />}
      <div className={classes.turnLine}>
        <p className={classes.turnText} dir="auto">
          <MarkedText text={content} ranges={ranges} current={current?.start} />
        </p>
        <span className={classes.turnSide}>
          <span className={isFirstOfRun ? classes.turnSpeaker : 'cb-hidden'}>{speaker}</span>
          {atSeconds !== null && (
            <a href={`#${hashOfTurn(index)}`} className={classes.turnLink} title="Go to this turn">
              <At seconds={atSeconds} />
            </a>
          )}
          {isInterrupted && <span className={classes.interrupted}>Interrupted</span>}
          {role === 'assistant' && canTest && (
            <button
              type="button"
              className={classes.turnButton}
              data-test
              aria-label="Make a test of this turn"
              title="Make a test"
            >
              <IconTestPipe size={14} />
            </button>
          )}
          {isReadOnly ? <Guarded right="change">{flag}</Guarded> : flag}
          <a
            href={`#${hashOfTurn(index)}`}
            className={classes.turnButton}
            data-copy
            aria-label="Copy link to this turn"
            title="Copy link to this turn"
          >
            <IconLink size={14} aria-hidden />
          </a>
        </span>
      </div>
    </>
  )
}
