import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CallRecording } from '../../../../calls/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { Guarded } from '../../components/guarded.tsx'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { callDetailsQuery } from './call-queries.ts'

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
export function RecordingState({
  id,
  recording: { state, reason },
}: {
  /** The call's. */
  id: string
  recording: CallRecording
}) {
  if (state === 'none' || state === 'kept') return null
  const texts = {
    waiting: 'The recording is being fetched.',
    failed: 'The recording could not be fetched.',
    expired: 'The recording was deleted at the end of its retention. The call stays.',
  }
  return (
    <p className={`cb-dimmed ${classes.recording}`}>
      {texts[state]} {reason} {state === 'failed' && <TryAgain id={id} />}
    </p>
  )
}

function TryAgain({ id }: { id: string }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).calls({ id }).recording.fetch.post({})),
    onSuccess: () => queryClient.invalidateQueries(callDetailsQuery(project, id)),
    onError: (failure) => notifications.show({ color: 'red', message: String(failure.message) }),
  })
  return (
    <Guarded right="change">
      <Button variant="default" size="compact-xs" loading={isPending} onClick={() => mutate()}>
        Try again
      </Button>
    </Guarded>
  )
}
