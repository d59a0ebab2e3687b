import { notifications } from '@mantine/notifications'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { api, unwrap } from '../../api.ts'
import { settingsKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'

const refetchMs = 15_000

/** How the project keeps personal data. */
export function settingsQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.privacy(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).settings.get({ fetch: { signal } })),
  })
}

/** How many calls retention deletes next. */
export function dueQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.due(project),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).settings.due.get({ query: {}, fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** The newest entries of the audit trail about calls that retention has deleted. */
export function expiredQuery(project: string) {
  const query = { action: 'calls_expired', limit: '5' }
  return queryOptions({
    queryKey: settingsKeys.expired(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).audit.get({ query, fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** How many recordings are kept, and how much room they take. */
export function recordingUsageQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.recordings(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).settings.recordings.get({ fetch: { signal } })),
  })
}

type Change = Partial<{ -readonly [Name in keyof ProjectSettings]: ProjectSettings[Name] }> & {
  /** How many calls a shorter retention deletes. */
  confirm?: number
}

/** Changes some of the settings and says so. */
export function useSettingsChange(sentence: string) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (change: Change) => unwrap(api.projects({ project }).settings.put({ ...change })),
    onSuccess: (settings) => {
      queryClient.setQueryData(settingsQuery(project).queryKey, settings)
      void queryClient.invalidateQueries(settingsQuery(project))
      notifications.show({ message: sentence })
    },
  })
}
