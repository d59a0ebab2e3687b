import { notifications } from '@mantine/notifications'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { api, unwrap } from '../../api.ts'
import { useProject } from '../../session.ts'

/** How the project keeps personal data. */
export function settingsQuery(project: string) {
  return queryOptions({
    queryKey: ['project', project, 'settings'],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).settings.get({ fetch: { signal } })),
  })
}

type Change = Partial<{ -readonly [Name in keyof ProjectSettings]: ProjectSettings[Name] }>

/** Changes some of the settings and says so. */
export function useSettingsChange(sentence: string) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (change: Change) => unwrap(api.projects({ project }).settings.put(change)),
    onSuccess: (settings) => {
      queryClient.setQueryData(settingsQuery(project).queryKey, settings)
      notifications.show({ message: sentence })
    },
  })
}
