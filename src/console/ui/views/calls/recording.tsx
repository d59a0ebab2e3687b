import { Button } from '@mantine/core'
import { queryOptions } from '@tanstack/react-query'
import type { CallDetails } from '../../../../calls/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { sayNotDone, useAct } from '../../components/acts.ts'
import { Guarded } from '../../components/guarded.tsx'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { useCallPage } from './call-page.ts'
import { readWaveform } from './waveform.ts'

const peaksAgainMs = 2_000

/** It has arrived, and is made silent where its call is redacted, or could not be. The service's sentence tells. */
function isAboutMuting({ reason }: CallDetails['recording']): boolean {
  return reason?.startsWith('What is redacted') === true
}

/** What plays of a call: what is kept here, or else what the platform keeps. The page may play from https only. */
export function playablePath(project: string, id: string, details: CallDetails | undefined): string | null {
  if (details?.recording.state === 'kept') return recordingPath(project, id)
  // The platform's own says what must not be heard.
  if (details && isAboutMuting(details.recording)) return null
  return details?.recordingUrl?.startsWith('https:') ? details.recordingUrl : null
}

/** The waveform of a recording, soon after it was kept. Null until then, and if it has none. */
export function peaksQuery(project: string, id: string, keptAt: string | null) {
  return queryOptions({
    queryKey: ['peaks', project, id, keptAt],
    queryFn: async ({ signal }) => {
      const answer = await fetch(`${recordingPath(project, id)}/peaks`, { signal })
      if (!answer.ok) throw new Error(`The waveform could not be loaded: ${answer.status}`)
      if (answer.status === 204) return { isComputed: false, waveform: null }
      return { isComputed: true, waveform: readWaveform(await answer.arrayBuffer()) }
    },
    refetchInterval: ({ state }) => (state.data?.isComputed === false ? peaksAgainMs : false),
    staleTime: ({ state }) => (state.data?.isComputed ? Number.POSITIVE_INFINITY : 0),
    select: ({ waveform }) => waveform,
  })
}

/** When each speaks in a recording that is measured: again when its figures have changed. */
export function heardQuery(project: string, id: string, details: CallDetails | undefined) {
  const { sound, recording } = details ?? {}
  return queryOptions({
    queryKey: ['sound', project, id, sound],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls({ id }).sound.get({ fetch: { signal } })),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: sound?.state === 'measured' && recording?.state === 'kept',
  })
}

/** A range of it may be asked for. */
function recordingPath(project: string, id: string): string {
  return `/console/api/projects/${project}/calls/${encodeURIComponent(id)}/recording`
}

/** Why the service keeps no recording of the call, if it should. */
export function RecordingState() {
  const { call, details } = useCallPage()
  if (!details) return null
  const {
    recording: { state, reason },
    recordingUrl: url,
  } = details
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
  const isMuting = isAboutMuting(details.recording)
  const texts = {
    waiting: isMuting ? '' : 'The recording is being fetched.',
    failed: isMuting ? 'The recording is not kept.' : 'The recording could not be fetched.',
    expired: 'The recording was deleted at the end of its retention. The call stays.',
  }
  return (
    <p className={`cb-dimmed ${classes.recording}`}>
      {texts[state]} {reason} {state === 'failed' && !isMuting && <TryAgain id={call.id} />}
    </p>
  )
}

function TryAgain({ id }: { id: string }) {
  const { of } = useProject()
  const { mutate, isPending } = useAct({
    send: () => of.calls({ id }).recording.fetch.post({}),
    changes: of.calls({ id }).details,
  })
  const onError = (error: unknown) => sayNotDone('The recording was not fetched', error)
  return (
    <Guarded right="change">
      <Button
        variant="default"
        size="compact-xs"
        loading={isPending}
        onClick={() => mutate(undefined, { onError })}
      >
        Try again
      </Button>
    </Guarded>
  )
}
