import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { alertKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'

/** What can be done with an alert without asking first. */
export function useAlertActions(id: string) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const alert = api.projects({ project }).alerts({ id })
  const onError = (failure: Error) => notifications.show({ color: 'red', message: failure.message })
  const pausing = useMutation({
    mutationFn: (paused: boolean) => unwrap(alert.pause.post({ paused })),
    onSuccess: async ({ name, paused }) => {
      await queryClient.invalidateQueries({ queryKey: alertKeys.list(project) })
      notifications.show({ message: `“${name}” ${paused ? 'is paused' : 'is evaluated again'}` })
    },
    onError,
  })
  const testing = useMutation({
    mutationFn: () => unwrap(alert.test.post({})),
    onSuccess: ({ queued }) => notifications.show({ message: sentWords(queued) }),
    onError,
  })
  return { pause: pausing.mutate, test: testing.mutate, isTesting: testing.isPending }
}

/** @param queued an alert and its end for each destination */
export function sentWords(queued: number): string {
  if (queued === 0)
    return 'No test message was sent: the destinations are switched off. Save the alert to try again.'
  return `${counted(queued, 'test message')} will arrive in a moment: an alert and its end at each destination.`
}
