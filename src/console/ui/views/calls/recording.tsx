import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { CallRecording } from '../../../../calls/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { Guarded } from '../../components/guarded.tsx'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { callDetailsQuery } from './call-queries.ts'

/** Why the service keeps no recording of the call, if it should. */
export function RecordingState({
  id,
  recording: { state, reason },
  url,
}: {
  /** The call's. */
  id: string
  recording: CallRecording
  /** Where the platform keeps it. */
  url: string | null
}) {
  // The page's security policy lets it play from https only.
  if (state === 'none' && url?.startsWith('http:')) {
    return (
      <p className={classes.recording}>
        <a href={url} target="_blank" rel="noreferrer">
          Open the recording
        </a>
      </p>
    )
  }
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
