import { useMemo, useState } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { asMoment } from '../../components/figures.ts'
import { trackOf, turnAt } from './call-track.ts'
import type { Line } from './conversation.ts'
import classes from './timeline.module.css'
import { TimelineFrame } from './timeline-frame.tsx'
import { TimelineStrip } from './timeline-strip.tsx'
import type { TurnMatch } from './turn-matches.ts'
import type { Target } from './turns.tsx'

interface CallStripProps {
  call: Call
  details: CallDetails | undefined
  lines: readonly Line[]
  matches: readonly TurnMatch[]
  target: Target | null
  /** Shows a turn in the transcript, or the line of that index. */
  onTurn: (turn: number) => void
  onLine: (line: number) => void
}

/** The timeline of a call without sound. A click on it leads to the turn of that moment. */
export function CallStrip({ call, details, lines, matches, target, onTurn, onLine }: CallStripProps) {
  const timeline = details?.timeline ?? none
  const track = useMemo(
    () => trackOf(call.transcript, timeline, lines, call.duration),
    [call.transcript, timeline, lines, call.duration],
  )
  const [picked, setPicked] = useState<{ at: number; turn: number | undefined } | null>(null)
  // Another turn that is chosen takes the playhead with it.
  const isPicked = picked !== null && picked.turn === target?.turn
  const position = isPicked ? picked.at : target ? (track.starts[target.turn] ?? 0) : 0
  const turns = useMemo(() => matches.map(({ turn }) => turn), [matches])
  const pick = (at: number) => {
    const turn = turnAt(track, at)
    setPicked({ at, turn })
    onTurn(turn)
  }
  /** The transcript follows at once; the address gets the turn once the pointer lets go. */
  const seek = (at: number) => {
    const turn = turnAt(track, at)
    setPicked({ at, turn: target?.turn })
    onLine(lines.findIndex((line) => 'turn' in line && line.index === turn))
  }
  if (call.transcript.length === 0) return null
  const flags = details?.review?.flaggedTurns ?? none
  return (
    <TimelineFrame
      track={track}
      flags={flags}
      silences={track.silences}
      now={() => position}
      onError={({ at, line }) => {
        setPicked({ at, turn: target?.turn })
        onLine(line)
      }}
      onSilence={pick}
      before={
        <span className={classes.time}>
          {track.isTimed ? (
            <>
              {asMoment(position)} <span className="cb-dimmed">/ {asMoment(track.total)}</span>
            </>
          ) : (
            <span className="cb-dimmed">No times known; placed by length of text</span>
          )}
        </span>
      }
      strip={
        <TimelineStrip
          label="Position in the call"
          track={track}
          waveform={null}
          position={position}
          end={track.total}
          now={() => position}
          matches={turns}
          flags={flags}
          onSeek={seek}
          onPick={pick}
        />
      }
    />
  )
}

const none: never[] = []
