import { ActionIcon } from '@mantine/core'
import { IconAlertTriangle, IconPlayerTrackNext } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { counted } from '../../components/figures.ts'
import { type CallTrack, nextAfter } from './call-track.ts'
import classes from './timeline.module.css'
import { useKeys } from './use-keys.ts'

/** Audio can stand a little before the moment that it was set to. */
const toleranceSeconds = 0.01

interface TimelineFrameProps {
  track: CallTrack
  flags: readonly number[]
  silences: readonly (readonly [from: number, to: number])[]
  now: () => number
  onError: (error: CallTrack['errors'][number]) => void
  onSilence: (from: number, to: number) => void
  strip: ReactNode
  /** The buttons before and after the steps to what is next. */
  before?: ReactNode
  after?: ReactNode
}

/** The strip with its controls below it. Both stay in reach while the transcript is read. */
export function TimelineFrame(props: TimelineFrameProps) {
  const { track, flags, silences, now, onError, onSilence, strip, before, after } = props
  const { errors } = track
  const position = () => now() + (track.isTimed ? toleranceSeconds : 0)
  const toError = () => {
    const next = nextAfter(errors, position(), ({ at }) => at)
    if (next) onError(next)
  }
  const toSilence = () => {
    const next = nextAfter(silences, position(), ([from]) => from)
    if (next) onSilence(...next)
  }
  useKeys({ ...(errors.length > 0 && { t: toError }), ...(silences.length > 0 && { z: toSilence }) })
  return (
    <section className={classes.timeline} aria-label="Timeline">
      {strip}
      <div className={classes.controls}>
        {before}
        {errors.length > 0 && (
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.next}
            size={28}
            aria-label={`Next failed tool, of ${errors.length}`}
            data-hint={`Next of ${counted(errors.length, 'failed tool')} (t)`}
            onClick={toError}
          >
            <IconAlertTriangle size={16} />
          </ActionIcon>
        )}
        {silences.length > 0 && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label={`Next silence, of ${silences.length}`}
            data-hint={`Next of ${counted(silences.length, 'silence')} (z)`}
            onClick={toSilence}
          >
            <IconPlayerTrackNext size={16} />
          </ActionIcon>
        )}
        <Legend track={track} flags={flags} />
        {after}
      </div>
    </section>
  )
}

/** What the colours and shapes of the strip mean. */
function Legend({ track: { marks }, flags }: Pick<TimelineFrameProps, 'track' | 'flags'>) {
  const names = [
    { mark: 'user', name: 'Caller', count: 1 },
    { mark: 'assistant', name: 'Agent', count: 1 },
    { mark: 'tool', name: 'Tools', count: marks.tool.length },
    { mark: 'failed', name: 'Failed', count: marks.failed.length },
    { mark: 'retrieval', name: 'Retrieval', count: marks.retrieval.length },
    { mark: 'interruption', name: 'Interruptions', count: marks.interruption.length },
    { mark: 'transfer', name: 'Transfer', count: marks.transfer.length },
    { mark: 'flag', name: 'Flags', count: flags.length },
  ]
  return (
    <span className={classes.legend} aria-hidden>
      {names
        .filter(({ count }) => count > 0)
        .map(({ mark, name }) => (
          <span key={mark} data-mark={mark}>
            {name}
          </span>
        ))}
    </span>
  )
}
