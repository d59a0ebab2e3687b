import { useState } from 'react'
import type { CallRecording } from '../../../../calls/schemas.ts'
import classes from './call.module.css'

/** The call's recording, of which nothing is fetched until a person presses play. */
export function Recording({ url }: { url: string }) {
  const [isFailed, setIsFailed] = useState(false)
  const link = (
    <a href={url} target="_blank" rel="noreferrer">
      Open the recording
    </a>
  )
  // The page's security policy lets it play from https only.
  if (!url.startsWith('https:')) return url.startsWith('http:') && <p className={classes.recording}>{link}</p>
  return (
    <div className={classes.recording}>
      <audio controls preload="none" src={url} aria-label="Recording" onError={() => setIsFailed(true)}>
        {/* Without a source: the transcript says what is said. */}
        <track kind="captions" />
      </audio>
      {isFailed && (
        <p role="alert" className="cb-dimmed">
          The recording cannot be played. {link}
        </p>
      )}
    </div>
  )
}

/** Why the service keeps no recording of the call, if it should. */
export function RecordingState({ recording: { state, reason } }: { recording: CallRecording }) {
  if (state === 'none' || state === 'kept') return null
  const texts = {
    waiting: 'The recording is being fetched.',
    failed: 'The recording could not be fetched.',
    expired: 'The recording was deleted at the end of its retention. The call stays.',
  }
  return (
    <p className={`cb-dimmed ${classes.recording}`}>
      {texts[state]} {reason}
    </p>
  )
}
